"""Tables and figures of both theorems."""

import numpy as np
import pytest

from paper import theory
from paper.experiments import theory as experiment
from paper.experiments import theory_figures
from paper.experiments.figures import save


def test_tables_of_measured_rates():
    """The slopes of rates that follow the corrected tail are its exponents, up to the fit."""
    points = [
        experiment.RatePoint(g, s, n, rate := theory.misclustering_probability(n, g, s), rate / 10)
        for g, s, sizes in experiment.RATE_GRID
        for n in sizes
    ]
    header, rows = experiment._theorem2(points)
    assert len(rows) >= 12
    assert all(len(row) == len(header) for row in rows)
    header, rows = experiment._slopes(points)
    assert all(len(row) == len(header) for row in rows)
    columns = dict(zip(header, np.array(rows).T, strict=True))
    assert columns["slope / corrected"] == pytest.approx(1.0, rel=1e-6)
    # The tail's prefactor makes log rate steeper than its exponent.
    assert (columns["raw slope of log rate"] < columns["slope of -z^2/2"]).all()


def test_figures_are_written_and_repeat_byte_for_byte(tmp_path):
    first, second = (save(theory_figures._rules_figure(), tmp_path / name, "rules") for name in "ab")
    assert first.read_bytes() == second.read_bytes()
