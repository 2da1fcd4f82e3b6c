"""Problems of a file, and the command that answers them."""

import subprocess

import pytest

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
