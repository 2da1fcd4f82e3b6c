"""Rules for the values of parameters, and the error that a value outside its rule raises."""

import inspect
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

QUALITY = ("centroid", "pairwise")
SCALES = ("none", "standard", "range", "rank", "mixed")
COMPETE = ("start", "always")
DEVICES = ("auto", "cpu", "gpu")
MAX_MEMBERS = 65535  # the largest match count that 16 bits hold


@dataclass(frozen=True)
class Rule:
    """Whether a value is allowed (`test`), and the values that are, in words (`text`)."""

    test: Callable[[Any], bool]
    text: str


def integer(low: int, high: int | None = None) -> Rule:
    """Allow whole numbers from `low` on, up to `high` if given; truth values are none."""

    def test(value: Any) -> bool:
        whole = type(value) is int or (isinstance(value, (int, np.integer)) and not isinstance(value, bool))
        return whole and low <= value and (high is None or value <= high)

    return Rule(test, f"an integer of at least {low}" + ("" if high is None else f" and at most {high}"))


def real(low: float, high: float) -> Rule:
    """Allow finite numbers from `low` to `high`, both included."""

    def test(value: Any) -> bool:
        number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
        return number and low <= float(value) <= high

    text = f"a number from {low:g} to {high:g}"
    if high == np.inf:
        text = "a finite number" if low == -np.inf else f"a number of at least {low:g}"
    return Rule(lambda value: test(value) and bool(np.isfinite(value)), text)


def above(low: float, high: float = np.inf, *, or_equal: bool = True) -> Rule:
    """Allow finite numbers above `low` and below `high`; `high` itself too if `or_equal`."""
    inside = real(low, high)
    end = "" if high == np.inf else f" and {'at most' if or_equal else 'below'} {high:g}"
    return Rule(
        lambda value: inside.test(value) and value > low and (or_equal or value < high),
        f"a number above {low:g}{end}",
    )


def choice(*options: str) -> Rule:
    """Allow some texts."""
    return Rule(lambda value: isinstance(value, str) and value in options, "one of " + ", ".join(map(repr, options)))


def boolean() -> Rule:
    return Rule(lambda value: value is True or value is False or isinstance(value, np.bool_), "True or False")


def none() -> Rule:
    return Rule(lambda value: value is None, "None")


def either(*rules: Rule) -> Rule:
    """Allow what any of the rules allows."""

    def test(value: Any) -> bool:
        for rule in rules:  # noqa: SIM110 - any() takes twice as long, and every fit comes by here
            if rule.test(value):
                return True
        return False

    return Rule(test, " or ".join(rule.text for rule in rules))


JOBS = either(none(), Rule(lambda v: integer(-1024, 1024).test(v) and v != 0, "an integer other than 0, at most 1024"))

RULES: Mapping[str, Rule] = {
    "n_clusters": integer(1),
    "n_estimators": integer(1, MAX_MEMBERS),
    "n_base_clusters": either(none(), integer(1)),
    "features_per_draw": integer(1),
    "n_candidates": integer(1),
    "patience": either(integer(1), choice("all")),
    "repeat_features": boolean(),
    "quality": choice(*QUALITY),
    "compete": choice(*COMPETE),
    "affinity_threshold": either(real(0, 1), choice("auto")),
    "affinity_scale": either(real(0, 50), choice("auto")),
    "n_init": integer(1, 2**20),
    "max_iter": integer(1, 2**30),
    "improve": boolean(),
    "n_jobs": JOBS,
    "device": choice(*DEVICES),
    "verbose": either(integer(0), boolean()),
}


def span(low: int) -> Rule:
    """Allow a tuple of two whole numbers, the lower one first."""

    def test(value: Any) -> bool:
        pair = isinstance(value, tuple) and len(value) == 2 and all(integer(low).test(v) for v in value)
        return pair and value[0] <= value[1]

    return Rule(test, f"a tuple (lowest, highest) of integers of at least {low}")


def several(low: int) -> Rule:
    """Allow a sequence of whole numbers that is not empty."""

    def test(value: Any) -> bool:
        if isinstance(value, range):  # its ends tell, however long it is
            return bool(value) and min(value[0], value[-1]) >= low
        listed = isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str) and np.ndim(value) == 1
        return listed and len(value) > 0 and all(integer(low).test(v) for v in value)

    return Rule(test, f"several integers of at least {low}, such as range(2, 7)")


def ascending(numbers: Sequence[int], most: int) -> list[int]:
    """List the different numbers up to `most`, lowest first; a range is cut off there rather than gone through."""
    if isinstance(numbers, range):
        upward = numbers if numbers.step > 0 else numbers[::-1]
        return list(range(upward.start, min(upward.stop, most + 1), upward.step))
    return sorted({int(number) for number in numbers if number <= most})


def _automatic(*rules: Rule) -> Rule:
    return either(choice("auto"), *rules)


# Where ClusterForest allows more: it chooses for itself what is "auto".
FOREST_RULES: Mapping[str, Rule] = {
    "n_clusters": _automatic(integer(1), several(1)),
    "max_samples": _automatic(none(), integer(2)),
    "n_landmarks": _automatic(none(), integer(2)),
    "scale": _automatic(choice(*SCALES)),
    "n_base_clusters": _automatic(RULES["n_base_clusters"], span(1)),
    "trees": _automatic(choice("varied", "fine")),
    "select_features": boolean(),
}

# PaperForest says everything itself.
PAPER_RULES: Mapping[str, Rule] = {
    "max_samples": either(none(), integer(2)),
    "n_landmarks": _automatic(none(), integer(2)),
    "scale": choice(*SCALES),
    "n_base_clusters": either(RULES["n_base_clusters"], span(1)),
    "quality": choice(*QUALITY, "corrected"),
}


def check_value(name: str, value: Any, rule: Rule) -> None:
    """Raise ValueError if the rule does not allow the value."""
    if not rule.test(value):
        raise _not_allowed(name, value, rule)


def check_parameters(values: Mapping[str, Any], special: Mapping[str, Rule] | None = None) -> None:
    """Raise ValueError for the first value that its rule does not allow; names without a rule pass.

    The rules of one estimator (`special`) take precedence over the common ones.
    """
    rules = RULES if special is None else {**RULES, **special}
    for name, value in values.items():
        rule = rules.get(name)
        if rule is not None and not rule.test(value):
            raise _not_allowed(name, value, rule)


def _not_allowed(name: str, value: Any, rule: Rule) -> ValueError:
    return ValueError(f"{name}={value!r} is not allowed: it must be {rule.text}.")


# Warnings that point at the user's line.

SKIPPED = ("clusterforests", "sklearn")  # packages whose lines are not the user's


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the innermost calling line that lies outside this package and scikit-learn."""
    level = 1
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in SKIPPED:
        level += 1
        frame = frame.f_back
    warnings.warn(message, category, stacklevel=level)


# What stands in quotes is the user's: a class may be called "row 3".
PLACE = re.compile(r"""(?<!\w)(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|\b(row|column) (\d+)\b""")


def rename_places(text: str, row_name: Callable[[int], str] = lambda row: str(row + 1)) -> str:
    """Name the rows of a message, which Python counts from 0, or count them from 1, as columns without names."""

    def renamed(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0]
        place = int(found[2])
        return f"row {row_name(place)}" if found[1] == "row" else f"column {place + 1}"

    return PLACE.sub(renamed, text)
