"""The classes and values that a model file may hold, and what each must look like."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from clusterforests._utils.arrays import AnyArray
from clusterforests._utils.validation import MAX_MEMBERS
from clusterforests.backends import Coordinates
from clusterforests.consensus.affinity import Signatures
from clusterforests.consensus.assignment import Sizes
from clusterforests.consensus.constraints import Constraints, RowConstraints
from clusterforests.consensus.normalized_cut import CutNode, CutTree
from clusterforests.consensus.outliers import OUTLIER, OutlierRule
from clusterforests.consensus.placement import (
    Embedding,
    Links,
    MostLinked,
    MostShared,
    NearestNode,
    Placement,
    Shares,
    Walk,
)
from clusterforests.judge.evidence import NClustersEvidence
from clusterforests.rows.new_rows import Predictor
from clusterforests.table.checks import FittedTable
from clusterforests.table.encoding import Encoding
from clusterforests.table.feature_columns import FeatureColumns
from clusterforests.table.imputation import Donors
from clusterforests.table.scaling import Projections, Scaling
from clusterforests.table.sparse_reduction import Reduction
from clusterforests.trees.forest import FittedTrees
from clusterforests.trees.settings import Setting


class Record(NamedTuple):
    """A class that a model file may hold, and what its fields hold.

    "float64/2" is an array of that type with two dimensions, "signed/1" one of signed integers of any size. [X] is a
    list of X, a capitalised name is another record, | means "or", and ? means that it may be None.
    """

    make: Callable[..., Any]
    fields: dict[str, str]


def _record(make: Callable[..., Any], fields: str) -> Record:
    return Record(make, dict(pair.split(":") for pair in fields.split()))


def table_of(n_features: int, names: Any) -> FittedTable:
    """Make what new rows are compared with: the number of columns, and their names if they had any."""
    table = FittedTable()
    table.n_features_in_ = n_features
    if names is not None:
        table.feature_names_in_ = names
    return table


def _predictor(**fields: Any) -> Predictor:
    """Make what new rows need; the table's columns are stored beside it."""
    return Predictor(table=FittedTable(), **fields)


RECORDS = {
    "Coordinates": _record(Coordinates, "exponent:int32/1 origin:float64/1 reach:int32/1"),
    "Trees": _record(FittedTrees, "columns:[signed/1] centers:[float64/2] coordinates:Coordinates"),
    "Views": _record(FeatureColumns, "first:signed/2 widths:int32/1 drawable:int32/1"),
    "Scaling": _record(
        Scaling,
        "views:Views exponent:int32/2 shift:float64/2 divisor:float64/2 ranked:uint8/2 starts:int64/1 knots:float64/1 "
        "ranks:float64/1 projections:Projections sources:int32/1?",
    ),
    "Reduction": _record(Reduction, "vectors:float64/2"),
    "Projections": _record(Projections, "starts:int64/1 columns:int32/1 coefficients:float64/1"),
    "Encoding": _record(Encoding, "names:tuple? n_features:int levels:dict orders:dict dates:tuple"),
    "Donors": _record(
        Donors,
        "values:float64/2 weights:float64/1 first:int32/1 widths:int32/1 exponents:int32/1 scales:float64/1 "
        "means:float64/1",
    ),
    "Signatures": _record(Signatures, "labels:signed/2 inverse:signed/1 weights:float64/1 values:float64/2?"),
    "Shares": _record(Shares, "first:int64/1 together:float64/2 clustered:float64/2"),
    "Links": _record(Links, "threshold:plain scale:plain"),
    "Walk": _record(Walk, "links:Links node_weights:float64/2 cutoffs:float64/1 children:int32/2"),
    "Embedding": _record(Embedding, "links:Links node_weights:float64/2 length:plain centers:float64/2"),
    "MostShared": _record(MostShared, "shares:Shares"),
    "MostLinked": _record(MostLinked, "links:Links node_weights:float64/2"),
    "NearestNode": _record(NearestNode, "node_groups:int32/1"),
    "Placement": _record(
        Placement,
        "nodes:Signatures groups:int32/1 rule:Walk|Embedding|MostShared|MostLinked|NearestNode fixed_nodes:int32/1 "
        "group_to_cluster:int32/1 shares:Shares",
    ),
    "CutNode": _record(
        CutNode,
        "members:signed/1 size:plain left:int right:int vector:float64/1 degrees:float64/1 ncut:plain label:int",
    ),
    "CutTree": _record(CutTree, "nodes:[CutNode]"),
    "Setting": _record(Setting, "value:plain reason:str"),
    "RowConstraints": _record(RowConstraints, "unit:int64/1 apart:int64/2 classes:tuple"),
    "Sizes": _record(Sizes, "least:plain most:plain"),
    "Constraints": _record(Constraints, "of_rows:RowConstraints? sizes:Sizes total:plain heavy:int"),
    "OutlierRule": _record(
        OutlierRule,
        "columns:int32/1 scale:float64/1 centers:float64/2 roots:float64/2 middles:float64/1 widths:float64/1 "
        "level:plain spared:tuple",
    ),
    "Predictor": _record(
        _predictor,
        "encoding:Encoding donors:Donors? reduction:Reduction? scaling:Scaling trees:Trees placement:Placement "
        "outliers:OutlierRule?",
    ),
    "Evidence": _record(NClustersEvidence, "n_clusters:int candidates:tuple evidence:dict reason:str columns:signed/1"),
}
NAMES = {record.make: name for name, record in RECORDS.items()} | {Predictor: "Predictor"}

