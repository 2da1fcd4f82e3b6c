"""All problems of a file in one list, with one command that solves them."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from clusterforests.table.reader.column_problems import ColumnProblem, Remedy

SUGGESTION = "A command that answers all of them; change what is not so:"


@dataclass(frozen=True)
class LocatedProblem:
    """A problem of a column, and the line of the file where it is first seen, if it has one."""

    problem: ColumnProblem
    line: int | None = None

    def sentence(self, file: str = "") -> str:
        """Say where, what, and what can be done."""
        line = None if self.line is None else f"line {self.line}"
        where = ", ".join(filter(None, [file, line, f"column {self.problem.column!r}"]))
        ways = [f"{write_remedy(remedy)} {remedy.meaning}" for remedy in self.problem.remedies if remedy.option]
        advice = f" Pass {', or '.join(ways)}." if ways else ""
        return f"{where}: {self.problem.text}{advice}"


class FileProblems(ValueError):
    """The problems of a file. `describe` lists them for the screen."""

    def __init__(self, file: str, problems: Sequence[LocatedProblem]) -> None:
        self.file = file
        self.problems = tuple(problems)
        super().__init__("\n".join(problem.sentence(file) for problem in problems))

    def describe(self, command: Sequence[str]) -> str:
        """List all problems, and the command with what solves them."""
        if len(self.problems) == 1:
            return self.problems[0].sentence(self.file)
        lines = [f"{self.file} has {len(self.problems)} problems:"]
        lines += [f"  {number}. {problem.sentence()}" for number, problem in enumerate(self.problems, 1)]
        return "\n".join([*lines, SUGGESTION, f"  {suggest(command, self.problems)}"])


def write_remedy(remedy: Remedy) -> str:
    """Write an option as it is typed."""
    return write_command([remedy.option, *remedy.values])


def write_command(words: Sequence[str]) -> str:
    """Write a command as it is typed, with escapes for what a terminal would obey rather than show."""
    return " ".join(shlex.quote(word) if word.isprintable() else _escaped(word) for word in words)


def _escaped(word: str) -> str:
    """Quote a word as bash and zsh do: $'...', with the number of each character that cannot be seen."""
    plain = (char if char.isprintable() and char not in "\\'" else f"\\U{ord(char):08x}" for char in word)
    return f"$'{''.join(plain)}'"


def suggest(command: Sequence[str], problems: Sequence[LocatedProblem]) -> str:
    """Write the command with the first remedy of each problem."""
    options: dict[str, list[str]] = {}
    for problem in problems:
        for remedy in problem.problem.remedies[:1]:
            values = options.setdefault(remedy.option, [])
            if remedy.option != "--decimal" or not values:
                values += [value for value in remedy.values if value not in values]
    words = [word for option, values in options.items() if option for word in (option, *values)]
    return write_command([*command, *words])
