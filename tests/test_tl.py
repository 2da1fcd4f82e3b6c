"""`clusterforests.tl.cluster_forest` with AnnData in memory and in files."""

import warnings

import anndata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

import clusterforests as cf
from clusterforests import ClusterForest
from clusterforests._utils.memory import SizeLimits

KEY = "cluster_forest"
FEW_TREES = {"n_estimators": 20}
KINDS = np.repeat([0, 1, 2], [60, 40, 20])


def make_cells(wrap=np.asarray, n_genes=30, empty=0.0):
    """Draw three kinds of cells, the first ten genes informative; set a share of the cells to 0."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(len(KINDS), n_genes))
    X[:, :10] += 6.0 * np.eye(3, 10)[KINDS] + 4.0 * (KINDS[:, None] == 1)
    X[rng.random(X.shape) < empty] = 0.0
    adata = anndata.AnnData(wrap(X.astype(np.float32)))
    adata.var["chosen"] = np.arange(n_genes) < 12
    adata.layers["shifted"] = adata.X + 1.0 if not sparse.issparse(adata.X) else adata.X * 2.0
    adata.obsm["X_some"] = X[:, :5]
    return adata


@pytest.fixture
def adata():
    return make_cells()


@pytest.fixture
def few_rows_are_many(monkeypatch):
    monkeypatch.setattr(ClusterForest, "_limits", SizeLimits(large_rows=50, least_block_rows=16, block_bytes=1))


def test_results_are_where_scanpy_puts_them(adata):
    assert cf.tl.cluster_forest(adata, 3, **FEW_TREES) is None
    forest = ClusterForest(3, random_state=0, **FEW_TREES).fit(adata.X)
    labels = adata.obs[KEY]
    assert labels.cat.ordered
    assert labels.cat.categories.tolist() == ["0", "1", "2"]
    assert labels.astype(int).tolist() == forest.labels_.tolist()
    assert adjusted_rand_score(KINDS, labels) == 1.0
    assert np.array_equal(adata.obsm[f"{KEY}_memberships"], forest.memberships_)
    assert np.array_equal(adata.obs[f"{KEY}_consensus"], forest.item_consensus_)
    assert np.array_equal(adata.var[f"{KEY}_importance"], forest.feature_importances_)
    assert np.array_equal(adata.var[f"{KEY}_pvalue"], forest.feature_pvalues_)
    facts = adata.uns[KEY]
    assert facts["n_clusters"] == 3
    assert np.array_equal(facts["cluster_consensus"], forest.cluster_consensus_)
    assert facts["params"] == {"n_clusters": 3, "random_state": 0, "mask_var": "auto", **FEW_TREES}
    assert facts["chosen_params"].loc["scale", "reason"] == forest.chosen_params_["scale"].reason
    assert "evidence" not in facts


@pytest.mark.parametrize("n_clusters", ["auto", range(2, 5)])
def test_results_survive_a_file(adata, tmp_path, n_clusters):
    cf.tl.cluster_forest(adata, n_clusters, scale="standard", **FEW_TREES)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    back = anndata.read_h5ad(tmp_path / "cells.h5ad")
    pd.testing.assert_frame_equal(back.obs, adata.obs)
    pd.testing.assert_frame_equal(back.var, adata.var)
    assert np.array_equal(back.obsm[f"{KEY}_memberships"], adata.obsm[f"{KEY}_memberships"])
    wrote, read = adata.uns[KEY], back.uns[KEY]
    assert wrote.keys() == read.keys()
    assert {name: str(value) for name, value in read["params"].items()} == {
        name: str(value) for name, value in wrote["params"].items()
    }
    for frame in ("chosen_params", "evidence"):
        pd.testing.assert_frame_equal(read[frame], wrote[frame])
    assert (read["n_clusters"], read["reason"]) == (wrote["n_clusters"], wrote["reason"])
    assert np.array_equal(read["cluster_consensus"], wrote["cluster_consensus"])


def test_genes_that_are_not_used_have_no_importance(adata):
    adata.var["highly_variable"] = adata.var["chosen"]
    cf.tl.cluster_forest(adata, 3, **FEW_TREES)
    chosen = adata.var["chosen"].to_numpy()
    forest = ClusterForest(3, random_state=0, **FEW_TREES).fit(adata.X[:, chosen])
    assert np.array_equal(adata.var[f"{KEY}_importance"].isna(), ~chosen)
    assert np.array_equal(adata.var[f"{KEY}_importance"][chosen], forest.feature_importances_)
    everything = cf.tl.cluster_forest(adata, 3, mask_var=None, copy=True, **FEW_TREES)
    assert not everything.var[f"{KEY}_importance"].isna().any()
    for mask in ("chosen", chosen, chosen.tolist()):
        named = cf.tl.cluster_forest(adata, 3, mask_var=mask, copy=True, **FEW_TREES)
        pd.testing.assert_series_equal(named.var[f"{KEY}_importance"], adata.var[f"{KEY}_importance"])


def test_layers_and_representations(adata):
    cf.tl.cluster_forest(adata, 3, layer="shifted", key_added="layer", **FEW_TREES)
    forest = ClusterForest(3, random_state=0, **FEW_TREES).fit(adata.layers["shifted"])
    assert np.array_equal(adata.var["layer_importance"], forest.feature_importances_)
    cf.tl.cluster_forest(adata, 3, use_rep="X_some", key_added="layer", **FEW_TREES)
    forest = ClusterForest(3, scale="none", select_features=False, random_state=0, **FEW_TREES)
    forest.fit(adata.obsm["X_some"])
    assert adata.obs["layer"].astype(int).tolist() == forest.labels_.tolist()
    assert np.array_equal(adata.uns["layer"]["feature_importances"], forest.feature_importances_)
    assert np.array_equal(adata.uns["layer"]["feature_pvalues"], forest.feature_pvalues_)
    assert not [name for name in adata.var if name.startswith("layer_")]  # those of the first run no longer hold
    assert adata.uns["layer"]["params"]["use_rep"] == "X_some"


def test_components_keep_their_scale_unless_it_is_given(adata):
    def settings_of(n_clusters, **given):
        cf.tl.cluster_forest(adata, n_clusters, use_rep="X_some", **given, **FEW_TREES)
        return adata.uns[KEY]["chosen_params"], adata.uns[KEY]["params"]

    selection, params = settings_of(3)
    assert selection.loc["scale"].tolist() == ["none", "components have one scale: what varies more counts more"]
    assert selection.loc["select_features", "value"] == "False"
    assert "one alone may show a rare kind" in selection.loc["select_features", "reason"]
    assert not {"scale", "select_features"} & set(params)
    selection, _ = settings_of([2, 3])
    assert selection["value"][["scale", "select_features"]].tolist() == ["none", "True"]
    selection, params = settings_of(3, scale="standard", select_features=True)
    assert selection["value"][["scale", "select_features"]].tolist() == ["standard", "True"]
    assert (params["scale"], params["select_features"]) == ("standard", True)
    cf.tl.cluster_forest(adata, 3, **FEW_TREES)
    assert adata.uns[KEY]["chosen_params"]["value"][["scale", "select_features"]].tolist() == ["mixed", "True"]


def test_a_copy_leaves_the_original_as_it_was(adata):
    found = cf.tl.cluster_forest(adata, 3, copy=True, **FEW_TREES)
    assert KEY in found.obs
    assert list(adata.obs) == []
    assert list(adata.uns) == []


@pytest.mark.parametrize("wrap", [sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array])
@pytest.mark.parametrize(("n_genes", "empty"), [(30, 0.3), (250, 0.9)])
def test_sparse_tables_are_clustered_as_fit_does(wrap, n_genes, empty):
    adata = make_cells(wrap, n_genes, empty)
    cf.tl.cluster_forest(adata, 3, **FEW_TREES)
    forest = ClusterForest(3, random_state=0, **FEW_TREES).fit(adata.X)
    assert ("components" in forest.chosen_params_["scale"].reason) == (n_genes == 250)
    assert adata.obs[KEY].astype(int).tolist() == forest.labels_.tolist()
    assert np.array_equal(adata.var[f"{KEY}_importance"], forest.feature_importances_)
    cf.tl.cluster_forest(adata, 3, layer="shifted", mask_var="chosen", **FEW_TREES)
    forest = ClusterForest(3, random_state=0, **FEW_TREES).fit(adata.layers["shifted"].tocsr()[:, :12])
    assert adata.obs[KEY].astype(int).tolist() == forest.labels_.tolist()


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
@pytest.mark.parametrize(("n_genes", "empty"), [(30, 0.3), (250, 0.9)])
@pytest.mark.parametrize("mask", [None, "chosen"])
@pytest.mark.parametrize("many", [False, True])
def test_backed_files_give_what_memory_gives(tmp_path, request, wrap, n_genes, empty, mask, many):
    if many:
        request.getfixturevalue("few_rows_are_many")
    adata = make_cells(wrap, n_genes, empty)
    adata.var["chosen"] = np.arange(n_genes) % 10 < 9
    adata.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    for cells in (adata, backed):
        cf.tl.cluster_forest(cells, 3, mask_var=mask, **FEW_TREES)
    pd.testing.assert_frame_equal(backed.obs, adata.obs)
    pd.testing.assert_frame_equal(backed.var, adata.var)
    backed.file.close()


def test_a_backed_file_is_never_read_whole(tmp_path, few_rows_are_many, monkeypatch):
    adata = make_cells(sparse.csr_matrix, 250, 0.9)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    monkeypatch.setattr("clusterforests.table.sparse_reduction.READ_ROWS", 16)
    monkeypatch.setattr("clusterforests.table.row_sources.BLOCK_BYTES", 16 * 8 * 250)
    taken = []
    read = type(backed.X).__getitem__
    monkeypatch.setattr(
        type(backed.X), "__getitem__", lambda self, rows: taken.append(rows.stop - rows.start) or read(self, rows)
    )
    cf.tl.cluster_forest(backed, 3, **FEW_TREES)
    assert taken
    assert max(taken) == 16
    backed.file.close()


def test_missing_values_in_a_file_are_filled(tmp_path, few_rows_are_many):
    adata = make_cells()
    adata.X[::7, 3] = np.nan
    adata.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    for cells in (adata, backed):
        cf.tl.cluster_forest(cells, 3, **FEW_TREES)
    pd.testing.assert_frame_equal(backed.obs, adata.obs)
    backed.file.close()


@pytest.mark.parametrize("method", ["fit", "predict"])
def test_an_estimator_names_the_function_for_anndata(adata, method):
    forest = ClusterForest(3, **FEW_TREES).fit(adata.X)
    with pytest.raises(TypeError, match=r"clusterforests\.tl\.cluster_forest\(adata\)"):
        getattr(forest, method)(adata)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"layer": "counts"}, r"layer='counts' is not in adata.layers, which has 'shifted'"),
        ({"use_rep": "X_pca"}, r"use_rep='X_pca' is not in adata.obsm, which has 'X_some'"),
        ({"mask_var": "hvg"}, r"mask_var='hvg' is not in adata.var, which has 'chosen'"),
        ({"mask_var": np.arange(30)}, r"True or False for each of its 30 genes; it is an array of int64"),
        ({"mask_var": np.ones(4, bool)}, r"each of its 30 genes; it is an array of bool with shape \(4,\)"),
        ({"mask_var": np.zeros(30, bool)}, r"mask_var=an array of \(30,\) selects no gene"),
        ({"use_rep": "X_some", "layer": "shifted"}, r"use_rep='X_some' and layer='shifted' name two tables"),
        ({"use_rep": "X_some", "mask_var": "chosen"}, r"mask_var='chosen' selects genes, but the columns of use_rep"),
        ({"n_clusters": 0}, r"n_clusters=0"),
        ({"key_added": None}, r"key_added=None must be text"),
        ({"key_added": ""}, r"key_added='' must be text"),
    ],
)
def test_wrong_arguments_are_named(adata, given, message):
    with pytest.raises(ValueError, match=message):
        cf.tl.cluster_forest(adata, **given)
    assert list(adata.obs) == []


def test_what_is_no_anndata_is_refused(adata):
    with pytest.raises(TypeError, match=r"adata must be an AnnData object, not ndarray\. .* use ClusterForest"):
        cf.tl.cluster_forest(adata.X, 3)
    with pytest.raises(ValueError, match=r"adata has no X. Name a table with layer= or use_rep="):
        cf.tl.cluster_forest(anndata.AnnData(obs=adata.obs, var=adata.var), 3)
    with pytest.raises(TypeError, match="n_neighbors"):
        cf.tl.cluster_forest(adata, 3, n_neighbors=5)


def test_outliers_have_no_category(adata, tmp_path):
    cf.tl.cluster_forest(adata, 3, contamination=0.1, **FEW_TREES)
    labels = ClusterForest(3, contamination=0.1, random_state=0, **FEW_TREES).fit(adata.X).labels_
    assert adata.obs[KEY].cat.codes.tolist() == labels.tolist()
    assert adata.obs[KEY].isna().sum() == 12
    adata.write_h5ad(tmp_path / "cells.h5ad")
    assert anndata.read_h5ad(tmp_path / "cells.h5ad").obs[KEY].isna().sum() == 12


@pytest.fixture(scope="module")
def scanpy():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the packages that scanpy imports
        return pytest.importorskip("scanpy")


def test_a_usual_analysis_in_scanpy(scanpy):
    adata = make_cells(lambda X: np.maximum(X, 0).round())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scanpy.pp.normalize_total(adata)
        scanpy.pp.log1p(adata)
        scanpy.pp.highly_variable_genes(adata, n_top_genes=15)
        scanpy.pp.pca(adata, n_comps=5)
        cf.tl.cluster_forest(adata, 3, use_rep="X_pca", **FEW_TREES)
        assert adjusted_rand_score(KINDS, adata.obs[KEY]) > 0.9
        scanpy.tl.rank_genes_groups(adata, KEY, method="wilcoxon")
        axes = scanpy.pl.pca(adata, color=[KEY, f"{KEY}_consensus"], show=False)
    assert adata.uns["rank_genes_groups"]["names"].dtype.names == tuple(adata.obs[KEY].cat.categories)
    assert len(axes) == 2
    cf.tl.cluster_forest(adata, 3, **FEW_TREES)
    used = ~adata.var[f"{KEY}_importance"].isna()
    assert np.array_equal(used, adata.var["highly_variable"])
