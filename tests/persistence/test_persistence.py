"""Saved models: equal after loading, whatever the forest; and no file, however broken, does anything but be refused."""

import hashlib
import json
import os
import struct
import tracemalloc
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans

from clusterforests import ClusterForest, PaperForest
from clusterforests.backends import Coordinates
from clusterforests.persistence import saving
from clusterforests.persistence.model_file import DIGEST_BYTES, MAGIC, START, VERSION
from clusterforests.table.scaling import Projections

CONSENSUS = ["auto", "ncut", "kway", "gaps", "average", "average-trimmed"]


def round_trip(forest, path):
    forest.save(path)
    return type(forest).load(path)


def assert_equal_forests(a, b, X):
    assert str(a.get_params()) == str(b.get_params())
    assert set(vars(a)) == set(vars(b))
    for name in ("labels_", "partitions_", "kappas_", "feature_importances_", "feature_pvalues_"):
        assert getattr(a, name).dtype == getattr(b, name).dtype
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
    for result in ("predict", "predict_proba", "transform"):
        assert np.array_equal(getattr(a, result)(X), getattr(b, result)(X)), result
    for name in ("memberships_", "item_consensus_", "consensus_silhouette_", "cluster_consensus_"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
    assert np.array_equal(a.coassociation(), b.coassociation())
    assert a.chosen_params_ == b.chosen_params_
    assert a.stability(3) is not None
    assert a.stability(3).mean == b.stability(3).mean


@pytest.mark.parametrize("consensus", CONSENSUS)
def test_a_loaded_forest_is_equal(blobs, tmp_path, consensus):
    X, _ = blobs
    rng = np.random.default_rng(1)
    forest = ClusterForest(3, n_estimators=20, consensus=consensus, random_state=0).fit(X)
    assert_equal_forests(forest, round_trip(forest, tmp_path / "m.cf"), X + rng.normal(size=X.shape))


@pytest.mark.parametrize("consensus", ["ncut", "kway", "average"])
def test_landmarks(blobs, tmp_path, consensus):
    X, _ = blobs
    forest = ClusterForest(3, n_estimators=20, consensus=consensus, n_landmarks=20, random_state=0).fit(X)
    assert_equal_forests(forest, round_trip(forest, tmp_path / "m.cf"), X + 0.3)


def test_names_categories_missing_cells_weights_and_evidence(blobs, tmp_path):
    X, truth = blobs
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame.loc[3, "a"] = np.nan
    frame["text"] = pd.Categorical(np.array(["x", "y", "zä"])[truth])
    frame["order"] = pd.Categorical(truth, categories=[2, 0, 1], ordered=True)
    frame["day"] = pd.Timestamp("2021-03-04") + pd.to_timedelta(truth, unit="D")
    frame["flag"] = pd.Categorical(truth > 0)
    frame["count"] = pd.Categorical(truth * 2)
    frame["half"] = pd.Categorical(truth / 2)
    forest = ClusterForest(range(2, 5), n_estimators=20, random_state=0)
    with pytest.warns(UserWarning, match="clusters repeat column"):
        forest.fit(frame, sample_weight=1.0 + truth)
    loaded = round_trip(forest, tmp_path / "m.cf")
    assert_equal_forests(forest, loaded, frame)
    assert loaded.get_params()["n_clusters"] == range(2, 5)
    assert loaded._predictor.encoding == forest._predictor.encoding
    assert loaded.feature_names_in_.tolist() == frame.columns.tolist()
    assert loaded.n_clusters_evidence_.reason == forest.n_clusters_evidence_.reason
    for name, values in forest.n_clusters_evidence_.evidence.items():
        assert np.array_equal(loaded.n_clusters_evidence_.evidence[name], values, equal_nan=True)
    with pytest.raises(ValueError, match="feature names should match"):
        loaded.predict(frame[frame.columns[::-1]])


@pytest.mark.parametrize("scale", ["mixed", "none"])
def test_projections_are_kept(blobs, tmp_path, scale):
    X, _ = blobs
    forest = PaperForest(3, n_estimators=6, random_state=0, scale=scale).fit(X)
    before = forest.predict_proba(X)
    projections = Projections(np.array([0, 1, 3]), np.array([5, 0, 2], np.int32), np.array([1.0, 0.5, -3.0]))
    scaling, trees = forest._predictor.scaling.project(projections), forest._predictor.trees
    wider = Coordinates(*(np.pad(array, (0, 2)) for array in trees.coordinates))  # that no tree uses
    forest._predictor = replace(forest._predictor, scaling=scaling, trees=trees._replace(coordinates=wider))
    loaded = round_trip(forest, tmp_path / "m.cf")
    assert_equal_forests(forest, loaded, X + 0.3)
    assert (loaded.predict_proba(X) == before).all()
    assert (loaded._predictor.scaling.apply(X) == scaling.apply(X)).all()
    assert loaded._predictor.scaling.width == scaling.width


@pytest.mark.parametrize(
    ("starts", "columns", "coefficients"),
    [
        ([0, 1], [18], [1.0]),
        ([0, 1], [-1], [1.0]),
        ([0, 2], [0], [1.0]),
        ([1, 1], [0], [1.0]),
        ([0, 3, 1], [0], [1.0]),
        ([], [0], [1.0]),
        ([0, 1], [0], [1.0, 1.0]),
        ([0, 1], [0], [np.nan]),
    ],
)
def test_projections_that_do_not_fit_are_refused(blobs, tmp_path, monkeypatch, starts, columns, coefficients):
    X, _ = blobs
    forest = ClusterForest(3, n_estimators=6, random_state=0, scale="mixed").fit(X)
    projections = Projections(np.array(starts, np.int64), np.array(columns, np.int32), np.array(coefficients))
    scaling = replace(forest._predictor.scaling, projections=projections)
    forest._predictor = replace(forest._predictor, scaling=scaling)
    with pytest.raises(ValueError, match="cannot be saved"):
        forest.save(tmp_path / "m.cf")
    monkeypatch.setattr(saving, "_restore", lambda *_: None)
    forest.save(tmp_path / "m.cf")
    monkeypatch.undo()
    with pytest.raises(ValueError, match="not a model that save wrote"):
        ClusterForest.load(tmp_path / "m.cf")


def test_the_cut_tree_is_kept(blobs, tmp_path):
    X, _ = blobs
    forest = PaperForest(3, n_estimators=20, random_state=0).fit(X)
    loaded = round_trip(forest, tmp_path / "m.cf")
    assert np.array_equal(loaded.cut_tree_.labels(), forest.cut_tree_.labels())
    assert [node.ncut for node in loaded.cut_tree_.nodes] == [node.ncut for node in forest.cut_tree_.nodes]


def test_a_generator_is_not_kept_and_a_foreign_clusterer_is_refused(blobs, tmp_path):
    X, _ = blobs
    forest = ClusterForest(3, n_estimators=5, random_state=np.random.default_rng(0)).fit(X)
    assert round_trip(forest, tmp_path / "m.cf").random_state is None
    forest = PaperForest(3, n_estimators=5, estimator=KMeans(), random_state=0).fit(X)
    with pytest.raises(ValueError, match="estimator=KMeans"):
        forest.save(tmp_path / "other.cf")
    assert not (tmp_path / "other.cf").exists()


@pytest.mark.parametrize(
    "change", [{"n_estimators": 3}, {"n_clusters": 9}, {"consensus": "average"}, {"n_clusters": range(1, 10**9)}]
)
def test_parameters_may_be_set_between_fitting_and_saving(blobs, tmp_path, change):
    forest = ClusterForest(3, n_estimators=5, random_state=0).fit(blobs[0])
    loaded = round_trip(forest.set_params(**change), tmp_path / "m.cf")
    assert loaded.get_params()[next(iter(change))] == next(iter(change.values()))
    assert np.array_equal(loaded.predict(blobs[0]), forest.labels_)


@pytest.mark.parametrize("change", [{"n_jobs": 0}, {"n_landmarks": 1}, {"device": "tpu"}, {"n_estimators": -1}])
def test_what_load_would_refuse_is_not_saved(blobs, tmp_path, change):
    path = tmp_path / "m.cf"
    forest = ClusterForest(3, n_estimators=5, random_state=0).fit(blobs[0])
    forest.save(path)
    whole = path.read_bytes()
    ((name, value),) = change.items()
    with pytest.raises(ValueError, match=rf"cannot be saved.*{name}={value!r} is not allowed"):
        forest.set_params(**change).save(path)
    assert path.read_bytes() == whole


def test_levels_that_json_does_not_know_are_refused(blobs, tmp_path):
    X, truth = blobs
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["when"] = pd.Categorical([(1, int(t)) for t in truth])
    forest = ClusterForest(3, n_estimators=5, random_state=0).fit(frame)
    with pytest.raises(ValueError, match="categories of column 'when' are of type tuple"):
        forest.save(tmp_path / "m.cf")


def test_an_unfitted_forest_and_a_folder(tmp_path, blobs):
    with pytest.raises(ValueError, match="not fitted"):
        ClusterForest().save(tmp_path / "m.cf")
    forest = ClusterForest(2, n_estimators=3).fit(blobs[0])
    with pytest.raises(IsADirectoryError):
        forest.save(tmp_path)
    with pytest.raises(FileNotFoundError):
        ClusterForest.load(tmp_path / "none.cf")
    assert os.listdir(tmp_path) == []


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)) + np.repeat([[0], [7]], 30, axis=0)
    X[0, 0] = np.nan
    path = tmp_path_factory.mktemp("model") / "m.cf"
    ClusterForest(2, n_estimators=5, consensus="ncut", random_state=0).fit(X).save(path)
    return path.read_bytes()


