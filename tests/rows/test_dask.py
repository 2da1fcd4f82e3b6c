"""Tables of Dask: the same answer as a NumPy fit, however they are cut into pieces and whoever dies."""

import contextlib
import importlib
import os
import signal
import subprocess
import sys
import time

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from dask.delayed import delayed
from distributed import Client, LocalCluster
from sklearn.metrics import adjusted_rand_score

from clusterforests import ClusterForest, describe
from clusterforests._utils.arrays import row_keys
from clusterforests._utils.memory import SizeLimits
from clusterforests.app.report.json_values import PageLimits
from clusterforests.app.report.writing import gather
from clusterforests.rows.dask.reader import DaskReader, split
from clusterforests.rows.dask.tasks import stack
from clusterforests.table import row_sampling as sampling

N, P = 3000, 6
RNG = np.random.default_rng(0)
TRUTH = RNG.integers(0, 4, N)
X = RNG.normal(size=(N, P)) + 6 * RNG.normal(size=(4, P))[TRUTH] * [1, 1, 1, 0, 0, 0]
WHOLE = RNG.integers(0, 4, N).astype(np.float64)
NAMES = list("abcdef")

CHUNKS = {
    "one partition": (N,),
    "equal": (500,) * 6,
    "unequal": (1, 1700, 299, 1000),
    "empty ones": (0, 1200, 0, 0, 1800, 0),
    "many": (3,) * 1000,
}


FEW = {"large_rows": 1000, "sample_rows": 500, "least_sample": 500}


@pytest.fixture(autouse=True)
def few(lower_limits):
    """Limits so low that 3,000 rows are many, on the scheduler of this process."""
    lower_limits(**FEW)
    with dask.config.set(scheduler="synchronous"):
        yield


@contextlib.contextmanager
def workers(count, **settings):
    """A cluster of workers with one thread each, and a client that is asked for everything."""
    with (
        LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address="127.0.0.1:0", **settings) as started,
        Client(started) as client,
        dask.config.set(scheduler="distributed"),
    ):
        yield client


def forest(**settings):
    return ClusterForest(4, **{"n_estimators": 20, "random_state": 0} | settings)


