"""The clusters of cells in scanpy, where it is installed."""

import warnings

import anndata
import numpy as np
import pytest
from cells import draw_cells
from sklearn.metrics import adjusted_rand_score

import clusterforests as cf


@pytest.fixture(scope="module")
def scanpy():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the packages that scanpy imports
        return pytest.importorskip("scanpy")


@pytest.fixture(scope="module")
def adata(scanpy):
    counts, kinds = draw_cells(400, 300, seed=1)
    adata = anndata.AnnData(counts)
    adata.obs["kind"] = kinds.astype(str)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scanpy.pp.normalize_total(adata)
        scanpy.pp.log1p(adata)
        scanpy.pp.highly_variable_genes(adata, n_top_genes=150)
        scanpy.pp.pca(adata, n_comps=20)
    return adata


def test_a_usual_analysis(scanpy, adata):
    cf.tl.cluster_forest(adata, 8, use_rep="X_pca", n_estimators=50)
    assert adjusted_rand_score(adata.obs["kind"], adata.obs["cluster_forest"]) > 0.9
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scanpy.tl.rank_genes_groups(adata, "cluster_forest", method="wilcoxon")
        axes = scanpy.pl.pca(adata, color=["cluster_forest", "cluster_forest_consensus"], show=False)
    assert adata.uns["rank_genes_groups"]["names"].dtype.names == tuple(adata.obs["cluster_forest"].cat.categories)
    assert len(axes) == 2


def test_the_genes_are_those_that_pca_takes(scanpy, adata):
    cf.tl.cluster_forest(adata, 8, n_estimators=50)
    used = ~adata.var["cluster_forest_importance"].isna()
    assert np.array_equal(used, adata.var["highly_variable"])
    assert np.array_equal(used, (adata.varm["PCs"] != 0).any(axis=1))
