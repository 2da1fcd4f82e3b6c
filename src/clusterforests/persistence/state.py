"""A fitted forest as plain values and arrays, and back: what `save` writes and `load` reads. Nothing is pickled."""

import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from clusterforests._base.parameters import FOREST_RULES, check_parameters
from clusterforests._base.typing import AnyArray
from clusterforests.backends import Coordinates
from clusterforests.combining.affinity import Signatures
from clusterforests.combining.normalized_cut import CutNode, CutTree
from clusterforests.combining.placement import Embedding, Links, MostShared, NearestNode, Placement, Shares, Walk
from clusterforests.forest.automatic_settings import Choice
from clusterforests.forest.forest import FittedTrees
from clusterforests.n_clusters import choose as how_many
from clusterforests.persistence.checks import check_state
from clusterforests.persistence.container import not_a_model, read_model, write_model
from clusterforests.tables.encoding import Encoding
from clusterforests.tables.feature_columns import Views
from clusterforests.tables.imputation import Donors
from clusterforests.tables.scaling import Scaling


class Record(NamedTuple):
    """A class that may be in a model file, and what its fields hold.

    "float64/2" is an array of that type and two dimensions, "signed/1" one of any signed integers; [] is a list of;
    a name in capitals is another record, | means or, and ? that it may be None.
    """

    make: Callable[..., Any]
    fields: dict[str, str]


def _record(make: Callable[..., Any], fields: str) -> Record:
    return Record(make, dict(pair.split(":") for pair in fields.split()))


RECORDS = {
    "Coordinates": _record(Coordinates, "exponent:int32/1 origin:float64/1 reach:int32/1"),
    "Trees": _record(FittedTrees, "columns:[signed/1] centers:[float64/2] coordinates:Coordinates"),
    "Views": _record(Views, "first:signed/2 widths:int32/1 drawable:int32/1"),
    "Scaling": _record(
        Scaling,
        "views:Views exponent:int32/2 shift:float64/2 divisor:float64/2 ranked:uint8/2 starts:int64/1 knots:float64/1 "
        "ranks:float64/1",
    ),
    "Encoding": _record(Encoding, "names:tuple? n_features:int levels:dict"),
    "Donors": _record(
        Donors,
        "values:float64/2 weights:float64/1 first:int32/1 widths:int32/1 exponents:int32/1 scales:float64/1 "
        "means:float64/1",
    ),
    "Signatures": _record(Signatures, "labels:signed/2 inverse:signed/1 weights:float64/1"),
    "Shares": _record(Shares, "first:int64/1 together:float64/2 clustered:float64/2"),
    "Links": _record(Links, "threshold:plain sharpness:plain"),
    "Walk": _record(Walk, "links:Links voters:float64/2 cutoffs:float64/1 children:int32/2"),
    "Embedding": _record(Embedding, "links:Links voters:float64/2 length:plain centers:float64/2"),
    "MostShared": _record(MostShared, "shares:Shares"),
    "NearestNode": _record(NearestNode, "node_groups:int32/1"),
    "Placement": _record(
        Placement,
        "nodes:Signatures groups:int32/1 rule:Walk|Embedding|MostShared|NearestNode settled:int32/1 names:int32/1 "
        "shares:Shares",
    ),
    "CutNode": _record(
        CutNode,
        "members:signed/1 size:plain left:int right:int vector:float64/1 degrees:float64/1 cutoff:plain ncut:plain "
        "label:int",
    ),
    "CutTree": _record(CutTree, "nodes:[CutNode]"),
    "Setting": _record(Choice, "value:plain reason:str"),
    "Evidence": _record(how_many.Choice, "n_clusters:int candidates:tuple evidence:dict reason:str columns:signed/1"),
}
NAMES = {record.make: name for name, record in RECORDS.items()}

STATE = _record(
    dict,
    "labels_:int32/1 n_clusters_:int partitions_:signed/2 estimators_features_:[signed/1] kappas_:float64/1 "
    "kappa_path_:float64/2 feature_importances_:float64/1 selection_:dict n_clusters_evidence_:Evidence? "
    "cut_tree_:CutTree? n_iter_:int n_features_in_:int _weights:float64/1? _scaling:Scaling _trees:Trees "
    "_placement:Placement _encoding:Encoding _donors:Donors?",
)
PLAIN = {"int": int, "str": str, "tuple": tuple, "dict": dict, "plain": (int, float, str, tuple, type(None))}


