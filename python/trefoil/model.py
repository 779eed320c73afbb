"""Released models, with the interface of scikit-learn's classifiers."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trefoil import _core
from trefoil._frames import from_tables
from trefoil._inputs import Inputs, one_column, require_own_features, require_unmasked
from trefoil.errors import ConfigError, DataError


class Model:
    """A classifier, or a model of numbers, that a job released.

    It takes the records that its job declares, as they were before training.
    """

    def __init__(
        self,
        layers: list[tuple[NDArray[np.float64], NDArray[np.float64]]],
        activation_bound: float,
        row_norm: float,
        schema: str,
    ) -> None:
        self.layers = layers
        self.activation_bound = activation_bound
        self.row_norm = row_norm
        self.schema = schema

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """What the model is made of: Model(**model.get_params()) is the same one."""
        return dict(self._parts)

    def set_params(self, **params: Any) -> Model:
        for key, value in params.items():
            if key not in self.get_params():
                raise ValueError(f"{key} is no parameter of a model")
            setattr(self, key, value)
        return self

    @property
    def _keys(self) -> dict[str, Any]:
        keys: dict[str, Any] = json.loads(self.schema)
        return keys

    @property
    def target_range(self) -> tuple[float, float] | None:
        """Of a model that predicts numbers: the public range of its targets."""
        target = self._keys["data"].get("target")
        return None if target is None else (float(target["low"]), float(target["high"]))

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels: those of the label column, or 0, 1, ..."""
        data = self._keys["data"]
        if "target" in data:
            raise AttributeError("a model that predicts numbers has no classes; it has target_range")
        return np.array(data["label"]["values"]) if "label" in data else np.arange(data["classes"])

    @property
    def threshold(self) -> float:
        """Of two classes: what has to be predicted for the second one that a record is taken for it (model.threshold)."""
        return float(self._keys.get("model", {}).get("threshold", 0.5))

    def _decision(self) -> float:
        """The logit there: of the squared loss the prediction is the logit plus 1/2, else its sigmoid."""
        if self._keys.get("model", {}).get("loss") == "squared":
            return self.threshold - 0.5
        return math.log(self.threshold) - math.log1p(-self.threshold)

    @property
    def n_features_in_(self) -> int:
        """Of the rows that the model takes, once they are made of records."""
        return int(self.layers[0][0].shape[0])

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Of a linear model: a row a class, or one with two classes; of rows as the job scales them."""
        self._require_linear("coef_")
        return self.layers[0][0].T

    @property
    def intercept_(self) -> NDArray[np.float64]:
        self._require_linear("intercept_")
        return self.layers[0][1]

    def _require_linear(self, name: str) -> None:
        if len(self.layers) > 1:
            raise AttributeError(f"a model with hidden layers has no {name}; it has layers")

    @property
    def _parts(self) -> _core.ModelParts:
        return {
            "layers": self.layers,
            "activation_bound": self.activation_bound,
            "row_norm": self.row_norm,
            "schema": self.schema,
        }

    def _put(self, inputs: Inputs, X: Any, y: Any, labels: bool = True) -> dict[str, str]:
        require_own_features(self._keys, "trefoil predict or trefoil evaluate, with --feature-model")
        return inputs.put_records(self._keys, X, y, labels=labels)

    def _logits(self, X: Any) -> NDArray[np.float64]:
        with Inputs() as inputs, inputs.explained():
            return _core.logits(self._parts, self._put(inputs, X, None, labels=False))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The logits: a column a class; with two classes those of the second alone."""
        logits = self._logits(X)
        return logits[:, 0] if logits.shape[1] == 1 else logits

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each record, or its target. Raises DataError where they are not as the job declares."""
        logits = self._logits(X)
        if self.target_range is not None:
            low, high = self.target_range
            if self._keys.get("model", {}).get("loss") == "poisson":
                rates: NDArray[Any] = np.minimum(high * np.exp(np.minimum(logits[:, 0] - 2, 0)), high)
                return rates
            return low + (high - low) * (logits[:, 0] + 0.5)
        if logits.shape[1] == 1:
            places = (logits[:, 0] > self._decision()).astype(int)
        else:
            places = np.argmax(logits, axis=1)
        labels: NDArray[Any] = self.classes_[places]
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """A column a class: softmax, or sigmoids scaled to add up to 1.

        The squared loss and jobs without [model] have none.
        """
        loss = self._keys.get("model", {}).get("loss")
        if loss not in ("one-vs-rest", "softmax"):
            raise ConfigError(f"model.loss: found {json.dumps(loss)}, expected a loss that gives probabilities")
        logits = self._logits(X)
        if loss == "softmax" and logits.shape[1] > 1:
            odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        else:
            odds = np.exp(-np.logaddexp(0, -logits))
        if odds.shape[1] == 1:
            return np.hstack([1 - odds, odds])
        shares: NDArray[np.float64] = odds / odds.sum(axis=1, keepdims=True)
        return shares

    def score(self, X: Any, y: Any) -> float:
        """The share of records whose class is predicted; of targets R². Labels are as `evaluate` takes them."""
        if self.target_range is not None:
            predicted = self.predict(X)
            require_unmasked(y, "y")
            targets = np.asarray(one_column(from_tables(y)), dtype=np.float64)
            if targets.shape != predicted.shape:
                raise DataError(f"y: found an array of shape {targets.shape}, expected {predicted.shape}, X's records")
            return float(1 - np.sum((predicted - targets) ** 2) / np.sum((targets - targets.mean()) ** 2))
        return float(self.evaluate(X, y)["accuracy"])

    def evaluate(self, X: Any, y: Any = None) -> dict[str, Any]:
        """How the model does on these records, as `trefoil evaluate --json` says it: "accuracy", "balanced_accuracy",
        "auc", "log_loss", "calibration_error", "confusion", "warnings" ..., or of targets "r_squared" and "rmse".

        `y` has labels as the job declares them, 0, 1, ... or texts; without it a frame has their column. No epsilon
        covers these figures. Raises DataError where records or labels are not as the job declares.
        """
        with Inputs() as inputs, inputs.explained():
            figures: dict[str, Any] = json.loads(_core.evaluation(self._parts, self._put(inputs, X, y)))
            return figures

    def __repr__(self) -> str:
        sizes = " -> ".join(map(str, [self.n_features_in_, *(bias.size for _, bias in self.layers)]))
        of = "one target" if self.target_range is not None else f"{len(self.classes_)} classes"
        return f"<trefoil.Model {sizes}, {of}>"
