"""Estimators of scikit-learn that train by secure DP-SGD, on three shards of one array on this machine.

They are for trials, and for pipelines that are to run among three organisations later: whoever has the process has all
the data. Each `fit` is a release of its own: cross-validation with k folds, and a search over parameters, cost k fits
or more on the same records, whose epsilons add up, and whose scores are computed on clear data and covered by none. The
way to choose settings on private records is a job of type `tune` (trefoil.Job.tune): one epsilon for all its trials.
"""

from __future__ import annotations

import math
from typing import Any, Mapping

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from trefoil.errors import ConfigError, DataError
from trefoil.job import Job
from trefoil.model import Model
from trefoil.result import Result
from trefoil.simulation import simulate


try:
    from sklearn.utils.validation import validate_data as _validated
except ImportError:  # before 1.6

    def _validated(estimator: Any, *args: Any, **keywords: Any) -> Any:
        return estimator._validate_data(*args, **keywords)


class _Private(BaseEstimator):  # type: ignore[misc]
    """What the estimators share: parameters of training and promise, three shards, the job, the model."""

    def __init__(
        self,
        epsilon: float | None,
        delta: float,
        sigma: float | None,
        against: str,
        steps: int,
        batch: float,
        learning_rate: float,
        momentum: float,
        clip: float,
        row_norm: float,
        rows: int | None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.sigma = sigma
        self.against = against
        self.steps = steps
        self.batch = batch
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.clip = clip
        self.row_norm = row_norm
        self.rows = rows

    def _train(
        self, X: NDArray[Any], y: NDArray[Any], data: dict[str, Any], model: dict[str, Any], public: str
    ) -> None:
        """Trains on rows and what `data` of a job says of `y`. `public` names the parameter that it is from."""
        self.outside_epsilon_ = [name for name in ("rows", public) if getattr(self, name) is None]
        job = self._job(len(y) if self.rows is None else self.rows, data, model)
        self.result_: Result = simulate(job, [(X[party::3], y[party::3]) for party in range(3)])
        self.coef_ = self._model.coef_
        self.intercept_ = self._model.intercept_
        self.n_iter_ = self.steps

    def _job(self, rows: int, data: dict[str, Any], model: dict[str, Any]) -> Job:
        own = [math.ceil((rows - party) / 3) for party in range(3)]
        batch = max(1.0, self.batch * rows)
        mean = own[0] * batch / max(rows, 1)
        privacy = {"delta": self.delta, "against": self.against, "clip": self.clip}
        if (self.epsilon is None) == (self.sigma is None):
            raise ConfigError("epsilon, sigma: found both or neither, expected exactly one")
        return Job.from_dict(
            {
                "type": "dpsgd",
                "name": "sklearn",
                "data": {"name": "arrays", "format": "npy", "rows": own, "features": self.n_features_in_, **data},
                "features": {"row_norm": self.row_norm},
                "model": model,
                "training": {
                    "steps": self.steps,
                    "expected_batch": batch,
                    # So many deviations above the mean that hardly any draw is ever cut.
                    "max_batch_per_owner": max(1, min(own[0], math.ceil(mean + 8 * math.sqrt(mean) + 8))),
                    "learning_rate": self.learning_rate,
                    "momentum": self.momentum,
                },
                "privacy": privacy | ({"epsilon": self.epsilon} if self.sigma is None else {"sigma": self.sigma}),
            }
        )

    def _checked(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        checked: NDArray[Any] = _validated(self, X, reset=False)
        return checked

    @property
    def _model(self) -> Model:
        model = self.result_.model
        assert model is not None  # everybody gets it
        return model

    def _more_tags(self) -> dict[str, Any]:
        """For scikit-learn before 1.6."""
        return {"non_deterministic": True, "_xfail_checks": WAIVED[type(self).__name__]}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags


class PrivateLogisticRegression(ClassifierMixin, _Private):  # type: ignore[misc]
    """A linear classifier, one class against the rest, by secure DP-SGD among three parties in this process.

    Parameters
    ----------
    epsilon, delta, against
        The promise, for one record added or removed, against one of the parties ("insider") or whoever sees the model
        ("outsider").
    sigma
        The noise multiplier, in place of epsilon, which is None then.
    steps, batch, learning_rate, momentum, clip, row_norm
        Of the training; `batch` is the expected one as a share of the rows. Rows longer than `row_norm` are scaled down
        to it, so data should be centred and scaled by public constants first.
    rows, classes
        The public number of rows, and the labels. Where they are None they are taken from the data, which no epsilon
        covers: `outside_epsilon_` names what was.
    class_weights
        Public numbers by which a record's error is multiplied, from 0.001 to 1000: a mapping from every label, or as
        many in the order of `classes_`. Best 1 for the rarest class and less for the others, and never from counts of
        the data, which they would tell without noise. Or "balanced": the run counts the classes with noise, which
        epsilon covers (docs/howto/rare_classes.md).
    threshold
        Of two classes: the probability of the second one above which a record is taken for it. It is public, and
        changes `predict` alone.
    """

    def __init__(
        self,
        epsilon: float | None = 3.0,
        delta: float = 1e-5,
        *,
        sigma: float | None = None,
        against: str = "insider",
        steps: int = 40,
        batch: float = 0.25,
        learning_rate: float = 2.0,
        momentum: float = 0.0,
        clip: float = 1.0,
        row_norm: float = 2.0,
        rows: int | None = None,
        classes: Any = None,
        class_weights: Any = None,
        threshold: float = 0.5,
    ) -> None:
        super().__init__(
            epsilon, delta, sigma, against, steps, batch, learning_rate, momentum, clip, row_norm, rows
        )
        self.classes = classes
        self.class_weights = class_weights
        self.threshold = threshold

    def fit(self, X: Any, y: Any) -> PrivateLogisticRegression:
        """Trains. Row i is party i mod 3's. Raises ConfigError for a promise that cannot be met."""
        X, y = _validated(self, X, y)
        check_classification_targets(y)
        numbers = self._numbers_of(y)
        model = {"loss": "one-vs-rest", "threshold": self.threshold, "class_weights": self._weights()}
        self._train(X, numbers, {"classes": len(self.classes_)}, model, "classes")
        return self

    def _numbers_of(self, y: NDArray[Any]) -> NDArray[np.int64]:
        """Labels as 0, 1, ... in the order of classes_."""
        self.classes_ = np.unique(y if self.classes is None else np.asarray(self.classes))
        if len(self.classes_) < 2:
            raise ValueError(f"classes: found {len(self.classes_)} class, expected two or more")
        places = np.minimum(np.searchsorted(self.classes_, y), len(self.classes_) - 1)
        if np.any(self.classes_[places] != y):
            raise ValueError("y: found labels that are not among classes")
        return places.astype(np.int64)

    def _weights(self) -> list[float] | str:
        """In the order of classes_; none where all are 1. A text is the job's to know."""
        if self.class_weights is None:
            return []
        if isinstance(self.class_weights, str):
            return self.class_weights
        labels = self.classes_.tolist()
        if not isinstance(self.class_weights, Mapping):
            return [float(weight) for weight in self.class_weights]
        if set(self.class_weights) != set(labels):
            raise ConfigError(
                f"class_weights: found those of {list(self.class_weights)}, expected one for each of {labels}"
            )
        return [float(self.class_weights[label]) for label in labels]

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The logits: a column a class; with two classes those of the second alone."""
        X = self._checked(X)
        return self._model.decision_function(X)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        X = self._checked(X)
        return self._model.predict_proba(X)

    def predict(self, X: Any) -> NDArray[Any]:
        X = self._checked(X)
        labels: NDArray[Any] = self.classes_[self._model.predict(X)]
        return labels


class PrivateRegressor(RegressorMixin, _Private):  # type: ignore[misc]
    """A linear model of numbers, by secure DP-SGD among three parties in this process.

    Parameters
    ----------
    target_range
        The public (low, high) that every target is within; take it from what is known of the subject. Where it is None
        it is taken from the data, which no epsilon covers: `outside_epsilon_` names what was.
    epsilon, delta, against, sigma, steps, batch, learning_rate, momentum, clip, row_norm, rows
        As of PrivateLogisticRegression. The target's range counts as 1, so errors are small numbers, and so are `clip`
        and the noise. A `learning_rate` of at most 2 / (row_norm² + 1) does not diverge. `coef_` and `intercept_` are
        of that scale, too, for rows as `row_norm` leaves them; `predict` gives targets in their own unit.
    loss
        "squared_error", or "huber", which counts targets that are far off less: as of SGDRegressor.
    huber_threshold
        With "huber", and only then: the error, in the target's own unit, up to which the loss is squared, beyond which
        it is linear. What SGDRegressor calls epsilon, which is the promise here. Best one to two deviations of the
        usual error; take it from what is known of the subject. `clip` need not be above √(row_norm² + 1) times its
        share of the range. Errors beyond it pull less than their square would: raise `learning_rate` or `steps` where
        the model starts far from the targets.
    """

    def __init__(
        self,
        epsilon: float | None = 3.0,
        delta: float = 1e-5,
        *,
        target_range: tuple[float, float] | None = None,
        sigma: float | None = None,
        against: str = "insider",
        steps: int = 40,
        batch: float = 0.25,
        learning_rate: float = 0.4,
        momentum: float = 0.0,
        clip: float = 0.25,
        row_norm: float = 2.0,
        rows: int | None = None,
        loss: str = "squared_error",
        huber_threshold: float | None = None,
    ) -> None:
        super().__init__(
            epsilon, delta, sigma, against, steps, batch, learning_rate, momentum, clip, row_norm, rows
        )
        self.target_range = target_range
        self.loss = loss
        self.huber_threshold = huber_threshold

    def fit(self, X: Any, y: Any) -> PrivateRegressor:
        """Trains. Row i is party i mod 3's. Raises ConfigError for a promise that cannot be met, DataError for a target
        out of range."""
        X, y = _validated(self, X, y, y_numeric=True)
        low, high = self._range_of(y)
        if y.min() < low or y.max() > high:
            raise DataError(f"y: found targets from {y.min():g} to {y.max():g}, expected {low:g} to {high:g}")
        self._train(X, y, {"target": {"low": low, "high": high}}, self._loss(), "target_range")
        return self

    def _loss(self) -> dict[str, Any]:
        """As a job names it. How large a threshold may be is the job's to know."""
        if self.loss not in ("squared_error", "huber"):
            raise ConfigError(f'loss: found {self.loss!r}, expected "squared_error" or "huber"')
        if self.loss == "squared_error":
            if self.huber_threshold is not None:
                raise ConfigError(
                    f'huber_threshold: found {self.huber_threshold!r}, expected it with loss="huber" only'
                )
            return {"loss": "squared"}
        if self.huber_threshold is None:
            raise ConfigError('huber_threshold: found none, expected a number in the target\'s unit with loss="huber"')
        return {"loss": "huber", "huber_threshold": float(self.huber_threshold)}

    def _range_of(self, y: NDArray[Any]) -> tuple[float, float]:
        low, high = map(float, (y.min(), y.max()) if self.target_range is None else self.target_range)
        if low == high and self.target_range is None:  # all targets are one number
            return low - 0.5, high + 0.5
        if not low < high:
            raise ConfigError(f"target_range: found {low:g} and {high:g}, expected the lower number first")
        return low, high

    def predict(self, X: Any) -> NDArray[np.float64]:
        X = self._checked(X)
        return self._model.predict(X)


_NOISE = "each fit draws noise of its own from the system, and there are no seeds"
_FEW = "on so few records the noise of the default promise may hide the classes"
WAIVED: dict[str, dict[str, str]] = {
    "PrivateLogisticRegression": {
        "check_classifier_data_not_an_array": _NOISE,
        "check_classifiers_classes": _FEW,
        "check_classifiers_train": _FEW,
        "check_fit_idempotent": _NOISE,
        "check_supervised_y_2d": _NOISE,
    },
    "PrivateRegressor": {
        "check_fit_idempotent": _NOISE,
        "check_regressor_data_not_an_array": _NOISE,
        "check_regressors_int": _NOISE,
        "check_supervised_y_2d": _NOISE,
    },
}
"""scikit-learn's checks that cannot hold of an estimator, with the reason."""