def save_forest(forest: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted forest. See `ClusterForest.save`."""
    if forest.estimator is not None:
        raise ValueError(
            f"estimator={forest.estimator!r} has no place in a model file: only forests of the built-in K-means "
            "(estimator=None) can be saved. Keep the labels instead, or fit with estimator=None."
        )
    parameters = forest.get_params(deep=False)
    if not isinstance(parameters["random_state"], (int, np.integer)):
        parameters["random_state"] = None  # a generator has moved on since: its state would not give this forest again
    names = getattr(forest, "feature_names_in_", None)
    _check_levels(forest._encoding)
    packer = _Packer()
    state = {name: packer.pack(getattr(forest, name), name) for name in STATE.fields}
    description = {
        "parameters": packer.pack(parameters, "parameters"),
        "feature_names": None if names is None else [str(name) for name in names],
        "state": state,
    }
    write_model(Path(path), description, packer.arrays)


def _check_levels(encoding: Encoding) -> None:
    for j, levels in encoding.levels.items():
        odd = [level for level in levels if not isinstance(level, (str, int, float))]
        if odd:
            raise ValueError(
                f"The categories of {encoding.describe(j)} are of type {type(odd[0]).__name__}, such as {odd[0]!r}: a "
                "model file holds text, numbers and truth values. Turn the column into text before fitting."
            )


def load_forest(cls: Any, path: str | os.PathLike[str]) -> Any:
    """Read what `save_forest` wrote. See `ClusterForest.load`."""
    source = Path(path)
    description, arrays = read_model(source)
    try:
        if set(description) != {"parameters", "feature_names", "state"}:
            raise ValueError("its parts have other names")
        parameters = _unpack(description["parameters"], arrays)
        _expect(parameters, "dict", "parameters")
        unknown = set(parameters) - set(cls._get_param_names())
        if unknown or "estimator" not in parameters or parameters["estimator"] is not None:
            raise ValueError("it has parameters that this version does not know")
        check_parameters(parameters, FOREST_RULES)
        given = description["state"]
        if not isinstance(given, dict) or set(given) != set(STATE.fields):
            raise ValueError("what it knows of the fit has other names")
        state = {name: _unpack(value, arrays) for name, value in given.items()}
        for name, kind in STATE.fields.items():
            _expect(state[name], kind, name)
        names = description["feature_names"]
        if names is not None and not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
            raise ValueError("its feature names are not text")
        check_state(state, parameters, names)
    except (ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError) as error:
        raise not_a_model(source, error) from error
    forest = cls(**parameters)
    vars(forest).update(state)
    if names is not None:
        forest.feature_names_in_ = np.array(names, dtype=object)
    return forest


class _Packer:
    """Values as JSON, with arrays by their number; an array that several things share is kept once."""

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
    raise ValueError(f"{where}={value!r} has no place in a model file, which holds text, numbers and truth values.")


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
    for field, kind in record.fields.items():
        _expect(values[field], kind, f"{name}.{field}")
    return record.make(**values)


def _expect(value: Any, kind: str, where: str) -> None:
    """Refuse a value that is not of the kind that a record's field says."""
    if kind.endswith("?"):
        if value is None:
            return
        kind = kind[:-1]
    if kind.startswith("["):
        _expect(value, "list", where)
        for item in value:
            _expect(item, kind[1:-1], where)
    elif not _fits(value, kind):
        raise ValueError(f"{where} is not what it should be")


def _fits(value: Any, kind: str) -> bool:
    if "/" in kind:
        dtype, dimensions = kind.split("/")
        if not isinstance(value, np.ndarray) or value.ndim != int(dimensions):
            return False
        return bool(value.dtype.kind == "i" if dtype == "signed" else value.dtype.name == dtype)
    if kind == "list":
        return isinstance(value, list)
    if kind in PLAIN:
        return isinstance(value, PLAIN[kind])  # type: ignore[arg-type]
    return type(value) in NAMES and NAMES[type(value)] in kind.split("|")
