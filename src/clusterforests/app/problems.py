"""The problems of a table that was read from a file: all of them in one list, with the command that answers them."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from clusterforests.app.table_reader import ColumnProblem
from clusterforests.app.table_reader.notes import Remedy

SUGGESTION = "A command that answers all of them; change what is not so:"
STYLES = {
    "number, decimal point": ("--decimal", "."),
    "number, decimal comma": ("--decimal", ","),
    "date, day first": ("--day-first",),
    "date, month first": ("--month-first",),
}


@dataclass(frozen=True)
class LocatedProblem:
    """A problem of a column, and the line of the file where it is first seen, if it has one."""

    problem: ColumnProblem
    line: int | None = None

    def sentence(self, file: str = "") -> str:
        """Say where, what, and which options help."""
        line = None if self.line is None else f"line {self.line}"
        where = ", ".join(filter(None, [file, line, f"column {self.problem.column!r}"]))
        remedies = self.problem.remedies
        ways = [f"{write_command(self.option(remedy))} {remedy.meaning}" for remedy in remedies]
        advice = f" Pass {', or '.join(ways)}." if ways else ""
        return f"{where}: {self.problem.text}{advice}"

    def option(self, remedy: Remedy) -> tuple[str, ...]:
        """Write what can be done as an option of the command line, and its values."""
        if remedy.missing:
            return ("--missing", *remedy.missing)
        if not isinstance(remedy.override, str):
            return ("--ordered", f"{self.problem.column}={','.join(remedy.override)}")
        return STYLES.get(remedy.override) or (f"--{remedy.override}", self.problem.column)


class FileProblems(ValueError):
    """The problems of a file. As text they speak of the arguments in Python; `describe` lists them for the screen."""

    def __init__(self, file: str, problems: Sequence[LocatedProblem]) -> None:
        self.file = file
        self.problems = tuple(problems)
        told = [("" if found.line is None else f"line {found.line}: ") + str(found.problem) for found in problems]
        super().__init__(f"{file}: {told[0]}" if len(told) == 1 else "\n".join([f"{file}:", *told]))

    def describe(self, command: Sequence[str]) -> str:
        """List all problems, and the command with what solves them."""
        if len(self.problems) == 1:
            return self.problems[0].sentence(self.file)
        listed = [f"  {number}. {problem.sentence()}" for number, problem in enumerate(self.problems, 1)]
        lines = [f"{self.file} has {len(self.problems)} problems:", *listed]
        return "\n".join([*lines, SUGGESTION, f"  {suggest(command, self.problems)}"])


def suggest(command: Sequence[str], problems: Sequence[LocatedProblem]) -> str:
    """Write the command with the first remedy of each problem."""
    options: dict[str, list[str]] = {}
    for problem in problems:
        for remedy in problem.problem.remedies[:1]:
            option, *values = problem.option(remedy)
            given = options.setdefault(option, [])
            if option != "--decimal" or not given:
                given += [value for value in values if value not in given]
    return write_command([*command, *(word for option, values in options.items() for word in (option, *values))])


def write_command(words: Sequence[str]) -> str:
    """Write a command as it is typed, with escapes for what a terminal would obey rather than show."""
    return " ".join(shlex.quote(word) if word.isprintable() else _escaped(word) for word in words)


def _escaped(word: str) -> str:
    """Quote a word as bash and zsh do: $'...', with the number of each character that cannot be seen."""
    plain = (char if char.isprintable() and char not in "\\'" else f"\\U{ord(char):08x}" for char in word)
    return f"$'{''.join(plain)}'"
