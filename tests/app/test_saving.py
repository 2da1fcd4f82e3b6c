"""Pipelines of a reader and a forest, in one file."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import clusterforests
from clusterforests import ClusterForest, PaperForest, TableReader
from clusterforests.persistence import attach, read_attached

pytestmark = pytest.mark.filterwarnings("ignore:Column .* is dropped")


def messy(n=150, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    return pd.DataFrame(
        {
            "id": [f"C{i:03d}" for i in range(n)],
            "nr": np.arange(n),
            "euros": [f"{1000 * g + rng.uniform(0, 500):.2f} €".replace(".", ",") for g in group],
            "share": [f"{10 * g + rng.uniform(0, 5):.1f}%" for g in group],
            "since": [f"{rng.integers(1, 29):02d}.{rng.integers(1, 13):02d}.{2000 + 5 * g}" for g in group],
            "size": np.array(["low", "medium", "high"])[group],
            "town": rng.choice(["Ulm", "Bonn", "Kiel"], n),
        }
    )


@pytest.fixture(scope="module")
def fitted():
    return make_pipeline(TableReader({"town": "category"}), ClusterForest(3, n_estimators=20, random_state=0)).fit(
        messy()
    )


def test_a_pipeline_predicts_and_is_saved(fitted, tmp_path):
    X = messy()
    forest = fitted[-1]
    assert forest.feature_names_in_.tolist() == ["euros", "share", "since", "size", "town"]
    assert np.array_equal(fitted.predict(X), forest.labels_)
    clusterforests.save(fitted, tmp_path / "m.cf")
    assert [path.name for path in tmp_path.iterdir()] == ["m.cf"]
    again = clusterforests.load(tmp_path / "m.cf")
    assert list(again.named_steps) == ["tablereader", "clusterforest"]
    assert again[0].get_params() == fitted[0].get_params() | {"missing": []}
    assert repr(again[0].columns_[2:]) != ""
    # Columns are found by their names; those that were dropped may be lacking.
    mixed = X[["town", "size", "share", "since", "euros"]].assign(more=1)
    assert np.array_equal(again.predict(mixed), forest.labels_)
    assert b"C001" not in (tmp_path / "m.cf").read_bytes()
    clusterforests.save(again, tmp_path / "n.cf")
    assert (tmp_path / "n.cf").read_bytes() == (tmp_path / "m.cf").read_bytes()


def test_a_forest_is_saved_by_itself(fitted, tmp_path):
    clusterforests.save(fitted[-1], tmp_path / "m.cf")
    assert isinstance(clusterforests.load(tmp_path / "m.cf"), ClusterForest)
    paper = PaperForest(2, n_estimators=5, random_state=0).fit(np.random.default_rng(0).normal(size=(40, 4)))
    clusterforests.save(paper, tmp_path / "paper.cf")
    assert np.array_equal(clusterforests.load(tmp_path / "paper.cf").labels_, paper.labels_)
    clusterforests.save(make_pipeline(fitted[-1]), tmp_path / "p.cf")
    assert list(clusterforests.load(tmp_path / "p.cf").named_steps) == ["clusterforest"]


def test_other_pipelines_are_refused(fitted, tmp_path):
    with pytest.raises(ValueError, match="StandardScaler, ClusterForest"):
        clusterforests.save(make_pipeline(StandardScaler(), fitted[-1]), tmp_path / "m.cf")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "change",
    [
        lambda state: state.pop("columns"),
        lambda state: state["columns"].pop(),
        lambda state: state["columns"][2].pop("kind"),
        lambda state: state["columns"][2].update(unit=3),
        lambda state: state["columns"][2].update(feature=7),
        lambda state: state["columns"][5].update(levels=["low", "low"]),
        lambda state: state["columns"][5].update(levels=None),
        lambda state: state["columns"][5].update(read_as="python"),
        lambda state: state["parameters"].update(decimal=";"),
        lambda state: state["parameters"].update(more=1),
        lambda state: state["parameters"].update(overrides={"town": "nonsense"}),
    ],
)
def test_what_is_no_reader_is_refused(fitted, tmp_path, change):
    path = tmp_path / "m.cf"
    clusterforests.save(fitted, path)
    attached = json.loads(json.dumps(read_attached(path)[1]))
    change(attached["table_reader"])
    attach(path, attached)
    with pytest.raises(ValueError, match=r"m\.cf is not a model that save wrote"):
        clusterforests.load(path)