STATE = _record(
    dict,
    "labels_:int32/1 n_clusters_:int partitions_:signed/2 estimators_features_:[signed/1] kappas_:float64/1 "
    "kappa_path_:float64/2 feature_importances_:float64/1 feature_pvalues_:float64/1 chosen_params_:dict "
    "n_clusters_evidence_:Evidence? dominant_features_:dict cut_tree_:CutTree? n_iter_:int n_features_in_:int "
    "_weights:float64/1? _nearest:int32/1? _constraints:Constraints? _predictor:Predictor",
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


# Whether the parts of a loaded model fit together, as far as the compiled core does not check it itself.
#
# It refuses scalings, trees, donors and tables of shares with wrong sizes or indices when it is given them.


def check_consistency(state: Mapping[str, Any], names: list[str] | None) -> None:
    """Raise a ValueError for the first part that does not fit the others."""
    n_trees, n_rows = state["partitions_"].shape
    p, k = state["n_features_in_"], state["n_clusters_"]
    _require(0 < n_trees <= MAX_MEMBERS and n_rows > 0, "the number of trees")
    _require(p >= 1 and k >= 1 and state["n_iter_"] >= 0, "the numbers of features, clusters and rounds")
    _require(names is None or len(names) == p, "the number of feature names")
    _check_lengths(state, n_trees, n_rows, p)
    _check_outliers(state, n_rows, k)
    _require(_between(state["partitions_"], 0, None), "partitions")
    _require(all(len(f) > 0 and _between(f, 0, p) for f in state["estimators_features_"]), "features of the trees")
    _check_choices(state)
    predictor = state["_predictor"]
    _check_columns(predictor, len(state["estimators_features_"]), p)
    _check_placement(predictor.placement, n_trees, n_rows, k)
    if state["_constraints"] is not None:
        _check_constraints(state["_constraints"], n_rows)
    if state["cut_tree_"] is not None:
        _check_cuts(state["cut_tree_"], len(predictor.placement.nodes), k)


def _require(fits: Any, what: str) -> None:
    if not fits:
        raise ValueError(f"{what} do not fit the rest")


def _between(values: AnyArray, low: int, high: int | None) -> bool:
    return not values.size or bool(values.min() >= low and (high is None or values.max() < high))


def _check_lengths(state: Mapping[str, Any], n_trees: int, n_rows: int, p: int) -> None:
    _require(len(state["labels_"]) == n_rows, "labels")
    _require(len(state["kappas_"]) == n_trees, "kappas")
    _require(len(state["estimators_features_"]) == n_trees, "features of the trees")
    _require(len(state["feature_importances_"]) == len(state["feature_pvalues_"]) == p, "feature importances")
    _require(state["_weights"] is None or len(state["_weights"]) == n_rows, "weights of the rows")


def _check_choices(state: Mapping[str, Any]) -> None:
    for name, choice in state["chosen_params_"].items():
        _require(isinstance(name, str) and isinstance(choice, Setting), "settings")
    _require({"consensus", "n_clusters", "n_landmarks", "scale"} <= set(state["chosen_params_"]), "settings")
    evidence = state["n_clusters_evidence_"]
    if evidence is not None:
        columns = evidence.evidence.values()
        fits = [isinstance(c, np.ndarray) and c.shape == (len(evidence.candidates),) for c in columns]
        _require(all(fits) and all(isinstance(c, int) for c in evidence.candidates), "candidates for n_clusters")


def _check_columns(predictor: Predictor, n_trees: int, p: int) -> None:
    """Check the features, the columns they are encoded as, and the columns of the scaled table."""
    encoding, scaling, trees = predictor.encoding, predictor.scaling, predictor.trees
    _require(encoding.n_features == p and (encoding.names is None or len(encoding.names) == p), "encoded features")
    _require(all(type(j) is int and 0 <= j < p for j in encoding.dates), "dates")
    _require(encoding.levels.keys().isdisjoint(encoding.orders), "levels of categories")
    for j, levels in (*encoding.levels.items(), *encoding.orders.items()):
        _require(type(j) is int and 0 <= j < p and isinstance(levels, tuple), "levels of categories")
        plain = all(isinstance(level, (str, int, float)) for level in levels)
        _require(plain and len(set(levels)) == len(levels), "levels of categories")
    # The columns that the features are encoded as, or their components.
    _, widths = encoding._column_ranges()
    p = len(widths)
    if predictor.reduction is not None:
        vectors = predictor.reduction.vectors
        _require(
            len(vectors) == encoding.n_features and not encoding.levels and np.isfinite(vectors).all(), "components"
        )
        p = vectors.shape[1]
        widths = np.ones(p, np.int32)
    # The scaled columns of each view, and what fills missing cells.
    count, views = int(widths.sum()), scaling.views
    n_views, scaled = len(scaling.exponent), scaling.exponent.shape[1]
    width = scaled * max(1, n_views)
    _check_sources(scaling.sources, scaled, count)
    scaling.core()  # refuses whatever else does not fit
    if predictor.donors is not None:
        predictor.donors.fill(np.full((1, count), np.nan), 1)  # so does this
    _require(views.first.shape == (max(1, n_views), p) and np.array_equal(views.widths, widths), "views")
    _require(_between(views.drawable, 0, p), "views")
    drawn = views.first[:, views.drawable]
    _require(_between(drawn, 0, width) and _between(drawn + widths[views.drawable], 0, width + 1), "views")
    # The columns and centres of each tree.
    _require(len(trees.columns) == len(trees.centers) == n_trees, "centres of the trees")
    _require(
        all(len(c) > 0 and _between(c, 0, width + len(scaling.projections)) for c in trees.columns),
        "columns of the trees",
    )
    _require(all(c.shape[1] == len(own) for c, own in zip(trees.centers, trees.columns, strict=True)), "the centres")


def _check_sources(sources: AnyArray | None, scaled: int, count: int) -> None:
    """Check the columns of the encoded table that are scaled."""
    if sources is None:
        _require(scaled == count, "steps of the scaling")
        return
    _require(len(sources) == scaled > 0 and _between(sources, 0, count), "columns of the scaling")


def _check_placement(placement: Placement, n_trees: int, n_rows: int, k: int) -> None:
    nodes, m = placement.nodes, len(placement.nodes)
    _require(m > 0 and nodes.labels.shape == (n_trees, m) and _between(nodes.labels, -1, None), "nodes")
    _require(_between(nodes.inverse, 0, m), "rows of the nodes")
    known = nodes.values is None or (len(nodes.values) == m and bool(np.isfinite(nodes.values).all()))
    _require(known, "values of the nodes")
    _require(len(placement.groups) == m and _between(placement.groups, 0, k), "groups of the nodes")
    _require(_between(placement.fixed_nodes, 0, m), "fixed nodes")
    _require(
        len(placement.group_to_cluster) == k and sorted(placement.group_to_cluster.tolist()) == list(range(k)),
        "clusters of the groups",
    )
    _check_shares(placement.shares, k)
    rule = placement.rule
    if isinstance(rule, MostShared):
        _check_shares(rule.shares, k)
    elif isinstance(rule, NearestNode):
        _require(len(rule.node_groups) == m and _between(rule.node_groups, 0, k), "groups of the nodes")
    elif isinstance(rule, MostLinked):
        _require(rule.node_weights.shape == (k, m), "links of the groups")
    elif isinstance(rule, Embedding):
        _require(rule.centers.shape == (k, len(rule.node_weights)), "the embedding's parts")
    elif isinstance(rule, Walk):
        cuts = len(rule.cutoffs)
        _require(len(rule.node_weights) == 2 * cuts and rule.children.shape == (cuts, 2), "cuts")
        _require(_between(rule.children, -k, max(cuts, 1)), "cuts")
        # A cut comes before those that follow it, so that every walk ends.
        later = (rule.children < 0) | (rule.children > np.arange(cuts)[:, None])
        _require(later.all(), "cuts")


def _check_outliers(state: Mapping[str, Any], n_rows: int, k: int) -> None:
    labels, nearest, rule = state["labels_"], state["_nearest"], state["_predictor"].outliers
    _require((nearest is None) == (rule is None), "outliers")
    _require(_between(labels, 0 if rule is None else OUTLIER, k), "labels")
    if rule is None:
        return
    _require(len(nearest) == n_rows and _between(nearest, 0, k), "outliers")
    _require(((labels == OUTLIER) | (labels == nearest)).all(), "outliers")
    _require(all(isinstance(cluster, int) and 0 <= cluster < k for cluster in rule.spared), "outliers")
    d, shapes = len(rule.columns), len(rule.centers)
    width = state["_predictor"].scaling.width
    _require(_between(rule.columns, 0, width) and len(rule.scale) == d and (rule.scale > 0).all(), "outliers")
    _require(rule.centers.shape == (shapes, d) and rule.roots.shape == (shapes * d, d), "outliers")
    _require(len(rule.middles) == len(rule.widths) == shapes and (rule.widths > 0).all(), "outliers")
    sound = all(np.isfinite(part).all() for part in (rule.scale, rule.centers, rule.roots, rule.middles, rule.widths))
    _require(sound and (rule.roots[np.arange(shapes * d), np.tile(np.arange(d), shapes)] > 0).all(), "outliers")


def _check_constraints(constraints: Constraints, n_rows: int) -> None:
    least, most = constraints.sizes
    _require(least >= 0 and most >= least and constraints.total > 0, "sizes of clusters")
    of_rows = constraints.of_rows
    if of_rows is not None:
        units = of_rows.n_units
        _require(len(of_rows.unit) == n_rows and _between(of_rows.unit, -1, None) and units > 0, "known rows")
        _require(len(np.unique(of_rows.rows)) >= units >= len(of_rows.classes), "known classes")
        _require(len(np.unique(of_rows.unit[of_rows.rows])) == units, "known rows")
        _require(of_rows.apart.shape[1] == 2 and _between(of_rows.apart, 0, units), "rows that are apart")
        plain = all(isinstance(name, (str, int, float)) for name in of_rows.classes)
        _require(plain and len(set(of_rows.classes)) == len(of_rows.classes), "known classes")


def _check_shares(shares: Shares, k: int) -> None:
    first = shares.first
    _require(shares.together.shape[1] == shares.clustered.shape[1] == k, "shares")
    _require(len(first) > 0 and first[0] == 0 and (np.diff(first) >= 0).all(), "shares")
    _require(first[-1] == len(shares.together), "shares")


def _check_cuts(tree: CutTree, m: int, k: int) -> None:
    nodes = len(tree.nodes)
    _require(nodes > 0 and len(tree.nodes[0].members) == m, "the cut tree's nodes")
    for i, node in enumerate(tree.nodes):
        leaf = node.left < 0
        _require(leaf == (node.right < 0), "the cut tree's nodes")
        _require(leaf or (i < node.left < nodes and i < node.right < nodes), "the cut tree's nodes")
        _require(_between(node.members, 0, m) and node.label < k and (node.label >= 0) == leaf, "the cut tree's nodes")
        measured = len(node.vector) == len(node.degrees) and len(node.vector) in (0, len(node.members))
        _require(measured, "the cut tree's nodes")
