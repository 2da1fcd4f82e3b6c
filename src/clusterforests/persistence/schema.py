"""The classes and values that a model file may hold, and what each must look like."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from clusterforests.backends import Coordinates
from clusterforests.combining.affinity import Signatures
from clusterforests.combining.assignment import Sizes
from clusterforests.combining.constraints import Constraints
from clusterforests.combining.guidance import Guidance
from clusterforests.combining.normalized_cut import CutNode, CutTree
from clusterforests.combining.outliers import OutlierRule
from clusterforests.combining.placement import (
    Embedding,
    Links,
    MostLinked,
    MostShared,
    NearestNode,
    Placement,
    Shares,
    Walk,
)
from clusterforests.forest.automatic_settings import Setting
from clusterforests.forest.forest import FittedTrees
from clusterforests.n_clusters.evidence import NClustersEvidence
from clusterforests.tables.column_reading import ColumnReading
from clusterforests.tables.encoding import Encoding
from clusterforests.tables.feature_columns import FeatureColumns
from clusterforests.tables.imputation import Donors
from clusterforests.tables.projections import Projections
from clusterforests.tables.reduction import Reduction
from clusterforests.tables.scaling import Scaling


class Record(NamedTuple):
    """A class that a model file may hold, and what its fields hold.

    "float64/2" is an array of that type with two dimensions, "signed/1" one of signed integers of any size. [X] is a
    list of X, a capitalised name is another record, | means "or", and ? means that it may be None. Files that were
    written before a field was added lack it: those in `added` then have the default of the class.
    """

    make: Callable[..., Any]
    fields: dict[str, str]
    added: frozenset[str] = frozenset()


def _record(make: Callable[..., Any], fields: str, added: str = "") -> Record:
    return Record(make, dict(pair.split(":") for pair in fields.split()), frozenset(added.split()))


RECORDS = {
    "Coordinates": _record(Coordinates, "exponent:int32/1 origin:float64/1 reach:int32/1"),
    "Trees": _record(FittedTrees, "columns:[signed/1] centers:[float64/2] coordinates:Coordinates"),
    "Views": _record(FeatureColumns, "first:signed/2 widths:int32/1 drawable:int32/1"),
    "Scaling": _record(
        Scaling,
        "views:Views exponent:int32/2 shift:float64/2 divisor:float64/2 ranked:uint8/2 starts:int64/1 knots:float64/1 "
        "ranks:float64/1 projections:Projections sources:int32/1?",
        added="projections sources",
    ),
    "Reduction": _record(Reduction, "vectors:float64/2"),
    "Projections": _record(Projections, "starts:int64/1 columns:int32/1 coefficients:float64/1"),
    "Encoding": _record(
        Encoding, "names:tuple? n_features:int levels:dict readings:tuple used:tuple", added="readings used"
    ),
    "ColumnReading": _record(  # without its examples: they may be names of people
        ColumnReading,
        "name:str kind:str reason:str used:bool read_as:str feature:int unit:str style:str order:tuple notes:tuple "
        "padded:bool",
        added="padded",
    ),
    "Donors": _record(
        Donors,
        "values:float64/2 weights:float64/1 first:int32/1 widths:int32/1 exponents:int32/1 scales:float64/1 "
        "means:float64/1",
    ),
    "Signatures": _record(
        Signatures, "labels:signed/2 inverse:signed/1 weights:float64/1 values:float64/2?", added="values"
    ),
    "Shares": _record(Shares, "first:int64/1 together:float64/2 clustered:float64/2"),
    "Links": _record(Links, "threshold:plain sharpness:plain"),
    "Walk": _record(Walk, "links:Links voters:float64/2 cutoffs:float64/1 children:int32/2"),
    "Embedding": _record(Embedding, "links:Links voters:float64/2 length:plain centers:float64/2"),
    "MostShared": _record(MostShared, "shares:Shares"),
    "MostLinked": _record(MostLinked, "links:Links voters:float64/2"),
    "NearestNode": _record(NearestNode, "node_groups:int32/1"),
    "Placement": _record(
        Placement,
        "nodes:Signatures groups:int32/1 rule:Walk|Embedding|MostShared|MostLinked|NearestNode settled:int32/1 "
        "names:int32/1 shares:Shares",
    ),
    "CutNode": _record(
        CutNode,
        "members:signed/1 size:plain left:int right:int vector:float64/1 degrees:float64/1 cutoff:plain ncut:plain "
        "label:int",
    ),
    "CutTree": _record(CutTree, "nodes:[CutNode]"),
    "Setting": _record(Setting, "value:plain reason:str"),
    "Guidance": _record(Guidance, "unit:int64/1 apart:int64/2 classes:tuple"),
    "Sizes": _record(Sizes, "least:plain most:plain"),
    "Constraints": _record(Constraints, "guidance:Guidance? sizes:Sizes total:plain heavy:int", added="heavy"),
    "OutlierRule": _record(
        OutlierRule,
        "columns:int32/1 scale:float64/1 centers:float64/2 roots:float64/2 middles:float64/1 widths:float64/1 "
        "level:plain spared:tuple",
        added="spared",
    ),
    "Evidence": _record(NClustersEvidence, "n_clusters:int candidates:tuple evidence:dict reason:str columns:signed/1"),
}
NAMES = {record.make: name for name, record in RECORDS.items()}

STATE = _record(
    dict,
    "labels_:int32/1 n_clusters_:int partitions_:signed/2 estimators_features_:[signed/1] kappas_:float64/1 "
    "kappa_path_:float64/2 feature_importances_:float64/1 feature_pvalues_:float64/1 selection_:dict "
    "n_clusters_evidence_:Evidence? repeated_features_:dict cut_tree_:CutTree? n_iter_:int n_features_in_:int "
    "_weights:float64/1? _scaling:Scaling _trees:Trees _placement:Placement _encoding:Encoding _donors:Donors? "
    "_reduction:Reduction? _constraints:Constraints? _nearest:int32/1? "
    "_outlier_rule:OutlierRule?",
    added="feature_pvalues_ repeated_features_ _reduction _constraints _nearest _outlier_rule",
)
PLAIN: dict[str, Any] = {"int": int, "str": str, "bool": bool, "tuple": tuple, "dict": dict}
PLAIN |= {"plain": (int, float, str, tuple, type(None))}


def check_kind(value: Any, kind: str, where: str) -> None:
    """Refuse a value that is not of the kind that a record's field names."""
    if kind.endswith("?"):
        if value is None:
            return
        kind = kind[:-1]
    if kind.startswith("["):
        check_kind(value, "list", where)
        for item in value:
            check_kind(item, kind[1:-1], where)
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
        return isinstance(value, PLAIN[kind])
    return type(value) in NAMES and NAMES[type(value)] in kind.split("|")
