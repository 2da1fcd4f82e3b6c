"""Problems of a file, and the command that answers them."""

import subprocess

import pytest

from clusterforests._utils.validation import rename_places
from clusterforests.app.problems import LocatedProblem, suggest, write_command
from clusterforests.app.table_reader import ColumnProblem
from clusterforests.app.table_reader.notes import Remedy

WORDS = ["plain", "two words", "it's", "0.0\x0b1", "\x1b[31mred\x1b[0m", "back\\slash\t'quoted'", "\u2028", "größer"]


def test_commands_can_be_seen_and_typed():
    """A cell with a vertical tab split the message in two; one with an escape could repaint the terminal."""
    line = write_command(WORDS)
    assert line.isprintable()
    typed = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' {line}"], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"}
    )
    assert typed.stdout.decode().split("\0")[:-1] == WORDS


@pytest.mark.parametrize("cell", ["0.0\x0b1", "\x1b[2J"])
def test_a_cell_that_cannot_be_seen_stays_in_its_line(cell):
    remedy = Remedy("", "if that stands for a missing value", (cell,))
    problem = LocatedProblem(ColumnProblem("c", f"{cell!r} is not a number.", (remedy,)), 5)
    assert problem.sentence("t.csv").isprintable()
    assert suggest(["clusterforests", "fit"], [problem]).isprintable()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("infinity in row 4, column 1.", "infinity in row 5, column 2."),
        ("row 0 - row 9 of 10 row(s), 3 rows", "row 1 - row 10 of 10 row(s), 3 rows"),
        ("class 'row 3' and column 'the row 3 and column 4'", "class 'row 3' and column 'the row 3 and column 4'"),
        ('class "it\'s row 3" in row 3', 'class "it\'s row 3" in row 4'),
        (repr("both ' and \" in row 3") + " in row 3", repr("both ' and \" in row 3") + " in row 4"),
        ("the cluster's row 3 and its rows' column 3", "the cluster's row 4 and its rows' column 4"),
    ],
)
def test_what_is_counted_is_renamed_and_what_is_quoted_is_left(text, expected):
    assert rename_places(text, lambda row: str(row + 1)) == expected


def test_rows_have_the_names_that_they_are_given():
    assert rename_places("row 1 and row 0, column 0", "ab".__getitem__) == "row b and row a, column 1"
