"""Which table of an AnnData is clustered, opened without reading what is in a file."""

import numbers
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from clusterforests._base.typing import BoolArray, IndexArray
from clusterforests.forest.automatic_settings import Setting
from clusterforests.tables.stored_table import open_table

VARIABLE = "highly_variable"
ONE_SCALE = Setting("none", "components have one scale: what varies more tells more")
ALL_COMPONENTS = Setting("keep", "components are few, and one alone may tell a rare kind apart")


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
        return CellTable(open_table(values), np.arange(adata.n_vars))
    genes = np.flatnonzero(mask)
    if not len(genes):
        raise ValueError(f"mask_var={_shown(mask_var)} selects no gene. Pass mask_var=None to use all genes.")
    return CellTable(open_table(values, genes), genes)


def settings_for_components(n_clusters: Any, given: Mapping[str, Any]) -> dict[str, Setting]:
    """Choose the settings for components, such as those of `scanpy.pp.pca`, that are not given.

    Where the number of clusters is chosen, components that do not tell are left out: they would hide clusters.
    """
    fixed = isinstance(n_clusters, numbers.Integral)
    chosen = {"scale": ONE_SCALE} | ({"noise_features": ALL_COMPONENTS} if fixed else {})
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
