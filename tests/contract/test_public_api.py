"""Public names, and what importing them costs."""

import doctest
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from importlib import resources

import pytest
from sklearn.base import BaseEstimator

import clusterforests
from clusterforests import ClusterForest, HartiganWongKMeans

MODULES = [m.name for m in pkgutil.walk_packages(clusterforests.__path__, "clusterforests.") if "_core" not in m.name]


PUBLIC = {
    "clusterforests": "ClusterForest HartiganWongKMeans PaperForest TableReader __version__ cluster_table "
    "consensus_clustering describe load save write_report",
    "clusterforests.inspection": "ClusterTree HalfCuts Stability cluster_tree consensus_cdf consensus_silhouette "
    "feature_separation half_cuts memberships pac stability",
    "clusterforests.plots": "cluster_profiles cluster_tree consensus_cdf consensus_heatmap feature_importance "
    "item_consensus spectral_embedding",
    "clusterforests.tl": "cluster_forest",
    "clusterforests.feature_selection": "SelectInformative",
}


def test_what_is_public():
    found = {name: sorted(importlib.import_module(name).__all__) for name in PUBLIC}
    assert found == {name: sorted(names.split()) for name, names in PUBLIC.items()}
    assert sum(map(len, found.values())) <= 45
    for name in clusterforests.__all__:
        assert getattr(clusterforests, name) is not None


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings(module):
    assert doctest.testmod(importlib.import_module(module)).failed == 0


def test_import_adds_no_optional_library():
    """scikit-learn may import pandas where it is installed; the package adds nothing to that."""
    code = (
        "import sys, sklearn.cluster; before = set(sys.modules); from clusterforests import *; "
        "optional = {'matplotlib', 'pandas', 'polars', 'pyarrow', 'dask', 'cupy', 'python_calamine', 'anndata'}; "
        "extra = optional & set(sys.modules) - before; "
        "sys.exit(str(extra) if extra else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_estimators_show_what_was_set():
    forest = ClusterForest(3, n_jobs=2, consensus="kway")
    assert repr(forest) == "ClusterForest(consensus='kway', n_clusters=3, n_jobs=2)"
    assert repr(HartiganWongKMeans(4)) == "HartiganWongKMeans(n_clusters=4)"
    html = forest._repr_html_()
    assert "kway" in html
    assert "<script src" not in html


def test_a_notebook_computes_nothing_to_show_a_fitted_forest(blobs, monkeypatch):
    forest = ClusterForest(3, n_estimators=5, random_state=0).fit(blobs[0])
    monkeypatch.setattr(ClusterForest, "_diagnosed", lambda *_: pytest.fail("computed for a display"))
    html = forest._repr_html_()
    assert "n_estimators" in html
    if hasattr(BaseEstimator, "_get_fitted_attr_html"):  # scikit-learn 1.8 and later list fitted attributes
        assert "feature_importances_" in html
        assert "memberships_" not in html


def test_type_hints_are_shipped():
    assert (resources.files("clusterforests") / "py.typed").is_file()


def test_public_names_are_imported_when_they_are_used():
    code = """
import sys, clusterforests
assert not {"scipy", "sklearn"} & set(sys.modules)
assert {"ClusterForest", "inspection", "__version__"} <= set(dir(clusterforests))
assert clusterforests.inspection.pac is not None
from clusterforests import *
assert ClusterForest is clusterforests.ClusterForest
try:
    clusterforests.Forest
except AttributeError as error:
    assert "'Forest'" in str(error)
else:
    sys.exit(1)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", ["ClusterForest", "PaperForest", "HartiganWongKMeans", "TableReader"])
def test_every_parameter_and_attribute_is_documented(name):
    estimator = getattr(clusterforests, name)
    parameters = [each for each in inspect.signature(estimator.__init__).parameters if each != "self"]
    documented = re.findall(r"^    (\w[\w, .]*?)(?: :|$)", estimator.__doc__, flags=re.MULTILINE)
    names = [each for line in documented for each in line.split(", ")]
    assert [each for each in names if each in parameters] == parameters
    assert "Attributes\n" in estimator.__doc__
    assert [each for each in names if each.endswith("_")]