@pytest.fixture(scope="module")
def plain():
    """The fit that the others have to repeat."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ClusterForest, "_limits", SizeLimits(**FEW))
        return forest().fit(X)


def in_pieces(rows, lengths):
    """A Dask array with just these pieces, empty ones too."""
    blocks = [delayed(rows[end - n : end]) for n, end in zip(lengths, np.cumsum(lengths), strict=True)]
    return stack(blocks, lengths, rows.dtype, after=rows.shape[1:])


@pytest.mark.parametrize("lengths", CHUNKS.values(), ids=CHUNKS)
def test_the_same_as_numpy_however_it_is_cut(plain, lengths):
    table = in_pieces(X, lengths)
    found = forest().fit(table)
    assert isinstance(found.labels_, da.Array)
    assert found.labels_.chunks == (lengths,)
    assert found.labels_.dtype == np.int32
    assert (found.labels_.compute() == plain.labels_).all()
    assert (found.partitions_.compute() == plain.partitions_).all()
    assert found.partitions_.dtype == np.int8
    for name in ("kappas_", "kappa_path_", "feature_importances_", "feature_pvalues_"):
        np.testing.assert_array_equal(getattr(found, name), getattr(plain, name))
    assert all(
        (a == b).all() for a, b in zip(found._predictor.trees.centers, plain._predictor.trees.centers, strict=True)
    )
    assert found.n_iter_ == plain.n_iter_
    assert found.chosen_params_ == plain.chosen_params_


BLOCKS = {"matrix": np.matrix, "sparse": scipy.sparse.coo_array, "sparse matrix": scipy.sparse.csc_matrix}


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize(
    "kind", ["float32", "unknown chunks", "columns cut", *BLOCKS, "frame", "mixed dtypes", "nullable"]
)
def test_kinds_of_tables(plain, kind):
    rows = X.astype(np.float32) if kind == "float32" else X.copy()
    if kind in ("mixed dtypes", "nullable"):
        rows[:, 3:] = rows[:, 3:].round()
        rows[:, 5] = rows[:, 5] > 0
    frame = pd.DataFrame(rows, columns=NAMES)
    if kind == "mixed dtypes":
        frame = frame.astype({"a": "float32", "d": "int16", "e": "int64", "f": "bool"})
    if kind == "nullable":
        frame = frame.astype({"d": "Int16", "e": "Float64", "f": "boolean"})
    expected = forest().fit(frame if "frame" in kind or frame.dtypes.nunique() > 1 else rows)
    table = in_pieces(rows, (1000, 500, 1500))
    if kind == "unknown chunks":
        table = da.concatenate([table, table])[da.concatenate([da.ones(N, dtype=bool), da.zeros(N, dtype=bool)])]
        assert np.isnan(table.shape[0])
    if kind in BLOCKS:
        table = table.map_blocks(BLOCKS[kind], dtype=float)
    if kind == "columns cut":
        table = table.rechunk((700, 4))
    if frame.dtypes.nunique() > 1 or kind == "frame":
        table = dd.from_pandas(frame, npartitions=5)
    found = forest().fit(table)
    assert (found.labels_.compute() == np.asarray(expected.labels_)).all()
    assert (found.predict(table).compute() == np.asarray(expected.labels_)).all()
    assert found.labels_.shape == (N,)
    names = getattr(found, "feature_names_in_", None)
    assert names is None if isinstance(table, da.Array) else list(names) == NAMES


@pytest.mark.parametrize("weights", [WHOLE, RNG.exponential(size=N), np.where(np.arange(N) < 600, 0.0, 1.0)])
def test_weights(weights):
    expected = forest().fit(X, sample_weight=weights)
    lengths = (600, 1400, 0, 1000)
    table = in_pieces(X, lengths)
    unknown = stack([delayed(piece) for piece in np.split(weights, [600, 2000, 2000])], [np.nan] * 4, np.float64)
    for given in (weights, da.from_array(weights, chunks=700), unknown):
        found = forest().fit(table, sample_weight=given)
        assert (found.labels_.compute() == expected.labels_).all()
        assert (found.partitions_.compute() == expected.partitions_).all()
        np.testing.assert_allclose(found.consensus_silhouette_.compute(), expected.consensus_silhouette_)


def test_few_rows_are_fitted_here(lower_limits):
    """Missing cells and categories are what they are for a frame of pandas."""
    lower_limits(large_rows=65536)
    frame = pd.DataFrame(X[:300], columns=NAMES).assign(kind=pd.Categorical(np.where(TRUTH[:300] > 1, "x", "y")))
    frame.loc[5, "a"] = np.nan
    expected = forest().fit(frame)
    found = forest().fit(dd.from_delayed([delayed(frame[:100]), delayed(frame[:0]), delayed(frame[100:])]))
    assert found.labels_.chunks == ((100, 0, 200),)
    assert (found.labels_.compute() == expected.labels_).all()
    assert (found.partitions_.compute() == expected.partitions_).all()
    np.testing.assert_array_equal(found.memberships_.compute(), expected.memberships_)


def test_a_table_with_repeated_rows_has_the_sample_of_the_whole():
    """Also where pieces tell too few keys at first, and where a frequent row is no candidate by its key."""
    rows = X[RNG.integers(0, N, N)] + RNG.normal(size=(N, P))
    rows[RNG.permutation(N)[:900]] = 1.0
    rows[RNG.permutation(N)[:300]] = rows[:300]
    for lengths in ((N,), (10, 2000, 990), (30,) * 100):
        for size, seed in ((50, 0), (200, 1), (200, 2)):
            expected = sampling.draw_rows(row_keys(rows), None, size, seed, 2)
            table = DaskReader(split(in_pieces(rows, lengths)), None, np.array(lengths), P, str, candidates=2)
            found = table.draw(size, seed)
            assert (found.rows.values == rows[expected.rows]).all()
            assert (found.weights == expected.weights).all()
            assert (found.rows.values == 1.0).all(axis=1).any()


def test_pieces_that_are_unlike_are_asked_again():
    """Keys are no longer spread evenly over the pieces: some have none that matter, others nearly all."""
    keys = row_keys(X)
    order = np.argsort(sampling.waiting_times(keys, 0))
    table = DaskReader(split(in_pieces(X[order], (500,) * 6)), None, np.full(6, 500), P, str, candidates=2)
    expected = sampling.draw_rows(keys[order], None, 200, 0, 2)
    assert (table.draw(200, 0).rows.values == X[order][expected.rows]).all()


def test_lazy_results_equal_those_of_numpy(plain, tmp_path):
    table = in_pieces(X, (0, 1300, 700, 1000))
    found = forest().fit(table)
    for name in ("memberships_", "item_consensus_", "consensus_silhouette_", "cluster_shares_"):
        lazy = getattr(found, name)
        assert isinstance(lazy, da.Array)
        np.testing.assert_array_equal(lazy.compute(), getattr(plain, name))
    means = found.cluster_consensus_
    assert isinstance(means, da.Array)
    np.testing.assert_allclose(means.compute(), plain.cluster_consensus_, rtol=1e-13)  # sums in another order
    for name in ("predict", "predict_proba", "transform"):
        lazy = getattr(found, name)(table)
        assert isinstance(lazy, da.Array)
        assert lazy.shape == getattr(plain, name)(X).shape
        np.testing.assert_array_equal(lazy.compute(), getattr(plain, name)(X))
        np.testing.assert_array_equal(getattr(plain, name)(table).compute(), lazy.compute())
    for rows, cols in (([0, 2999, 5], None), (slice(100, 200), [3, 1])):
        lazy = found.coassociation(rows, cols)
        assert isinstance(lazy, da.Array)
        np.testing.assert_array_equal(lazy.compute(), plain.coassociation(rows, cols))
    with pytest.raises(ValueError, match="rows="):
        found.coassociation([N], None)
    assert (found.stability(n_splits=3).scores == plain.stability(n_splits=3).scores).all()
    found.save(tmp_path / "model.cf")
    assert (ClusterForest.load(tmp_path / "model.cf").labels_ == plain.labels_).all()


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_description_and_report_read_dask_tables(plain):
    """Only the rows that they show are brought here; a frame or an array that does not know its rows is read too."""
    told = str(describe(plain, X, names=NAMES))
    pieces = in_pieces(X, (1000, 500, 1500))
    unknown = da.concatenate([pieces, pieces])[da.concatenate([da.ones(N, dtype=bool), da.zeros(N, dtype=bool)])]
    blocks = [pieces.map_blocks(kind, dtype=float) for kind in BLOCKS.values()]
    for table in (pieces, unknown, *blocks, dd.from_pandas(pd.DataFrame(X, columns=NAMES), npartitions=3)):
        found = forest().fit(table)
        assert str(describe(found, table, names=NAMES)) == told
    with pytest.raises(ValueError, match="its rows are in another order"):
        describe(forest().fit(pieces), pieces[::-1])
    assert np.isnan(unknown.shape[0])  # the user's table is as it was
    few = PageLimits(splits=2, numbers=2, numbers_of_many=2)
    assert gather(found, table, limits=few)["answer"] == gather(plain, X, names=NAMES, limits=few)["answer"]


def test_masked_cells_are_missing_ones():
    masked = np.ma.masked_array(X, mask=np.zeros(X.shape, dtype=bool))
    assert (forest().fit(da.from_array(masked, chunks=(1000, -1))).labels_.compute() == forest().fit(X).labels_).all()
    masked[0, 1] = np.ma.masked
    with pytest.raises(ValueError, match="X has missing cells in column 1, partition 0"):
        forest().fit(da.from_array(masked, chunks=(1000, -1)))


def test_what_is_refused():
    table = in_pieces(X, (1000, 2000))
    broken = X.copy()
    broken[1700, 2] = np.nan
    frame = pd.DataFrame(X, columns=NAMES)
    refused = [
        (in_pieces(broken, (1000, 2000)), "missing cells in column 2, partition 1"),
        (in_pieces(np.where(np.isnan(broken), np.inf, broken), (1000, 2000)), "infinite cells in column 2"),
        (dd.from_pandas(frame.assign(g="text"), npartitions=2), "column 'g'"),
        (table[:, 0], "2-dimensional"),
        (table[:0], "0 sample"),
        (table[:, :0], "0 feature"),
    ]
    for given, message in refused:
        with pytest.raises(ValueError, match=message):
            forest().fit(given)
    with pytest.raises(TypeError, match="Dask DataFrame"):
        forest().fit(delayed(X))
    for settings in ({"n_landmarks": None}, {"max_samples": None}):
        with pytest.raises(ValueError, match="all rows in one place"):
            forest(**settings).fit(table)
    for weights, message in (
        (in_pieces(WHOLE, (1000, 1000)), "2000 entries"),
        (da.zeros(N), "zero for every row"),
        (in_pieces(np.where(np.arange(N) == 2000, -1.0, 1.0), (1000, 2000)), "not negative"),
        (da.ones((N, 1)), "1-dimensional"),
    ):
        with pytest.raises(ValueError, match=message):
            forest().fit(table, sample_weight=weights)
    with pytest.raises(ValueError, match="5 features"):
        forest().fit(X).predict(table[:, :5])


def test_missing_cells_of_new_rows():
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    holes[:, 0] = X[:, 0]
    fitted = forest().fit(in_pieces(X, (1000, 2000)))
    found = fitted.predict(in_pieces(holes, (1500, 1500))).compute()
    assert adjusted_rand_score(fitted.labels_.compute(), found) > 0.8
    assert (forest().fit(X).predict(holes) == found).all()


def test_a_fit_that_fails_leaves_the_one_before():
    fitted = forest().fit(X)
    before = vars(fitted).copy()
    with pytest.raises(ValueError, match="missing"):
        fitted.fit(in_pieces(np.full((N, 2), np.nan), (N,)))
    assert vars(fitted).keys() == before.keys()
    assert all(vars(fitted)[name] is before[name] for name in before)


def test_dask_is_imported_only_with_its_tables():
    code = "import sys; from clusterforests import *; sys.exit('dask' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("n_workers", [1, 2, 4])
def test_any_number_of_workers(plain, n_workers):
    with workers(n_workers, processes=False):
        table = in_pieces(X, (500,) * 6)
        for given in (table, table.persist(), dd.from_dask_array(table).persist()):
            assert (forest().fit(given).labels_.compute() == plain.labels_).all()


def test_trees_of_few_rows_grow_on_workers(lower_limits):
    lower_limits(large_rows=65536)
    expected = forest().fit(X)
    with workers(2, processes=False) as client:
        found = forest().fit(in_pieces(X, (1500, 1500)))
        assert (found.partitions_.compute() == expected.partitions_).all()
        assert (found.labels_.compute() == expected.labels_).all()
        np.testing.assert_array_equal(found.kappas_, expected.kappas_)
        assert "make-trees" in client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.task_prefixes))


def test_progress_is_told(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with workers(1, processes=False):
        forest(verbose=1).fit(in_pieces(X, (1000,) * 3))
    told = capsys.readouterr().err
    assert "20/20 trees" in told
    assert "reading [########################] 9000/9000 rows" in told


def hurting(module, name, marker, pid=None):
    """For a worker: there the first call of the function kills that process, or the one with the given number."""

    def hurt():
        owner = importlib.import_module(module)
        work = getattr(owner, name)

        def killing(*arguments):
            try:
                os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return work(*arguments)
            os.kill(os.getpid() if pid is None else pid, signal.SIGKILL)
            return work(*arguments)

        setattr(owner, name, killing)

    return hurt


STAGES = {
    "survey": ("clusterforests.rows.dask.partition_work", "survey_piece"),
    "sample": ("clusterforests.rows.dask.partition_work", "take"),
    "growth": ("clusterforests.rows.dask.reader", "_grow"),
    "placement": ("clusterforests.rows.dask.partition_work", "place"),
}


@pytest.mark.parametrize("stage", [pytest.param(s, marks=[pytest.mark.slow] * (s != "placement")) for s in STAGES])
def test_a_worker_is_killed(plain, tmp_path, stage):
    marker = tmp_path / "killed"
    with workers(2, memory_limit="1GB") as client:
        client.run(hurting(*STAGES[stage], str(marker)))
        found = forest().fit(in_pieces(X, (500,) * 6))
        assert (found.labels_.compute() == plain.labels_).all()
    assert marker.exists()


def test_the_scheduler_is_killed(plain, tmp_path):
    fitted = forest().fit(X)
    before = vars(fitted).copy()
    file = tmp_path / "scheduler.json"
    dask_command, address = [sys.executable, "-m", "dask"], ["--host", "127.0.0.1", "--scheduler-file", str(file)]
    with (
        dask.config.set({"scheduler": "distributed", "distributed.comm.timeouts.connect": "1s"}),
        subprocess.Popen(
            [*dask_command, "scheduler", *address, "--port", "0", "--dashboard-address", "127.0.0.1:0"]
        ) as scheduler,
        subprocess.Popen([*dask_command, "worker", *address, "--nthreads", "1", "--no-nanny"]) as worker,
    ):
        try:
            while not file.exists():
                assert scheduler.poll() is None
                time.sleep(0.1)
            with Client(scheduler_file=str(file), timeout=20) as client:
                client.wait_for_workers(1)
                client.run(hurting(*STAGES["placement"], str(tmp_path / "killed"), scheduler.pid))
                with pytest.raises(RuntimeError, match="scheduler is gone"):
                    fitted.fit(in_pieces(X, (500,) * 6))
        finally:  # a process that still lived would be waited for
            scheduler.kill()
            worker.kill()
    assert all(vars(fitted)[name] is before[name] for name in before)
    assert (fitted.labels_ == plain.labels_).all()
