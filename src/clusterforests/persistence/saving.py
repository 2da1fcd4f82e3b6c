"""Save a fitted forest as plain values and arrays, and load it again. Nothing is pickled."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from clusterforests._utils.arrays import AnyArray
from clusterforests._utils.validation import Rule, check_parameters
from clusterforests.persistence.model_file import not_a_model, read_model, write_model
from clusterforests.persistence.schema import NAMES, RECORDS, STATE, check_consistency, check_kind, table_of
from clusterforests.table.encoding import Encoding

ATTACHED = "attached"  # what applications keep beside a forest
UNFIT = (ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError)  # parts that are no forest's
CLASSES = ("ClusterForest", "PaperForest")
PARTS = {"class", "parameters", "feature_names", "state"}


class SavedForest(NamedTuple):
    """What a file holds of a forest."""

    kind: str  # the name of its class
    parameters: dict[str, Any]
    state: dict[str, Any]  # its fitted attributes
    feature_names: Any  # an array of text; None if the table had none


def save_forest(forest: SavedForest, rules: Mapping[str, Rule], path: str | os.PathLike[str]) -> None:
    """Write a fitted forest. See `ClusterForest.save`. `rules` are those of its parameters."""
    parameters = dict(forest.parameters)
    if not isinstance(parameters["random_state"], (int, np.integer)):
        parameters["random_state"] = None  # a generator has advanced since: its state would not give this forest again
    _check_levels(forest.state["_predictor"].encoding)
    packer = _Packer()
    state = {name: packer.pack(forest.state[name], name) for name in STATE.fields}
    names = forest.feature_names
    description = {
        "class": forest.kind,
        "parameters": packer.pack(parameters, "parameters"),
        "feature_names": None if names is None else [str(name) for name in names],
        "state": state,
    }
    try:
        _restore(forest.kind, list(parameters), rules, description, packer.arrays)
    except UNFIT as error:
        raise ValueError(
            f"The forest cannot be saved, because `load` would refuse it: {str(error).rstrip('.')}. Set parameters to "
            "values that `fit` accepts with set_params, or fit it again."
        ) from error
    write_model(Path(path), description, packer.arrays)


def _check_levels(encoding: Encoding) -> None:
    for j, levels in (*encoding.levels.items(), *encoding.orders.items()):
        odd = [level for level in levels if not isinstance(level, (str, int, float))]
        if odd:
            raise ValueError(
                f"The categories of {encoding.describe(j)} are of type {type(odd[0]).__name__}, such as {odd[0]!r}: a "
                "model file holds text, numbers and booleans. Turn the column into text before fitting."
            )


def load_forest(
    kind: str, parameters: Sequence[str], rules: Mapping[str, Rule], path: str | os.PathLike[str]
) -> SavedForest:
    """Read what `save_forest` wrote for a class, of which `parameters` are named and `rules` say what they may be."""
    source = Path(path)
    description, arrays = read_model(source)
    if description.get("class") in CLASSES and description["class"] != kind:
        raise ValueError(f"{source} holds a {description['class']}: load it with {description['class']}.load.")
    try:
        return _restore(kind, parameters, rules, description, arrays)
    except UNFIT as error:
        raise not_a_model(source, error) from error


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


def read_attached(path: str | os.PathLike[str]) -> tuple[str, dict[str, Any]]:
    """Return the name of a saved forest's class, and what `attach` kept; nothing if it kept nothing."""
    description, _ = read_model(Path(path))
    kind, values = description.get("class"), description.get(ATTACHED, {})
    if kind not in CLASSES or not isinstance(values, dict):
        raise not_a_model(Path(path), ValueError("it does not say what it holds"))
    return str(kind), values


def _restore(
    kind: str,
    known: Sequence[str],
    rules: Mapping[str, Rule],
    description: Mapping[str, Any],
    arrays: list[AnyArray],
) -> SavedForest:
    """Make the parts of a forest from those of its file, and check each, and whether they fit together."""
    if set(description) - {ATTACHED} != PARTS or description["class"] != kind:
        raise ValueError("its parts have unknown names")
    parameters = _unpack(description["parameters"], arrays)
    check_kind(parameters, "dict", "parameters")
    if set(parameters) != set(known) or parameters.get("estimator") is not None:
        raise ValueError("it has parameters that this version does not know")
    check_parameters(parameters, rules)
    given = description["state"]
    if not isinstance(given, dict) or set(given) != set(STATE.fields):
        raise ValueError("its fitted attributes have unknown names")
    state = {name: _unpack(value, arrays) for name, value in given.items()}
    for name, kind_of_value in STATE.fields.items():
        check_kind(state[name], kind_of_value, name)
    names = description["feature_names"]
    if names is not None and not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
        raise ValueError("its feature names are not text")
    with np.errstate(all="ignore"):  # numbers that fit no forest overflow here
        check_consistency(state, names)
    feature_names = None if names is None else np.array(names, dtype=object)
    table = table_of(state["n_features_in_"], feature_names)
    state["_predictor"] = replace(state["_predictor"], table=table)
    return SavedForest(kind, parameters, state, feature_names)


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
    if record is None or not isinstance(fields, dict) or set(fields) != set(record.fields):
        raise ValueError("it holds something that no model does")
    values = {field: _unpack(value, arrays) for field, value in fields.items()}
    for field, value in values.items():
        check_kind(value, record.fields[field], f"{name}.{field}")
    return record.make(**values)
