"""The estimators, by scikit-learn's own checks."""

import numpy as np
import pytest
from conftest import PROJECT

sklearn = pytest.importorskip("sklearn")

from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

import trefoil
import trefoil.sklearn


def all_estimators():
    return [kind for name, kind in vars(trefoil.sklearn).items() if name.startswith("Private")]


def test_knows_the_waived_checks_of_every_estimator():
    assert {kind.__name__ for kind in all_estimators()} == set(trefoil.sklearn.WAIVED)


def test_the_docs_name_every_check_that_is_skipped():
    text = (PROJECT / "docs/howto/python.md").read_text()
    skipped = {name for waived in trefoil.sklearn.WAIVED.values() for name in waived}
    assert {name for name in skipped if f"`{name}`" not in text} == set()


@pytest.mark.parametrize("kind", all_estimators())
@pytest.mark.filterwarnings("ignore")
def test_keeps_the_sklearn_contract(kind):
    waived = trefoil.sklearn.WAIVED[kind.__name__]
    try:
        checks = list(check_estimator(kind(), generate_only=True))
    except TypeError:  # 1.6 and later
        check_estimator(kind(), expected_failed_checks=waived, on_fail="raise", on_skip=None)
        return
    ran, skipped = 0, set()
    for estimator, check in checks:
        try:
            check(estimator)
            ran += 1
        except pytest.skip.Exception as reason:
            skipped.add(str(reason))
        except __import__("unittest").SkipTest as reason:
            skipped.add(str(reason))
    assert ran >= 30
    own = {reason for reason in skipped if not reason.endswith("is non deterministic")}
    assert own == {f"Skipping {name} for {kind.__name__}: {why}" for name, why in waived.items()}


def test_learns_digits_in_a_pipeline():
    X, y = load_digits(return_X_y=True)
    train, test, labels, truth = train_test_split(X, y, random_state=0)
    model = make_pipeline(
        FunctionTransformer(lambda X: (X - 5) / 16),  # public constants
        trefoil.sklearn.PrivateLogisticRegression(8.0, learning_rate=4.0, classes=range(10), rows=len(labels)),
    )
    model.fit(train, labels)
    assert model.score(test, truth) > 0.7  # 0.906 in the mean of 25 runs, with a deviation of 0.006
    assert model[-1].outside_epsilon_ == []
    assert model[-1].result_.epsilon_insider <= 8.0


def test_predicts_numbers_of_a_public_range():
    generator = np.random.default_rng(4)
    X = generator.normal(0, 0.4, (1500, 5))
    y = 100 + 20 * X @ [1.0, -2.0, 0.5, 0.0, 1.0] + generator.normal(0, 2, 1500)
    model = make_pipeline(
        FunctionTransformer(), trefoil.sklearn.PrivateRegressor(8.0, target_range=(20, 200), rows=len(y))
    ).fit(X, y)
    assert model.score(X, y) > 0.95  # 0.984 in the mean of 25 runs, with a deviation of 0.001
    assert model[-1].outside_epsilon_ == [] and model[-1].result_.epsilon_insider <= 8.0
    free = trefoil.sklearn.PrivateRegressor()
    assert free.fit(X, np.full(len(y), 7.0)).outside_epsilon_ == ["rows", "target_range"]
    assert np.abs(free.predict(X) - 7).max() < 0.1  # 0.01 at most in 10 runs
    with pytest.raises(trefoil.DataError, match=r"^y: found targets from \S+ to \S+, expected 90 to 100$"):
        trefoil.sklearn.PrivateRegressor(target_range=(90, 100)).fit(X, y)
    with pytest.raises(trefoil.ConfigError, match="^target_range: found 90 and 90, expected the lower number first$"):
        trefoil.sklearn.PrivateRegressor(target_range=(90, 90)).fit(X, np.full(len(y), 90.0))


