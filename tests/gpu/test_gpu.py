"""The GPU back end. Tests marked "gpu" compare it with the CPU: on a GPU, or in the emulator with fewer rows."""

import itertools
import re
import sys
import types
from dataclasses import replace
from pathlib import Path

import emulated_cupy
import numpy as np
import pytest
from accelerator import rows_on_gpu

from clusterforests import ClusterForest
from clusterforests._utils import devices
from clusterforests._utils.memory import DEFAULT_LIMITS, DeviceLimits
from clusterforests.backends import CpuBackend
from clusterforests.gpu import flat_trees as gpu_trees
from clusterforests.gpu import labelling as gpu_passes
from clusterforests.gpu import placement as gpu_placement
from clusterforests.gpu.flat_trees import (
    WORD_BITS,
    flatten_ladders,
    flatten_steps,
    flatten_trees,
    make_ballot,
    make_group_ballot,
    used_columns,
)
from clusterforests.gpu.reader import draw_on_gpu
from clusterforests.rows.lloyd_pass import LloydPass, Measure
from clusterforests.rows.sampled import LocalBlocks
from clusterforests.table.feature_columns import FeatureColumns, numeric_table
from clusterforests.table.row_sampling import draw_rows
from clusterforests.table.row_sources import ArraySource, large_numeric_table, scan_table
from clusterforests.table.scaling import Projections, fit_scaling
from clusterforests.trees.forest import grow_forest
from clusterforests.trees.growth import GrowthSettings

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3000, 6)) + 4 * RNG.integers(0, 3, (3000, 1))
X[:, 4] = np.round(X[:, 4])
X[:, 5] = X[:, 5] * 1e30
SUMS = Projections(  # nobody has the third
    np.array([0, 2, 5, 6, 10]),
    np.array([1, 2, 0, 3, 2, 4, 3, 4, 3, 1], np.int32),
    np.array([0.3, -0.7, 1.1, 2.0, 0.1, 1.0, 0.9, -0.2, 0.4, 0.7]),
)
WEIGHTS = {"none": None, "whole": RNG.integers(0, 4, 3000).astype(float), "real": RNG.exponential(size=3000)}


def grown(scale="mixed", clusters=range(2, 14), projected=False):
    """A pass of trees that were grown on some of the rows; one lists a column twice.

    Features are the columns of X or, if some are projected, three of their scaled columns and three sums of others.
    """
    part = numeric_table(np.ascontiguousarray(X[::7]))
    scaling = fit_scaling(part, scale)
    if projected:
        first = scaling.width
        features = np.array([0, 1, 4, first, first + 1, first + 3], np.int32)
        views = FeatureColumns(features[None, :], np.ones(6, np.int32), np.arange(6, dtype=np.int32))
        scaling = replace(scaling.project(SUMS), views=views)
    settings = GrowthSettings(np.array(clusters, dtype=np.int32), True, 3, 1, 2, True, False, "centroid", 1, 50)
    forest = grow_forest(CpuBackend(1), scaling.apply(part.values), scaling.views, settings, 0)
    return forest, scaling


def passed(scale="mixed", weights=None, clusters=range(2, 14), projected=False):
    forest, scaling = grown(scale, clusters, projected)
    total = len(X) if weights is None else weights.sum()
    whole = weights is None or (weights == np.floor(weights)).all()
    return LloydPass.of(forest, scaling, Measure(np.array([X.min(axis=0), X.max(axis=0)]), len(X), total, bool(whole)))


def here(weights=None):
    return LocalBlocks(large_numeric_table(ArraySource(X), scan_table(ArraySource(X))), weights)


def test_without_cupy_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(ImportError, match=r'needs CuPy.*pip install "clusterforests\[gpu\]"'):
        ClusterForest(2, device="gpu").fit(X)


@pytest.mark.parametrize("count", [0, None], ids=["no device", "no driver"])
def test_without_a_device_the_error_says_so(monkeypatch, count):
    class CUDARuntimeError(RuntimeError):
        pass

    def get_device_count():
        if count is None:
            raise CUDARuntimeError("cudaErrorInsufficientDriver")
        return count

    runtime = types.SimpleNamespace(getDeviceCount=get_device_count, CUDARuntimeError=CUDARuntimeError)
    fake = types.SimpleNamespace(cuda=types.SimpleNamespace(runtime=runtime))
    monkeypatch.setitem(sys.modules, "cupy", fake)
    with pytest.raises(RuntimeError, match=r"needs an NVIDIA GPU.*device='cpu'"):
        ClusterForest(2, device="gpu").fit(X)


