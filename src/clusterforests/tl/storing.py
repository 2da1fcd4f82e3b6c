"""What a forest found, put into an AnnData in forms that its files can hold."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from clusterforests._base.typing import FloatArray, IndexArray
from clusterforests.forest.automatic_settings import Setting
from clusterforests.forest_view import ForestView

PLAIN = (str, bool, int, float)


def store(
    adata: Any,
    view: ForestView,
    key: str,
    genes: IndexArray | None,
    params: Mapping[str, Any],
    chosen: Mapping[str, Setting],
) -> None:
    """Write labels, memberships, features and how they came about; replace those of an earlier run.

    `params` are what the user gave, `chosen` what was chosen for this table.
    """
    import pandas

    names = list(map(str, range(view.n_clusters)))
    codes = view.labels if view.outliers is None else np.where(view.outliers, -1, view.labels)  # -1 becomes NaN
    adata.obs[key] = pandas.Categorical.from_codes(codes, categories=names, ordered=True)
    adata.obs[f"{key}_consensus"] = view.item_consensus()
    adata.obsm[f"{key}_memberships"] = view.memberships()
    facts = _facts(view, params, chosen)
    features = {"importance": view.feature_importances, "pvalue": view.feature_pvalues}
    for title, values in features.items():
        column = f"{key}_{title}"
        if genes is not None:
            adata.var[column] = _of_all_genes(values, genes, adata.n_vars)
        else:
            facts[f"feature_{title}s"] = values
            adata.var.drop(columns=column, errors="ignore", inplace=True)
    adata.uns[key] = facts


def _of_all_genes(values: FloatArray, genes: IndexArray, n_genes: int) -> FloatArray:
    """Place the values of the genes that were used; the others have none."""
    placed = np.full(n_genes, np.nan)
    placed[genes] = values
    return placed


def _facts(view: ForestView, params: Mapping[str, Any], chosen: Mapping[str, Setting]) -> dict[str, Any]:
    """Collect what belongs to the table as a whole."""
    import pandas

    settings = {name: (str(setting.value), setting.reason) for name, setting in {**view.settings, **chosen}.items()}
    facts: dict[str, Any] = {
        "params": {name: _plain(value) for name, value in params.items() if value is not None},
        "n_clusters": view.n_clusters,
        "reason": view.settings["n_clusters"].reason,
        "selection": pandas.DataFrame.from_dict(settings, orient="index", columns=["value", "reason"]),
        "cluster_consensus": view.cluster_consensus(),
    }
    if view.n_clusters_evidence is not None:
        facts["evidence"] = view.n_clusters_evidence.to_frame().reset_index()
        facts["evidence"].index = facts["evidence"].index.astype(str)
    return facts


def _plain(value: Any) -> Any:
    """Return a parameter as numbers or text, which files can hold."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, PLAIN) else str(value)