def test_counts_targets_that_are_far_off_less_by_hubers_loss():
    generator = np.random.default_rng(6)
    X = generator.normal(0, 0.4, (900, 3))
    rule = 100 + 20 * X @ [1.0, -2.0, 0.5]
    y = rule + generator.normal(0, 2, 900)
    y[::9] = 195

    def regressor(**options):
        return trefoil.sklearn.PrivateRegressor(
            None, sigma=0.02, target_range=(0, 220), rows=900, batch=1.0, learning_rate=1.5, clip=0.5, **options
        )

    def error(**options):
        """The model's mean distance from the rule, without noise 9 and 1; noise moves it by a hundredth."""
        return np.abs(regressor(**options).fit(X, y).predict(X) - rule).mean()

    assert error() > 5
    assert error(loss="huber", huber_threshold=8) < 2
    for options, refused in (
        ({"loss": "absolute"}, "^loss: found 'absolute', expected \"squared_error\" or \"huber\"$"),
        ({"loss": "huber"}, "^huber_threshold: found none, expected a number"),
        ({"huber_threshold": 8}, "^huber_threshold: found 8, expected it with"),
        ({"loss": "huber", "huber_threshold": 0}, "huber_threshold: found 0"),
        ({"loss": "huber", "huber_threshold": 1e6}, "huber_threshold: found 1"),
    ):
        with pytest.raises(trefoil.ConfigError, match=refused):
            regressor(**options).fit(X, y)


def test_takes_other_labels_and_says_what_epsilon_does_not_cover():
    X = np.repeat([[1.0, 0.0], [0.0, 1.0]], 60, axis=0)
    y = np.repeat(["no", "yes"], 60)
    model = trefoil.sklearn.PrivateLogisticRegression(20.0)
    assert cross_val_score(model, X, y, cv=2).mean() > 0.9  # 1.0 in each of 40 runs
    assert model.fit(X, y).outside_epsilon_ == ["rows", "classes"]
    with pytest.raises(ValueError, match="labels that are not among classes"):
        trefoil.sklearn.PrivateLogisticRegression(classes=["no", "maybe"]).fit(X, y)
    with pytest.raises(trefoil.ConfigError, match="epsilon, sigma: found both or neither"):
        trefoil.sklearn.PrivateLogisticRegression(sigma=1.0).fit(X, y)


def test_weighs_classes_and_takes_a_threshold():
    generator = np.random.default_rng(5)
    y = np.where(generator.random(900) < 0.1, "rare", "often")
    X = generator.normal(0, 0.4, (900, 2)) + 0.6 * (y == "rare")[:, None]
    kind = trefoil.sklearn.PrivateLogisticRegression

    def fit(**options):
        return kind(20.0, classes=["rare", "often"], rows=900, **options).fit(X, y)

    def recall(model):
        return np.mean(model.predict(X)[y == "rare"] == "rare")

    weighed = fit(class_weights={"rare": 1, "often": 0.1})
    assert weighed.result_.job.to_dict()["model"]["class_weights"] == [0.1, 1]  # in the order of classes_
    assert recall(weighed) > recall(fit()) + 0.3
    assert recall(fit(class_weights="balanced")) > recall(fit()) + 0.2  # noise of deviation 12 on counts of 90 and 810
    moved = fit(threshold=0.2)
    np.testing.assert_array_equal(moved.predict(X) == "rare", moved.predict_proba(X)[:, 1] > 0.2)
    for wrong, text in [
        ({"class_weights": "even"}, 'model.class_weights: found "even", expected an array of numbers'),
        ({"class_weights": {"rare": 1}}, r"found those of \['rare'\], expected one for each of \['often', 'rare'\]"),
        ({"class_weights": [1, 1, 1]}, "model.class_weights: found 3 of them, expected 2"),
        ({"threshold": 1.5}, "model.threshold: found 1.5, expected"),
    ]:
        with pytest.raises(trefoil.ConfigError, match=text):
            fit(**wrong)
    with pytest.raises(trefoil.ConfigError, match="model.threshold: found it with other than two classes"):
        kind(threshold=0.2).fit(X, np.arange(900) % 3)
