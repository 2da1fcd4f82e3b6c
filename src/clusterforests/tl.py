"""Tools for AnnData, in the manner of scanpy's `tl`."""

import numbers
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from clusterforests._utils.arrays import BoolArray, IndexArray
from clusterforests._utils.devices import in_memory
from clusterforests.estimator import ClusterForest
from clusterforests.table.row_sources import open_array
from clusterforests.trees.settings import Setting

__all__ = ["cluster_forest"]

# Which table of an AnnData is clustered, opened without reading what is in a file.

VARIABLE = "highly_variable"
ONE_SCALE = Setting("none", "components have one scale: what varies more counts more")
ALL_COMPONENTS = Setting(False, "components are few, and one alone may show a rare kind")


class CellTable(NamedTuple):
    """A table with a row for each cell, and the genes that its columns are: None if they are something else."""

    values: Any
    genes: IndexArray | None


def check_anndata(adata: Any) -> None:
    """Refuse what is no AnnData."""
    anndata: Any = sys.modules.get("anndata")
    if anndata is None or not isinstance(adata, anndata.AnnData):
        raise TypeError(
            f"adata must be an AnnData object, not {type(adata).__name__}. For an array or a data frame use "
            "ClusterForest(...).fit(X)."
        )


def choose_table(adata: Any, layer: str | None, use_rep: str | None, mask_var: Any) -> CellTable:
    """Find the table that the parameters of `cluster_forest` name."""
    if use_rep is not None and use_rep != "X":
        _refuse_beside(use_rep, layer, mask_var)
        return CellTable(_entry(adata.obsm, "use_rep", use_rep, "adata.obsm"), None)
    values = adata.X if layer is None else _entry(adata.layers, "layer", layer, "adata.layers")
    if values is None:
        raise ValueError("adata has no X. Name a table with layer= or use_rep=.")
    mask = _mask(adata, mask_var)
    if mask is None:
        return CellTable(open_array(values), np.arange(adata.n_vars))
    genes = np.flatnonzero(mask)
    if not len(genes):
        raise ValueError(f"mask_var={_shown(mask_var)} selects no gene. Pass mask_var=None to use all genes.")
    return CellTable(open_array(values, genes), genes)


def settings_for_components(n_clusters: Any, given: Mapping[str, Any]) -> dict[str, Setting]:
    """Choose the settings for components, such as those of `scanpy.pp.pca`, that are not given.

    Where the number of clusters is chosen, components that are not informative are left out: they would hide clusters.
    """
    fixed = isinstance(n_clusters, numbers.Integral)
    chosen = {"scale": ONE_SCALE} | ({"select_features": ALL_COMPONENTS} if fixed else {})
    return {name: setting for name, setting in chosen.items() if name not in given}


def _refuse_beside(use_rep: str, layer: str | None, mask_var: Any) -> None:
    if layer is not None:
        raise ValueError(f"use_rep={use_rep!r} and layer={layer!r} name two tables. Leave one of them out.")
    if not (mask_var is None or (isinstance(mask_var, str) and mask_var == "auto")):
        raise ValueError(
            f"mask_var={_shown(mask_var)} selects genes, but the columns of use_rep={use_rep!r} are no genes. Leave "
            "one of them out."
        )


def _entry(tables: Mapping[str, Any], parameter: str, name: str, where: str) -> Any:
    if name not in tables:
        known = ", ".join(repr(key) for key in tables if key is not None) or "no table"  # anndata 0.13 lists X as None
        raise ValueError(f"{parameter}={name!r} is not in {where}, which has {known}.")
    return tables[name]


def _mask(adata: Any, mask_var: Any) -> BoolArray | None:
    """Return which genes are used; None for all."""
    if isinstance(mask_var, str) and mask_var == "auto":
        mask_var = VARIABLE if VARIABLE in adata.var else None
    if mask_var is None:
        return None
    if isinstance(mask_var, str):
        mask_var = _entry(adata.var, "mask_var", mask_var, "adata.var")
    mask = np.asarray(mask_var)
    if mask.dtype != bool or mask.shape != (adata.n_vars,):
        raise ValueError(
            f"mask_var must name a column of adata.var, or hold True or False for each of its {adata.n_vars} genes; it "
            f"is an array of {mask.dtype} with shape {mask.shape}."
        )
    return mask


def _shown(mask_var: Any) -> str:
    return repr(mask_var) if isinstance(mask_var, str) else f"an array of {np.shape(mask_var)}"


# What a forest found, put into an AnnData in forms that its files can hold.

PLAIN = (str, bool, int, float)