def test_a_failed_start_leaves_the_forest_as_it_was(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    forest = ClusterForest(2, n_estimators=3, random_state=0).fit(X)
    before = forest.labels_
    with pytest.raises(ImportError):
        forest.set_params(device="gpu").fit(X[:100])
    assert forest.labels_ is before


def test_host_arrays_stay_on_the_cpu():
    for backend, reason in (("auto", "X is not on a GPU"), ("cpu", "given")):
        forest = ClusterForest(2, n_estimators=3, random_state=0, device=backend).fit(X)
        assert forest.chosen_params_["device"] == ("cpu", reason)


@pytest.mark.parametrize("kind", [2, 13])
def test_where_arrays_live(kind):
    device = types.SimpleNamespace(__dlpack_device__=lambda: (kind, 0))
    assert devices.on_gpu(device)
    assert devices.on_gpu(types.SimpleNamespace(__cuda_array_interface__={}))
    for here in (X, X.tolist(), None, types.SimpleNamespace(__dlpack_device__=lambda: (1, 0))):
        assert not devices.on_gpu(here)
        assert devices.to_host(here) is here


def test_an_array_on_a_gpu_without_cupy_is_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(ImportError, match="needs CuPy"):
        ClusterForest(2).fit(types.SimpleNamespace(__dlpack_device__=lambda: (2, 0), shape=X.shape))


@pytest.mark.parametrize("scale", ["mixed", "none"])
def test_flat_terms_are_those_of_the_core(scale):
    trees = passed(scale, projected=True)
    used = used_columns(trees)
    first = trees.scaling.width - len(SUMS)
    assert used.tolist() == [0, 1, 4, first, first + 1, first + 3]
    steps, terms = flatten_steps(trees, used, flatten_ladders(trees.scaling))
    columns = [*used, 2, 3]  # of the steps: two are only terms
    assert steps["end"].tolist() == [-1, -1, -1, 2, 5, 9, -1, -1]
    for step, column in zip(steps[3:6], (0, 1, 3), strict=True):
        own, listed = terms[step["terms"] : step["end"]], slice(*SUMS.starts[column : column + 2])
        assert (own["coefficient"] == SUMS.coefficients[listed]).all()
        assert [columns[i] for i in own["step"]] == SUMS.columns[listed].tolist()


@pytest.mark.parametrize("scale", ["mixed", "none"])
def test_flat_steps_are_those_of_the_core(scale):
    trees = passed(scale)
    used = used_columns(trees)
    ladders = flatten_ladders(trees.scaling)
    exponent, origin, _ = trees.coordinates
    expected = np.ldexp(trees.scaling.apply(X), -exponent)[:, used] - origin[used]
    for i, step in enumerate(flatten_steps(trees, used, ladders)[0]):
        x = X[:, step["column"]]
        if step["count"]:
            knots, ranks = ladders.knots[step["knots"] :][: step["count"]].T
            inside = (x > knots[0]) & (x < knots[-1])
            at = ((x[inside] - knots[0]) * step["steps_per_unit"]).astype(np.int64)
            bounds = ladders.before[step["before"] :]
            above = np.searchsorted(knots, x[inside], side="right")
            assert (bounds[at] <= above).all()
            assert (above <= bounds[at + 1]).all()
            value = np.interp(x, knots, ranks)
        else:
            value = (x * step["first"] * step["second"] - step["shift"]) / step["divisor"]
        placed = value * step["to_first"] * step["to_second"] - step["origin"]
        np.testing.assert_allclose(placed, expected[:, i], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("scale", ["mixed", "none"])
def test_flat_trees_find_the_labels_of_the_core(scale):
    """The float32 search as the kernel does it: right wherever it is sure, and it is sure of most rows."""
    trees = passed(scale, clusters=[1, 2, 8, 9, 13, 40])
    used = used_columns(trees)
    flat = flatten_trees(trees, used, DeviceLimits(tile_columns=5))
    exponent, origin, _ = trees.coordinates
    exact = (np.ldexp(trees.scaling.apply(X), -exponent) - origin)[:, used]
    expected = trees.label(ArraySource(X))
    groups = flat.groups[:-1]
    assert (groups["begin"][1:] == groups["end"][:-1]).all()
    assert len(groups) > 1
    for group, after in itertools.pairwise(flat.groups):
        shared = flat.group_columns[group["columns"] : after["columns"]]
        units = flat.group_units[group["columns"] : after["columns"]]
        for tree in flat.each[group["begin"] : group["end"]]:
            t, k, width, part = (tree[name] for name in ("number", "clusters", "width", "part"))
            own = slice(tree["columns"], tree["columns"] + width)
            x = exact[:, flat.columns[own]]
            centers = flat.centers[tree["centers"] :][: k * width].reshape(k, -1)
            placed = x * flat.first[own] * flat.second[own] * flat.root[own]
            apart = ((placed[:, None] - centers) ** 2).sum(axis=2)
            assert (apart.argmin(axis=1) == expected[t]).all()
            size = (part + 4) // 4 * 4
            lines = 2 * tree["pairs"]
            records = flat.records[tree["records"] :][: tree["parts"] * (1 + lines) * size]
            records = records.reshape(tree["parts"], 1 + lines, size)
            assert not records[:, 1 + width :, :part].any()
            records = records[:, : 1 + width]
            places = records[:, :width, part].view(np.int32)
            assert (places == places[0]).all()
            assert ((shared if group["count"] else np.arange(len(used)))[places[0]] == flat.columns[own]).all()
            scores = x.astype(np.float32) @ records[:, 1:, :part] + records[:, :1, :part]
            scores = np.moveaxis(scores, 0, 1).reshape(len(X), -1)
            best, second = np.sort(np.pad(scores, ((0, 0), (1, 0)), constant_values=-np.inf), axis=1)[:, :-3:-1].T
            length = np.abs(exact[:, shared].astype(np.float32)) @ units
            error = np.polynomial.Polynomial(tree["margin"])(length)
            sure = second < best - error
            assert (scores.argmax(axis=1) == expected[t])[sure].all()
            assert sure.mean() > 0.9 or not np.isfinite(tree["margin"][0])


@pytest.mark.parametrize("method", ["kway", "ncut"])
def test_ballots_count_what_the_core_counts(method):
    forest = ClusterForest(3, n_estimators=20, random_state=0, consensus=method, n_landmarks=100).fit(X)
    rule, nodes = forest._predictor.placement.rule, forest._predictor.placement.nodes
    parts = forest.partitions_.max(axis=1).astype(np.int64) + 1
    ballot = make_ballot(nodes, rule.links, rule.node_weights, parts, 2**16)
    labels = forest.partitions_[:, :200]
    lines = ballot.lines.bits[ballot.lines.first[:, None] + labels]  # (T, rows, words)
    bits = lines[..., None] >> np.arange(WORD_BITS, dtype=np.uint32) & 1
    counts = bits.sum(axis=0).reshape(200, -1)
    votes = ballot.table[counts] @ ballot.vectors.T + ballot.base
    expected = rule.links.kernel_sums(CpuBackend(1), nodes, np.ascontiguousarray(labels), rule.node_weights)
    np.testing.assert_allclose(votes.T, expected, rtol=1e-10, atol=1e-12)


def test_a_ballot_of_groups_has_a_word_or_more_for_each():
    forest = ClusterForest(3, n_estimators=20, random_state=0, consensus="refined", n_landmarks=100).fit(X)
    rule, nodes = forest._predictor.placement.rule, forest._predictor.placement.nodes
    parts = forest.partitions_.max(axis=1).astype(np.int64) + 1
    ballot = make_group_ballot(nodes, rule, parts, 2**16)
    labels = forest.partitions_[:, :200]
    lines = ballot.lines.bits[ballot.lines.first[:, None] + labels]
    counts = (lines[..., None] >> np.arange(WORD_BITS, dtype=np.uint32) & 1).sum(axis=0)  # (rows, words, bits)
    links = ballot.table[counts] * ballot.weights.reshape(-1, WORD_BITS)
    votes = ballot.base + links.sum(axis=2) @ np.eye(3)[ballot.word_groups]
    expected = rule.links.kernel_sums(CpuBackend(1), nodes, np.ascontiguousarray(labels), rule.node_weights)
    np.testing.assert_allclose(votes.T, expected, rtol=1e-10)
    assert (np.diff(ballot.word_groups) >= 0).all()


def cuda_constants(name):
    source = Path(gpu_trees.__file__).with_name("cuda").joinpath(f"{name}.cu").read_text()
    constants = {key: int(value) for key, value in re.findall(r"constexpr int (k\w+) = (\d+);", source)}
    return types.SimpleNamespace(**constants), source


def test_kernels_and_host_have_the_same_constants():
    nearest, search = cuda_constants("nearest")
    assert nearest.kThreads * nearest.kRows == gpu_trees.SEARCH_ROWS
    assert nearest.kRows == gpu_passes.ROWS_OF_THREAD
    assert set(map(int, re.findall(r"compete<(\d+)>", search))) == set(gpu_trees.PART_SIZES.tolist())
    rows, _ = cuda_constants("rows")
    assert rows.kThreads == gpu_passes.THREADS
    assert (rows.kRows, rows.kColumns) == (gpu_passes.ROWS_OF_THREAD, gpu_passes.COLUMNS_OF_THREAD)
    votes, _ = cuda_constants("votes")
    assert votes.kThreads == gpu_placement.VOTERS
    assert votes.kWords == gpu_trees.WORDS_AT_A_TIME


def test_pieces_fill_the_scratch():
    limits = DeviceLimits()
    rows = gpu_passes.piece_rows(1000, limits)
    assert 0.99 * limits.scratch_bytes < 1000 * rows <= limits.scratch_bytes
    assert gpu_passes.piece_rows(10**6, limits) == limits.least_scratch_rows
    assert gpu_passes.piece_rows(1, limits) == limits.most_scratch_rows <= 65535 * gpu_trees.SEARCH_ROWS  # of a grid


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_survey(cupy, dtype):
    table = np.concatenate([X[:, :5], -X[:, :5], np.zeros((2, 5)), -np.zeros((2, 5))]).astype(dtype)
    expected, found = scan_table(ArraySource(table)), rows_on_gpu(table).seen
    assert (cupy.asnumpy(found.keys) == expected.keys).all()
    assert (found.low == expected.low).all()
    assert (found.high == expected.high).all()


@pytest.mark.gpu
@pytest.mark.parametrize("size", [4, 50, 2000])
def test_the_sample_is_that_of_the_cpu(cupy, size):
    keys = RNG.integers(0, 2**63, 5000, dtype=np.uint64)[RNG.integers(0, 5000, 20000) // RNG.integers(1, 9, 20000)]
    expected, found = draw_rows(keys, None, size, 3), draw_on_gpu(cupy.asarray(keys), size, 3)
    assert (found.rows == expected.rows).all()
    assert (found.weights == expected.weights).all()


@pytest.mark.gpu
@pytest.mark.parametrize("projected", [False, True], ids=["plain", "projected"])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("scale", ["mixed", "none", "rank"])
def test_labels_are_those_of_the_cpu(cupy, scale, weights, projected):
    trees = passed(scale, WEIGHTS[weights], [1, 2, 5, 9, 17, 33, 70, 128, 200], projected)
    rows = rows_on_gpu(X, WEIGHTS[weights])
    assert (rows.ends() == here(WEIGHTS[weights]).ends()).all()
    labels = rows.label(trees)
    assert labels.dtype == trees.label_type
    assert (cupy.asnumpy(labels) == here().label(trees)).all()


@pytest.mark.gpu
@pytest.mark.parametrize("projected", [False, True], ids=["plain", "projected"])
def test_rows_that_float32_cannot_place(cupy, projected):
    """Ties, and centres as close as doubles get."""
    forest, scaling = grown("none", [12], projected)
    forest.centers[0][1::2] = forest.centers[0][::2] * (1 + 2e-16)
    trees = LloydPass.of(forest, scaling, Measure(here().ends(), len(X), len(X), True))
    rows = rows_on_gpu(X)
    assert (cupy.asnumpy(rows.label(trees)) == here().label(trees)).all()
    assert rows.unsure > 0


@pytest.mark.gpu
def test_pieces_change_nothing(cupy):
    trees = passed(clusters=[2, 70, 9])
    few = {"scratch_bytes": 1, "least_scratch_rows": 512, "tile_columns": 3, "block_bytes": 8 * 6 * 1000}
    few["chip_bytes"] = 4 * 3 * gpu_trees.SEARCH_ROWS + 1024  # not all centres of a tree fit
    assert (cupy.asnumpy(rows_on_gpu(X, **few).label(trees)) == here().label(trees)).all()


def assert_same(a, b):
    """Features, kappas, centres, labels in the trees and clusters."""
    assert all((f == g).all() for f, g in zip(a.estimators_features_, b.estimators_features_, strict=True))
    assert (a.kappas_ == b.kappas_).all()
    assert all((c == d).all() for c, d in zip(a._predictor.trees.centers, b._predictor.trees.centers, strict=True))
    assert (a.partitions_ == b.partitions_).all()
    assert (a.labels_ == b.labels_).all()


@pytest.mark.gpu
@pytest.mark.parametrize("consensus", ["kway", "refined", "ncut", "average", "gaps", "medoid"])
def test_a_fit_is_that_of_the_cpu(big, consensus):
    forest = ClusterForest(4, n_estimators=20, random_state=0, consensus=consensus, n_jobs=-1)
    cpu = forest.fit(big)
    found = ClusterForest(**forest.get_params()).set_params(device="gpu").fit(big)
    assert found.chosen_params_["device"] == ("gpu", "given")
    assert_same(found, cpu)
    assert isinstance(found.labels_, np.ndarray)


@pytest.mark.gpu
@pytest.mark.parametrize("changed", [{"n_estimators": 260}, {"n_base_clusters": 150}, {"scale": "none"}], ids=str)
def test_unusual_forests(big, changed):
    settings = {"n_estimators": 10, "random_state": 1, "consensus": "kway", "n_jobs": -1, **changed}
    cpu, found = (ClusterForest(4, device=backend, **settings).fit(big) for backend in ("cpu", "gpu"))
    assert_same(found, cpu)


@pytest.mark.gpu
def test_weights_missing_cells_and_infinity(cupy, big):
    weights = RNG.integers(0, 3, len(big))
    holes = np.where(RNG.random(big.shape) < 0.001, np.nan, big)
    holes[np.isnan(holes).all(axis=1), 0] = 0.0
    for table, given in ((big, weights), (holes, None)):
        cpu, found = (
            ClusterForest(4, n_estimators=8, random_state=0, n_jobs=-1, device=backend).fit(x, sample_weight=given)
            for backend, x in (("cpu", table), ("gpu", cupy.asarray(table)))
        )
        assert (cupy.asnumpy(found.labels_) == cpu.labels_).all()
        assert (cupy.asnumpy(found.predict(cupy.asarray(holes[:99]))) == cpu.predict(holes[:99])).all()
    broken = cupy.asarray(big)
    broken[4000, 2] = np.inf
    with pytest.raises(ValueError, match="infinity in row 4000, column 2"):
        ClusterForest(4).fit(broken)


@pytest.mark.gpu
@pytest.mark.parametrize("scale", ["mixed", "rank"])
def test_columns_whose_range_is_no_double(big, scale):
    table = big.copy()
    table[:, 3] *= 1.7e308 / np.abs(table[:, 3]).max()
    table[:, 4] *= 1e-310
    settings = {"n_estimators": 8, "random_state": 0, "n_jobs": -1, "scale": scale}
    cpu, found = (ClusterForest(4, device=backend, **settings).fit(table) for backend in ("cpu", "gpu"))
    assert_same(found, cpu)


@pytest.mark.gpu
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
def test_arrays_on_the_gpu(cupy, big, tmp_path, order, dtype):
    table = np.asarray(big * 10, dtype=dtype, order=order)
    forest = ClusterForest(4, n_estimators=8, random_state=0, n_jobs=-1)
    cpu = ClusterForest(**forest.get_params()).fit(table)
    found = forest.fit(cupy.asarray(table, order=order))
    assert found.chosen_params_["device"] == ("gpu", "X is on the GPU")
    assert isinstance(found.labels_, cupy.ndarray)
    assert isinstance(found.partitions_, cupy.ndarray)
    found.save(tmp_path / "forest")
    assert_same(ClusterForest.load(tmp_path / "forest"), cpu)
    new = cupy.asarray(table[:500])
    for name in ("predict", "predict_proba", "transform"):
        values = getattr(found, name)(new)
        assert isinstance(values, cupy.ndarray)
        assert (cupy.asnumpy(values) == getattr(cpu, name)(table[:500])).all()
    for name in ("memberships_", "item_consensus_", "cluster_consensus_", "consensus_silhouette_"):
        assert (cupy.asnumpy(getattr(found, name)) == getattr(cpu, name)).all()
    assert (cupy.asnumpy(found.coassociation([0, 5], slice(0, 9))) == cpu.coassociation([0, 5], slice(0, 9))).all()
    with pytest.raises(ValueError, match="must be row numbers below"):
        found.coassociation([10**7])
    assert found.stability(n_splits=2).mean == cpu.stability(n_splits=2).mean


@pytest.mark.gpu
def test_torch_tensors(cupy, big):
    if cupy is emulated_cupy:
        pytest.skip("torch is not emulated: needs an NVIDIA GPU")
    torch = pytest.importorskip("torch")
    for rows in (1000, len(big)):
        found = ClusterForest(4, n_estimators=8, random_state=0).fit(torch.asarray(big[:rows], device="cuda"))
        cpu = ClusterForest(4, n_estimators=8, random_state=0).fit(big[:rows])
        assert found.chosen_params_["device"].value == ("gpu" if rows > DEFAULT_LIMITS.large_rows else "cpu")
        assert isinstance(found.labels_, torch.Tensor)
        assert found.labels_.is_cuda
        assert (found.labels_.cpu().numpy() == cpu.labels_).all()
        assert found.predict(torch.asarray(big[:100], device="cuda")).is_cuda


@pytest.mark.gpu
def test_tables_that_do_not_fit_are_streamed(big, lower_limits):
    settings = {"n_estimators": 8, "random_state": 0, "n_jobs": -1}
    cpu = ClusterForest(4, **settings).fit(big)
    lower_limits(device=DeviceLimits(spare=0.0, block_bytes=big.nbytes // 3))
    found = ClusterForest(4, **settings, device="gpu").fit(big)
    assert_same(found, cpu)


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("trees", "landmarks", "chip_bytes"),
    [(20, 100, 2**18), (140, 1100, 2**18), (140, 300, 2**13), (30, 300, 16), (300, 100, 2**14)],
    ids=["all at once", "many nodes", "in parts", "not on the chip", "two bytes"],
)
@pytest.mark.parametrize("method", ["kway", "ncut"])
def test_votes_are_those_of_the_cpu(cupy, monkeypatch, method, trees, landmarks, chip_bytes):
    """The numbers, not only what follows from them."""
    settings = {"random_state": 0, "consensus": method, "n_landmarks": landmarks}
    forest = ClusterForest(3, n_estimators=trees, **settings).fit(X)
    placement, labels = forest._predictor.placement, np.ascontiguousarray(forest.partitions_[:, :100])
    parts = forest.partitions_.max(axis=1) + 1
    limits, votes = DeviceLimits(vote_chip_bytes=chip_bytes), []
    rule = gpu_placement.DeviceRule(placement, parts.tolist(), np.int8, limits)
    over = rule.kernels.over

    def watch(rows, name, given, *others):
        votes.append(cupy.asnumpy(given))
        over(rows, name, given, *others)

    monkeypatch.setattr(rule.kernels, "over", watch)
    found = cupy.empty(100, np.int32)
    rule.clusters(cupy.asarray(labels.astype(np.int8)), found)
    expected = placement.rule.links.kernel_sums(CpuBackend(1), placement.nodes, labels, placement.rule.node_weights)
    np.testing.assert_allclose(votes[0], expected, rtol=1e-10, atol=1e-12)
    assert (cupy.asnumpy(found) == placement.clusters(CpuBackend(1), labels)).all()


@pytest.mark.gpu
def test_votes_in_blocks(big, lower_limits):
    lower_limits(device=DeviceLimits(vote_bytes=2**16))
    settings = {"n_estimators": 8, "random_state": 0, "n_jobs": -1, "consensus": "ncut"}
    cpu, found = (ClusterForest(7, device=backend, **settings).fit(big) for backend in ("cpu", "gpu"))
    assert_same(found, cpu)
