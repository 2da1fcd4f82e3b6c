"""Every benchmark runs on a tiny input and writes its page: they are run rarely, and would rot unseen."""

import subprocess
import sys

import numpy as np
import pytest

from benchmarks import choosing_k, dask, guidance, outliers, scale, speed
from benchmarks.__main__ import TOPICS
from benchmarks.pages import ROOT, read_summary, split_sections


def run(topic, folder, *options):
    """Run a benchmark of fits in a process of its own, as it forks and must have one thread."""
    command = [sys.executable, "-m", "benchmarks", topic, *options]
    command += ["--out", str(folder), "--work", str(folder / "work")]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def titles(folder, name):
    return set(split_sections((folder / f"{name}.md").read_text(encoding="utf-8")))


def test_the_command_lists_its_topics():
    done = subprocess.run([sys.executable, "-m", "benchmarks"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert all(name in done.stderr for name in TOPICS)


def test_noise(tmp_path):
    name = "normal 100 x 30, 4 informative, K 2"
    run("noise", tmp_path, "--methods", "KMeans", "default", "z-scores only", "--sets", name, "--seeds", "1")
    summary = read_summary("noise", tmp_path)
    assert summary.loc[("ari", name, "raw"), "default"] > 90
    assert summary.loc[("ari", name, "informative"), "KMeans"] > 90
    assert {"Mean ARI by kind of noise", "Parts switched off"} <= titles(tmp_path, "noise")


def test_shapes_go_on_where_they_were(tmp_path):
    sets = ["--sets", "two circles", "--seeds", "1"]
    run("shapes", tmp_path, "--methods", "KMeans", *sets)
    assert "1 fits to do" in run("shapes", tmp_path, "--methods", "KMeans", "default", *sets)
    assert len((tmp_path / "work" / "shapes.csv").read_text().splitlines()) == 4
    assert read_summary("shapes", tmp_path).loc[("ari", "two circles", "raw"), "default"] > 90


def test_quality(tmp_path):
    run("quality", tmp_path, "--sets", "wine", "--methods", "KMeans", "default", "--seeds", "1")
    run("quality", tmp_path, "--sets", "wine", "--methods", "default", "--seeds", "1", "--missing", "0.3")
    there = {"The twenty tuned sets", "30 % of the values missing completely at random"}
    assert there <= titles(tmp_path, "quality")


def test_choosing_k(tmp_path):
    options = ["--sets", "wine", "--methods", "auto", "default", "HDBSCAN, defaults", "--seeds", "1", "--draws", "1"]
    run("choosing_k", tmp_path, "--parts", "real", "categories", *options)
    there = {"The twenty tuned sets", "A random category beside noise", "Every labelled set"}
    assert there <= titles(tmp_path, "choosing_k")


def test_rare_groups_and_other_numbers(monkeypatch):
    monkeypatch.setattr(choosing_k, "PERCENT", (1.0,))
    monkeypatch.setattr(choosing_k, "AWAY", (8,))
    assert list(choosing_k.rare_groups((2000,), 1))[-1].startswith("| 2,000 | 1 % | 8 |")
    assert len(list(choosing_k.recut_times(300, range(2, 4)))) == 4


def test_guidance(tmp_path):
    guidance.main(["--sets", "wine", "--out", str(tmp_path)])
    assert "of the other rows of 1 sets" in (tmp_path / "guidance.md").read_text()


def test_outliers(tmp_path, monkeypatch):
    for name, few in (
        ("FEATURES", (2,)),
        ("CLEAN_FEATURES", (2,)),
        ("CLUSTERS", (3,)),
        ("ROWS", (300,)),
        ("SEEDS", [0]),
    ):
        monkeypatch.setattr(outliers, name, few)
    outliers.main(["--out", str(tmp_path)])
    assert "| 2 | ClusterForest |" in (tmp_path / "outliers.md").read_text()


@pytest.fixture
def small_scale(monkeypatch):
    """Shrink the tables, and do the work in this process."""
    monkeypatch.setattr(scale, "child", lambda work, *given, threads=2: {**work(*given), "memory": 1.0})
    sizes = {
        "MANY": 2000,
        "ON_DISK": 2000,
        "ROWS": [500, 1000],
        "WIDE": [(60, 50)],
        "MANY_CLUSTERS": (4,),
        "RARE_SEEDS": (0,),
        "PEERS": {name: scale.PEERS[name] for name in ("clusterforests", "scikit-learn `MiniBatchKMeans(5)`")},
        "PUBLISHED": [("Covertype", 2000, 4, 3, 174)],
        "SEED_PAIRS": 1,
        "OVERLAPS": [(2, 1, 0.7)],
        "TREES": 10,
    }
    for name, size in sizes.items():
        monkeypatch.setattr(scale, name, size)


@pytest.mark.usefixtures("small_scale")
def test_scale(tmp_path):
    parts = ["million", "disk", "rows", "wide", "clusters", "shapes", "rare", "predict"]
    scale.main(["--out", str(tmp_path), "--picture", str(tmp_path / "rows.png"), "--only", *parts])
    assert len(titles(tmp_path, "scale")) == len(parts)
    assert (tmp_path / "rows.png").stat().st_size > 1000


@pytest.mark.usefixtures("small_scale")
def test_scale_of_consensus():
    lines = list(scale.consensus_table(1, 300, 400))
    assert [line.split(" | ")[1].split(" (")[0] for line in lines[3:]] == ["K-means"] * 2 + ["forest"] * 2 + ["K-means"]


def test_speed(tmp_path, monkeypatch):
    monkeypatch.setattr(speed, "SHAPES", [(60, 2, 2, 1)])
    monkeypatch.setattr(speed, "FORESTS", [("wine", 3, 1)] * 2)
    monkeypatch.setattr(speed, "Straightforward", lambda k: speed.KMeans(k))
    speed.main(["--out", str(tmp_path), "--repeat", "1", "--only", "kmeans", "forest", "threads"])
    assert len(titles(tmp_path, "speed")) == 3


def test_straightforward_forest_finds_two_blobs():
    X = np.vstack([np.random.default_rng(0).normal(size=(12, 4)) + 9 * i for i in range(2)])
    labels = speed.Straightforward(2, n_estimators=1, patience=1).fit_predict(X)
    assert set(labels[:12]) != set(labels[12:])


def test_dask(tmp_path, monkeypatch):
    monkeypatch.setattr(dask, "workers", one_thread)
    for name, few in (("FILES", 2), ("ROWS", 300), ("COLUMNS", 6), ("PERSISTED", 2000)):
        monkeypatch.setattr(dask, name, few)
    dask.main(["--out", str(tmp_path), "--only", "overhead"])
    assert "The labels are equal: yes" in (tmp_path / "dask.md").read_text()


def one_thread(*_):
    import dask as real

    return real.config.set(scheduler="synchronous")