def sealed(contents):
    """With a checksum that is right."""
    return contents + hashlib.sha256(contents).digest()


def refused(path, contents):
    path.write_bytes(contents)
    with pytest.raises(ValueError, match=r"broken\.cf") as caught:
        ClusterForest.load(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def damage(contents, rng, start=0):
    """One fault: a bit, a cut, something put in, taken out, added, zeroed or swapped."""
    broken = bytearray(contents)
    at, other = sorted(int(i) for i in rng.integers(start, len(broken), 2))
    length = int(rng.integers(1, 50))
    way = int(rng.integers(7))
    if way == 0:
        broken[at] ^= 1 << int(rng.integers(8))
    elif way == 1:
        del broken[at:]
    elif way == 2:
        broken[at:at] = rng.bytes(length)
    elif way == 3:
        del broken[at : at + length]
    elif way == 4:
        broken += rng.bytes(40 * length)
    elif way == 5:
        broken[at : at + length] = bytes(len(broken[at : at + length]))
    else:
        broken[at], broken[other] = broken[other], broken[at]
    return bytes(broken)


ODD = (0, -1, 1, 7, 2**31, 2**63, 1e300, -0.5, "x", "", None, True, [], {}, [[0]], {"array": 0}, {"float": "nan"})


def forged(saved, rng):
    """Changed bytes or, every second time, another value somewhere in the JSON; the checksum is right."""
    if rng.random() < 0.5:
        return rewritten(saved, lambda header: put_in(header, ODD[rng.integers(len(ODD))], rng))
    broken = bytearray(saved[:-DIGEST_BYTES])
    for at in rng.integers(START.size, len(broken), int(rng.integers(1, 4))):
        broken[at] = int(rng.integers(256))
    return sealed(bytes(broken) if rng.random() < 0.8 else damage(broken, rng, START.size))


def put_in(value, odd, rng):
    """Replace one part of a JSON value, as deep as chance leads."""
    while True:
        keys = list(value) if isinstance(value, dict) else range(len(value))
        key = keys[rng.integers(len(keys))]
        if not isinstance(value[key], (dict, list)) or not value[key] or rng.random() < 0.1:
            value[key] = odd
            return
        value = value[key]


@pytest.fixture
def traced():
    tracemalloc.start()
    yield
    tracemalloc.stop()


@contextmanager
def little_memory(saved):
    """No more than a small multiple of the file; `traced`."""
    assert tracemalloc.is_tracing()
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()
    try:
        yield
    finally:
        _, most = tracemalloc.get_traced_memory()
        assert most - before < 200_000 + 20 * len(saved)


@pytest.mark.usefixtures("traced")
def test_random_corruptions_are_refused(saved, tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "broken.cf"
    tried = 0
    while tried < 1500:
        broken = damage(saved, rng)
        if broken != saved:
            with little_memory(saved):
                refused(path, broken)
            tried += 1


@pytest.mark.usefixtures("traced")
def test_corruptions_with_a_right_checksum_are_refused_or_harmless(saved, tmp_path):
    """What someone who means harm would do: whatever is in the file, loading and predicting end with a ValueError."""
    rng = np.random.default_rng(1)
    path = tmp_path / "broken.cf"
    X = rng.normal(size=(20, 5))
    X[0, 0] = np.nan  # to be filled from the model's donors
    loaded, tried = 0, 700
    for _ in range(tried):
        path.write_bytes(forged(saved, rng))
        try:
            with little_memory(saved):
                forest = ClusterForest.load(path)
                loaded += 1
                with np.errstate(all="ignore"):
                    labels = forest.predict(X)
        except ValueError as error:
            assert "\n" not in str(error)  # noqa: PT017
            continue
        assert 0 <= labels.min() <= labels.max() < 2
    assert 0 < loaded < tried


def rewritten(saved, change):
    _, version, length = START.unpack(saved[: START.size])
    header = json.loads(saved[START.size : START.size + length])
    change(header)
    text = json.dumps(header).encode()
    return sealed(START.pack(MAGIC, version, len(text)) + text + saved[START.size + length : -DIGEST_BYTES])


def with_array(**fields):
    return lambda header: header["arrays"][0].update(fields)


def with_state(name, value):
    return lambda header: header["state"].update({name: value})


HOSTILE = {
    "object array": with_array(type="object", stored="object"),
    "unknown type": with_array(type="../../etc/passwd", stored="../../etc/passwd"),
    "float as integer": with_array(type="float64"),
    "huge shape": with_array(shape=[2**62]),
    "overflowing shape": with_array(shape=[2**40, 2**40]),
    "negative shape": with_array(shape=[-1]),
    "shape of text": with_array(shape=["60"]),
    "many dimensions": with_array(shape=[1] * 64),
    "another record": with_state("_scaling", {"record": "os.system", "fields": {"command": "true"}}),
    "record of wrong kind": with_state("_scaling", {"record": "MostShared", "fields": {}}),
    "array that is not there": with_state("labels_", {"array": 10**6}),
    "not an array": with_state("labels_", "0"),
    "huge number of clusters": with_state("n_clusters_", 2**60),
    "no clusters": with_state("n_clusters_", 0),
    "unknown attribute": with_state("predict", "x"),
    "no weights": with_state("_weights", {"float": "evil"}),
    "huge range": lambda header: header["parameters"]["pairs"].append(["verbose", {"range": [0, 2**70, 1]}]),
    "estimator": lambda header: header["parameters"]["pairs"].append(["estimator", "KMeans"]),
    "unhashable key": lambda header: header["parameters"]["pairs"].append([[], 1]),
    "unknown parameter": lambda header: header["parameters"]["pairs"].append(["shell", 1]),
    "no arrays": lambda header: header.pop("arrays"),
    "another part": lambda header: header.update(code="print(1)"),
    "names": lambda header: header.update(feature_names=[1, 2]),
}


@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize("how", HOSTILE)
def test_hostile_files(saved, tmp_path, how):
    with little_memory(saved):
        refused(tmp_path / "broken.cf", rewritten(saved, HOSTILE[how]))


def test_files_that_are_something_else(saved, tmp_path):
    path = tmp_path / "broken.cf"
    assert "not a clusterforests model" in refused(path, b"")
    assert "not a clusterforests model" in refused(path, b"a,b\n1,2\n")
    assert "not a clusterforests model" in refused(path, b"PK\x03\x04" + saved)
    assert "not a clusterforests model" in refused(path, b"\x80\x04\x95" + saved)
    assert "cut short" in refused(path, saved[:10])
    assert "format 9" in refused(path, sealed(START.pack(MAGIC, 9, 2) + b"{}"))
    assert "clusterforests 0.2.0" in refused(path, sealed(START.pack(MAGIC, 1, 2) + b"{}"))
    assert "cut short" in refused(path, sealed(START.pack(MAGIC, VERSION, 2**63) + b"{}"))
    assert "not a model that" in refused(path, sealed(START.pack(MAGIC, VERSION, 2) + b"{}"))
    deep = b"[" * 100_000
    assert "not a model that" in refused(path, sealed(START.pack(MAGIC, VERSION, len(deep)) + deep))
    assert "checksum" in refused(path, saved[:-1] + bytes([saved[-1] ^ 1]))
    assert struct.calcsize(START.format) == START.size


def test_an_old_file_stays_if_the_new_one_cannot_be_written(saved, tmp_path, monkeypatch, blobs):
    path = tmp_path / "m.cf"
    path.write_bytes(saved)

    def full(_):
        raise OSError(28, "No space left on device")

    forest = ClusterForest(2, n_estimators=3).fit(blobs[0])
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        forest.save(path)
    assert path.read_bytes() == saved
    assert os.listdir(tmp_path) == ["m.cf"]


def test_a_model_of_the_other_class_is_refused(blobs, tmp_path):
    PaperForest(3, n_estimators=5, random_state=0).fit(blobs[0]).save(tmp_path / "m.cf")
    with pytest.raises(ValueError, match=r"PaperForest.load"):
        ClusterForest.load(tmp_path / "m.cf")