def store(
    adata: Any,
    forest: ClusterForest,
    key: str,
    genes: IndexArray | None,
    params: Mapping[str, Any],
    chosen: Mapping[str, Setting],
) -> None:
    """Write labels, memberships, features and how they came about; replace those of an earlier run.

    `params` are what the user gave, `chosen` what was chosen for this table.
    """
    import pandas

    # Of each cell: its cluster, how sure it is, and its memberships.
    names = list(map(str, range(forest.n_clusters_)))
    labels = in_memory(forest.labels_)  # -1 becomes NaN
    adata.obs[key] = pandas.Categorical.from_codes(labels, categories=names, ordered=True)
    adata.obs[f"{key}_consensus"] = in_memory(forest.item_consensus_)
    adata.obsm[f"{key}_memberships"] = in_memory(forest.memberships_)
    # Of the clustering: what was asked, what was chosen, and why.
    settings = {name: (str(value.value), value.reason) for name, value in {**forest.chosen_params_, **chosen}.items()}
    facts: dict[str, Any] = {
        "params": {name: _plain(value) for name, value in params.items() if value is not None},
        "n_clusters": int(forest.n_clusters_),
        "reason": forest.chosen_params_["n_clusters"].reason,
        "chosen_params": pandas.DataFrame.from_dict(settings, orient="index", columns=["value", "reason"]),
        "cluster_consensus": in_memory(forest.cluster_consensus_),
    }
    if forest.n_clusters_evidence_ is not None:
        facts["evidence"] = forest.n_clusters_evidence_.to_frame().reset_index()
        facts["evidence"].index = facts["evidence"].index.astype(str)
    # Of each gene, where the features are genes: its importance and p-value.
    for title, values in {"importance": forest.feature_importances_, "pvalue": forest.feature_pvalues_}.items():
        column = f"{key}_{title}"
        if genes is None:
            facts[f"feature_{title}s"] = values
            adata.var.drop(columns=column, errors="ignore", inplace=True)
        else:
            placed = np.full(adata.n_vars, np.nan)
            placed[genes] = values
            adata.var[column] = placed
    adata.uns[key] = facts


def _plain(value: Any) -> Any:
    """Return a parameter as numbers or text, which files can hold."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, PLAIN) else str(value)


def cluster_forest(
    adata: Any,
    n_clusters: Any = "auto",
    *,
    layer: str | None = None,
    use_rep: str | None = None,
    mask_var: Any = "auto",
    key_added: str = "cluster_forest",
    random_state: Any = 0,
    n_jobs: int | None = None,
    copy: bool = False,
    **settings: Any,
) -> Any:
    """Cluster the cells of an AnnData with `ClusterForest`.

    The rows of a backed file are read in blocks if there are more than 65,536, so X is never in memory as a whole.

    Parameters
    ----------
    adata : AnnData
        Cells in rows, usually normalised and with logarithms taken.
    n_clusters : int, "auto" or sequence of int, default="auto"
        Number of clusters, or several numbers to choose from; "auto" chooses from 1 to 50.
    layer : str or None, default=None
        The table of `adata.layers` to cluster instead of `adata.X`.
    use_rep : str or None, default=None
        The table of `adata.obsm` to cluster instead of genes, such as "X_pca". None or "X" means genes. Its columns
        are taken as components of one scale: `scale="none"` and, if `n_clusters` is one number,
        `select_features=False`, unless `settings` say otherwise.
    mask_var : "auto", str, array of bool or None, default="auto"
        The genes to use: a mask, or the name of a column of `adata.var` that holds one. None uses all genes; "auto"
        uses the column "highly_variable" if there is one, as `scanpy.pp.pca` does.
    key_added : str, default="cluster_forest"
        The name under which results are stored.
    random_state : int, RandomState instance or None, default=0
        Determines the result: the same number gives the same clusters.
    n_jobs : int or None, default=None
        Number of threads; -1 means all processors. It does not change the result.
    copy : bool, default=False
        Whether to return a copy with the results instead of adding them to `adata`.
    **settings
        Other parameters of `ClusterForest`.

    Returns
    -------
    adata : AnnData or None
        The copy if `copy`, otherwise None. These are added, here with the default of `key_added`:

        `adata.obs["cluster_forest"]`
            Ordered categories "0", "1", ...: the cluster of each cell; "0" is the largest. NaN for outliers, the cells
            that belong to no cluster, if `outliers` is given.
        `adata.obs["cluster_forest_consensus"]`
            The membership of each cell in its own cluster: low for ambiguous cells.
        `adata.obsm["cluster_forest_memberships"]`
            The membership of each cell in each cluster; rows sum to 1.
        `adata.var["cluster_forest_importance"]`, `adata.var["cluster_forest_pvalue"]`
            How informative each gene is, and the test behind it; NaN for genes that were not used. With `use_rep` they
            are `feature_importances` and `feature_pvalues` of the next entry.
        `adata.uns["cluster_forest"]`
            `params`, `n_clusters` and the `reason` for it, `chosen_params` (every setting and why), `cluster_consensus`
            and, if the number of clusters was chosen, its `evidence`.

    Examples
    --------
    >>> import anndata, numpy
    >>> import clusterforests as cf
    >>> rng = numpy.random.default_rng(0)
    >>> adata = anndata.AnnData(rng.normal(numpy.repeat([[0], [4]], 50, axis=0), size=(100, 5)))
    >>> cf.tl.cluster_forest(adata, 2)
    >>> adata.obs["cluster_forest"].value_counts().tolist()
    [50, 50]
    """
    check_anndata(adata)
    if not isinstance(key_added, str) or not key_added:
        raise ValueError(f"key_added={key_added!r} must be text: the name under which results are stored.")
    if copy:
        adata = adata.copy()
    table = choose_table(adata, layer, use_rep, mask_var)
    chosen = {} if table.genes is not None else settings_for_components(n_clusters, settings)
    values = {name: setting.value for name, setting in chosen.items()} | settings
    forest = ClusterForest(n_clusters, n_jobs=n_jobs, random_state=random_state, **values).fit(table.values)
    asked = {"n_clusters": n_clusters, "layer": layer, "use_rep": use_rep, "random_state": random_state, **settings}
    asked["mask_var"] = mask_var if isinstance(mask_var, str) or mask_var is None else "given as an array"
    store(adata, forest, key_added, table.genes, asked, chosen)
    return adata if copy else None
