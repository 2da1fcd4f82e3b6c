"""Save a fitted forest as plain values and arrays, and load it again. Nothing is pickled."""

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from clusterforests._utils.arrays import AnyArray
from clusterforests._utils.validation import FOREST_RULES, check_parameters
from clusterforests.consensus.constraints import CONSTRAINT_RULES
from clusterforests.consensus.methods import METHOD_RULES
from clusterforests.persistence.model_file import not_a_model, read_model, write_model
from clusterforests.persistence.schema import NAMES, RECORDS, STATE, check_consistency, check_kind
from clusterforests.table.encoding import Encoding
from clusterforests.table.reader.overrides import COLUMNS_RULE

ATTACHED = "attached"  # what applications keep beside a forest
UNFIT = (ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError)  # parts that are no forest's


def save_forest(forest: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted forest. See `ClusterForest.save`."""
    if forest.estimator is not None:
        raise ValueError(
            f"estimator={forest.estimator!r} cannot be stored in a model file: only forests of the built-in K-means "
            "(estimator=None) can be saved. Keep the labels instead, or fit with estimator=None."
        )
    parameters = forest.get_params(deep=False)
    if not isinstance(parameters["random_state"], (int, np.integer)):
        parameters["random_state"] = None  # a generator has advanced since: its state would not give this forest again
    names = getattr(forest, "feature_names_in_", None)
    _check_levels(forest._encoding)
    packer = _Packer()
    state = {name: packer.pack(getattr(forest, name), name) for name in STATE.fields}
    description = {
        "parameters": packer.pack(parameters, "parameters"),
        "feature_names": None if names is None else [str(name) for name in names],
        "state": state,
    }
    try:
        _restore(type(forest), description, packer.arrays)
    except UNFIT as error:
        raise ValueError(
            f"The forest cannot be saved, because `load` would refuse it: {str(error).rstrip('.')}. Set parameters to "
            "values that `fit` accepts with set_params, or fit it again."
        ) from error
    write_model(Path(path), description, packer.arrays)


def _check_levels(encoding: Encoding) -> None:
    for j, levels in encoding.levels.items():
        odd = [level for level in levels if not isinstance(level, (str, int, float))]
        if odd:
            raise ValueError(
                f"The categories of {encoding.describe(j)} are of type {type(odd[0]).__name__}, such as {odd[0]!r}: a "
                "model file holds text, numbers and booleans. Turn the column into text before fitting."
            )


def load_forest(cls: Any, path: str | os.PathLike[str]) -> Any:
    """Read what `save_forest` wrote. See `ClusterForest.load`."""
    source = Path(path)
    description, arrays = read_model(source)
    try:
        parts = _restore(cls, description, arrays)
    except UNFIT as error:
        raise not_a_model(source, error) from error
    forest = cls(**parts.parameters)
    vars(forest).update(parts.state)
    if parts.names is not None:
        forest.feature_names_in_ = np.array(parts.names, dtype=object)
    return forest


def attach(path: str | os.PathLike[str], values: Mapping[str, Any]) -> None:
    """Keep values of an application in the file of a forest, which `load_forest` does not look at.

    Parameters
    ----------
    path : str or path-like
        Name of a file that `save_forest` wrote.
    values : mapping of str to object
        What JSON can hold.
    """
    description, arrays = read_model(Path(path))
    write_model(Path(path), {**description, ATTACHED: dict(values)}, arrays)


def read_attached(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what `attach` kept; nothing if it kept nothing."""
    values = read_model(Path(path))[0].get(ATTACHED, {})
    if not isinstance(values, dict):
        raise not_a_model(Path(path), ValueError("what is attached to it is not an object"))
    return values


class _Parts(NamedTuple):
    parameters: dict[str, Any]
    state: dict[str, Any]
    names: list[str] | None


def _restore(cls: Any, description: Mapping[str, Any], arrays: list[AnyArray]) -> _Parts:
    """Make the parts of a forest from those of its file, and check each, and whether they fit together."""
    if set(description) - {ATTACHED} != {"parameters", "feature_names", "state"}:
        raise ValueError("its parts have unknown names")
    parameters = _unpack(description["parameters"], arrays)
    check_kind(parameters, "dict", "parameters")
    unknown = set(parameters) - set(cls._get_param_names())
    if unknown or "estimator" not in parameters or parameters["estimator"] is not None:
        raise ValueError("it has parameters that this version does not know")
    check_parameters(parameters, {**FOREST_RULES, **METHOD_RULES, **CONSTRAINT_RULES, "columns": COLUMNS_RULE})
    given = description["state"]
    if not isinstance(given, dict) or set(given) | STATE.added != set(STATE.fields):
        raise ValueError("its fitted attributes have unknown names")
    state = {name: _unpack(value, arrays) for name, value in given.items()}
    if "feature_pvalues_" not in state:  # features were not tested: their importance was how much trees used them
        state["feature_pvalues_"] = np.full(np.shape(state["feature_importances_"]), np.nan)
        state["feature_importances_"] = state["feature_pvalues_"].copy()
    state.setdefault("dominant_features_", {})
    for name in ("_reduction", "_constraints", "_nearest", "_outlier_rule"):
        state.setdefault(name, None)
    for name, kind in STATE.fields.items():
        check_kind(state[name], kind, name)
    names = description["feature_names"]
    if names is not None and not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
        raise ValueError("its feature names are not text")
    with np.errstate(all="ignore"):  # numbers that fit no forest overflow here
        check_consistency(state, names)
    return _Parts(parameters, state, names)


class _Packer:
    """Turns values into JSON with numbers in place of arrays. An array that occurs several times is kept once."""

    def __init__(self) -> None:
        self.arrays: list[AnyArray] = []
        self._numbers: dict[int, int] = {}

    def pack(self, value: Any, where: str) -> Any:
        if isinstance(value, np.ndarray):
            if id(value) not in self._numbers:
                self._numbers[id(value)] = len(self.arrays)
                self.arrays.append(value)
            return {"array": self._numbers[id(value)]}
        if type(value) in NAMES:
            name = NAMES[type(value)]
            fields = {field: self.pack(getattr(value, field), field) for field in RECORDS[name].fields}
            return {"record": name, "fields": fields}
        if isinstance(value, Mapping):
            return {"pairs": [[self.pack(key, where), self.pack(item, str(key))] for key, item in value.items()]}
        if isinstance(value, list):
            return [self.pack(item, where) for item in value]
        if isinstance(value, tuple):
            return {"tuple": [self.pack(item, where) for item in value]}
        if isinstance(value, range):
            return {"range": [value.start, value.stop, value.step]}
        return _plain(value, where)


def _plain(value: Any, where: str) -> Any:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else {"float": str(float(value))}
    if value is None or isinstance(value, str):
        return value
    raise ValueError(f"{where}={value!r} cannot be stored in a model file, which holds text, numbers and booleans.")


def _unpack(value: Any, arrays: list[AnyArray]) -> Any:
    if isinstance(value, list):
        return [_unpack(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"record", "fields"}:
        return _make(value["record"], value["fields"], arrays)
    if len(value) != 1:
        raise ValueError("it holds something that no model does")
    ((kind, content),) = value.items()
    if kind == "float" and content in ("nan", "inf", "-inf"):
        return float(content)
    if kind == "array":
        if type(content) is not int or not 0 <= content < len(arrays):
            raise ValueError("it names an array that it does not have")
        return arrays[content]
    if not isinstance(content, list):
        raise ValueError("it holds something that no model does")
    items = [_unpack(item, arrays) for item in content]
    if kind == "tuple":
        return tuple(items)
    if kind == "range":
        return range(*items)
    if kind == "pairs":
        return dict(items)
    raise ValueError("it holds something that no model does")


def _make(name: Any, fields: Any, arrays: list[AnyArray]) -> Any:
    record = RECORDS.get(name) if isinstance(name, str) else None
    if record is None or not isinstance(fields, dict) or set(fields) | record.added != set(record.fields):
        raise ValueError("it holds something that no model does")
    values = {field: _unpack(value, arrays) for field, value in fields.items()}
    for field, value in values.items():
        check_kind(value, record.fields[field], f"{name}.{field}")
    return record.make(**values)
