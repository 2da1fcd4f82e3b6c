"""A table that commands read."""

import csv

import numpy as np
import pytest

from clusterforests.app.command_line.commands import wine_as_text


@pytest.fixture
def wine(tmp_path):
    path = tmp_path / "wine.csv"
    path.write_text(wine_as_text())
    return path


@pytest.fixture
def read_labels():
    """A function that takes apart the text of a labels file: its header, the rows' names, their clusters."""

    def read(text):
        rows = list(csv.reader(text.splitlines()))
        return rows[0], [row[0] for row in rows[1:]], np.array([int(row[1]) for row in rows[1:]])

    return read
