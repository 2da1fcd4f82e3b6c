"""A map of rows: two coordinates for each, so that rows that are often together lie near each other."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from sklearn.manifold import TSNE

from clusterforests._base.threads import blas_threads, openmp_threads
from clusterforests._base.typing import FloatArray, IndexArray
from clusterforests.forest_view import ForestView
from clusterforests.report.json_values import packed
from clusterforests.report.limits import PageLimits
from clusterforests.report.row_lists import short_ids
from clusterforests.story.certainty import Certainty
from clusterforests.story.table_sample import TableSample, representative_rows

STEPS = 2**12 - 1  # of a coordinate
FEW = 12  # rows that are too few for neighbours
NEIGHBOURS = 30
ITERATIONS = 350


@dataclass(frozen=True)
class PlacedRows:
    """Some rows and their places, (n, 2)."""

    rows: IndexArray
    places: FloatArray


def place_some(view: ForestView, sure: Certainty, limits: PageLimits) -> PlacedRows:
    """Place some rows, a few of every cluster among them."""
    rows = representative_rows(sure.labels, limits.point_rows, limits.map_rows_per_cluster)
    return PlacedRows(rows, place_rows(view.coassociation(rows)))


def point_entry(placed: PlacedRows, table: TableSample) -> dict[str, Any]:
    """Describe the map of rows."""
    low = placed.places.min(axis=0)
    width = float((placed.places - low).max()) or 1.0  # one scale for both, so that the map keeps its shape
    steps = np.rint(STEPS * (placed.places - low) / width)
    return {
        "rows": placed.rows.tolist(),
        "ids": short_ids(table, placed.rows),
        "x": packed(steps[:, 0], "u2"),
        "y": packed(steps[:, 1], "u2"),
        "steps": STEPS,
    }


def place_rows(shares: FloatArray) -> FloatArray:
    """Place rows by the shares of trees in which two are together: t-SNE, from classical scaling as its start.

    Parameters
    ----------
    shares : array of shape (n, n)
        P between the rows.

    Returns
    -------
    places : array of shape (n, 2)
    """
    with blas_threads(1), openmp_threads(1):  # so that the same forest gives the same map
        start = _classical_scaling(shares)
        if len(shares) <= FEW or not start.any():
            return start
        apart = np.sqrt(np.maximum(1.0 - shares, 0.0))
        np.fill_diagonal(apart, 0.0)
        start *= 1e-4 / start[:, 0].std()
        neighbours = min(NEIGHBOURS, (len(shares) - 1) / 3)
        method = TSNE(
            init=start.astype(np.float32),
            metric="precomputed",
            perplexity=neighbours,
            max_iter=ITERATIONS,
            random_state=0,
            learning_rate="auto",
        )
        places: FloatArray = method.fit_transform(apart).astype(np.float64)
    return places


def _classical_scaling(shares: FloatArray) -> FloatArray:
    """Find the two leading coordinates in which squared distances are nearest to 1 - P."""
    n = len(shares)
    if n < 3:
        return np.column_stack([np.arange(n, dtype=np.float64), np.zeros(n)])
    means = shares.mean(axis=0)
    centred = shares - means - means[:, None] + means.mean()
    values, vectors = scipy.linalg.eigh(centred, subset_by_index=[n - 2, n - 1])
    places = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, ::-1]
    first = np.abs(places).argmax(axis=0)
    signs = np.where(places[first, [0, 1]] < 0, -1.0, 1.0)
    scaled: FloatArray = places * signs
    return scaled
