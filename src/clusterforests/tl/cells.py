"""Cluster the cells of an AnnData."""

from typing import Any

from clusterforests.estimator import ClusterForest
from clusterforests.forest_view import view_of
from clusterforests.tl.choosing import check_anndata, choose_table, settings_for_components
from clusterforests.tl.storing import store


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
        `noise_features="keep"`, unless `settings` say otherwise.
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
            The membership of each cell in its own cluster: low for doubtful cells.
        `adata.obsm["cluster_forest_memberships"]`
            The membership of each cell in each cluster; rows sum to 1.
        `adata.var["cluster_forest_importance"]`, `adata.var["cluster_forest_pvalue"]`
            How much each gene tells, and the test behind it; NaN for genes that were not used. With `use_rep` they are
            `feature_importances` and `feature_pvalues` of the next entry.
        `adata.uns["cluster_forest"]`
            `params`, `n_clusters` and the `reason` for it, `selection` (every setting and why), `cluster_consensus`
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
    store(adata, view_of(forest), key_added, table.genes, asked, chosen)
    return adata if copy else None
