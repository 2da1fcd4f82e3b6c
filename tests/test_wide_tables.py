"""Tables of thousands of columns: the same answer as from the whole table at once, in little more memory than it."""

import subprocess
import sys

import numpy as np
import pytest

from clusterforests import ClusterForest

MEASURE = """
import numpy as np

from clusterforests import ClusterForest

def memory(what):
    with open("/proc/self/status") as lines:
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith(what))

X = np.random.default_rng(0).standard_normal((200, 40_000), dtype=np.float32)
X[:, :400] += 2 * np.random.default_rng(1).standard_normal((4, 400), dtype=np.float32)[np.arange(200) % 4]
forest = ClusterForest(4, n_estimators=20, n_jobs=1, random_state=0)
forest.fit(X[:, :2500])
held = memory("VmRSS")
forest.fit(X)
print((memory("VmHWM") - held) / X.nbytes, forest.estimate_memory(*X.shape).total / X.nbytes)
"""


def genes(n=70, p=2500, told=100, dtype=np.float32, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p), dtype=np.float32)
    X[:, :told] += rng.standard_normal((3, told), dtype=np.float32)[np.arange(n) % 3]
    return np.ascontiguousarray(X[:, rng.permutation(p)].astype(dtype))


def forest(**settings):
    return ClusterForest(**({"n_clusters": 3, "n_estimators": 30, "random_state": 0} | settings))


def results(fitted, X):
    found = [fitted.labels_, fitted.partitions_, fitted.feature_importances_, fitted.feature_pvalues_, fitted.kappas_]
    return [*found, fitted.predict(X[:20]), fitted.predict_proba(X[:20])]


TABLES = {
    "plain": genes(),
    "float64": genes(dtype=np.float64),
    "ties": np.maximum(np.rint(2 * genes()), 0),
    "all kept": genes(told=0),
    "repeated rows": np.vstack([genes(), genes()[:30]]),
    "many rows": genes(1100, 2100, 40),
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("settings", [{}, {"n_clusters": "auto"}, {"scale": "standard"}, {"scale": "none"}])
def test_blocks_of_columns_give_what_the_whole_table_does(name, settings, monkeypatch):
    X = TABLES[name]
    narrow = results(forest(**settings).fit(X), X)
    monkeypatch.setattr("clusterforests.trees.planning.can_be_narrowed", lambda *_: False)
    monkeypatch.setattr("clusterforests.table.scaling.BLOCK_CELLS", 10**9)
    whole = results(forest(**settings).fit(X.astype(np.float64)), X)
    for mine, expected in zip(narrow, whole, strict=True):
        assert (mine == expected).all()


def test_weights_give_what_the_whole_table_does(monkeypatch):
    X, weights = TABLES["ties"], np.arange(70) % 4 * 0.4
    narrow = results(forest().fit(X, sample_weight=weights), X)
    monkeypatch.setattr("clusterforests.trees.planning.can_be_narrowed", lambda *_: False)
    whole = results(forest().fit(X.astype(np.float64), sample_weight=weights), X)
    for mine, expected in zip(narrow, whole, strict=True):
        assert (mine == expected).all()


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_table_is_not_changed_whatever_its_order(order):
    X = np.array(TABLES["plain"], order=order)
    fitted = forest(n_jobs=2).fit(X)
    assert (TABLES["plain"] == X).all()
    assert (fitted.labels_ == forest().fit(TABLES["plain"]).labels_).all()


def test_a_model_keeps_only_the_columns_that_trees_may_use(tmp_path):
    X = TABLES["plain"]
    fitted = forest().fit(X)
    kept = len(fitted._predictor.scaling.views.drawable)
    assert fitted._predictor.scaling.exponent.shape[1] == len(fitted._predictor.scaling.sources) == kept < 200
    fitted.save(tmp_path / "model")
    loaded = ClusterForest.load(tmp_path / "model")
    assert (loaded.predict(X) == fitted.labels_).all()
    holes = X.copy()
    holes[::3, ::5] = np.nan
    assert (loaded.predict(holes) == fitted.predict(holes)).all()


@pytest.mark.parametrize(("scale", "needed"), [("standard", "A copy of"), ("none", "A copy of"), ("mixed", "Ranking")])
def test_only_scales_with_ranks_need_memory_for_ranks(scale, needed, monkeypatch):
    asked = {}
    monkeypatch.setattr(
        "clusterforests.table.scaling.check_memory",
        lambda count, purpose, instead: asked.update(count=count, purpose=purpose),
    )
    fitted = forest(scale=scale).fit(TABLES["plain"])
    kept = len(fitted._predictor.scaling.sources)
    assert asked["purpose"] == f"{needed} the {kept} columns that trees may use"
    assert asked["count"] == 70 * kept * (24 if scale == "mixed" else 8)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_fit_needs_little_beside_a_wide_table_and_knows_it():
    """Blocks of columns are most of it: a table of 32 MB is not much larger than these."""
    done = subprocess.run([sys.executable, "-c", MEASURE], capture_output=True, text=True, check=True)
    needed, expected = map(float, done.stdout.split())
    assert needed < 6
    assert needed / 1.05 < expected < 3 * needed
