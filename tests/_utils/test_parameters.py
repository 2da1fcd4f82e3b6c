"""Rules of parameters, and the messages of values outside them."""

import numpy as np
import pytest

from clusterforests._utils.validation import (
    above,
    ascending,
    boolean,
    check_parameters,
    check_value,
    choice,
    either,
    integer,
    none,
    real,
    several,
    span,
)

CASES = {
    "integer": (integer(1), [1, np.int64(7)], [0, 1.0, True, "1", None]),
    "integer up to": (integer(1, 9), [9], [10]),
    "real": (real(0, 1), [0, 1.0, np.float32(0.5)], [-0.1, 2, np.nan, True, "0"]),
    "real from": (real(2, np.inf), [2, 1e300], [np.inf, 1]),
    "finite": (real(-np.inf, np.inf), [-1e300], [-np.inf, np.nan]),
    "above": (above(0), [1e-300], [0, -1, np.inf]),
    "above up to": (above(0, 1), [1], [0, 1.1]),
    "between": (above(0, 1, or_equal=False), [0.9], [1, 0]),
    "choice": (choice("a", "b"), ["a"], ["c", 1, ["a"]]),
    "boolean": (boolean(), [True, np.bool_(False)], [1, None]),
    "either": (either(none(), integer(2)), [None, 2], [1, "None"]),
    "span": (span(1), [(1, 1), (2, 5)], [(5, 2), (0, 3), [1, 2], (1, 2, 3)]),
    "several": (
        several(1),
        [[2], range(2, 5), np.array([3]), range(1, 2**70), range(9, 1, -2)],
        [[], [0], "12", [[1]], 3, range(0), range(2**70), range(5, -1, -5)],
    ),
}


@pytest.mark.parametrize(("rule", "allowed", "refused"), CASES.values(), ids=CASES)
def test_rules(rule, allowed, refused):
    assert all(rule.test(value) for value in allowed)
    assert not any(rule.test(value) for value in refused)


def test_a_value_outside_its_rule_is_named():
    check_value("size", 3, integer(1))
    with pytest.raises(ValueError, match=r"size=0 .* at least 1"):
        check_value("size", 0, integer(1))


def test_special_rules_take_precedence_and_unknown_names_pass():
    check_parameters({"n_clusters": 2, "no_such_parameter": object()})
    with pytest.raises(ValueError, match="n_clusters='auto'"):
        check_parameters({"n_clusters": "auto"})
    check_parameters({"n_clusters": "auto"}, {"n_clusters": choice("auto")})


@pytest.mark.parametrize(
    ("numbers", "found"),
    [
        ([5, 2, 5, 9], [2, 5]),
        (range(2, 2**70), [2, 3, 4, 5, 6]),
        (range(2**70, 2, -(2**69)), []),
        (range(7, 1, -2), [3, 5]),
        (range(3, 100, 3), [3, 6]),
        (np.array([8]), []),
    ],
)
def test_numbers_up_to_a_limit(numbers, found):
    assert ascending(numbers, 6) == found
