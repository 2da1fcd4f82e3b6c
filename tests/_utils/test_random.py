"""Random streams: one purpose each, and the same numbers in any order of work."""

import ast
from pathlib import Path

import numpy as np
import pytest

import clusterforests
from clusterforests._utils.random import Purpose, integers, permutations, root_seed, stream, uniform

PACKAGE = Path(clusterforests.__file__).parent

# Calls with a user's seed but no purpose: estimators and simulations that draw nothing else from that seed.
OWN_SEED = ("baselines", "theory", "kmeans.py")
# Calls with a variable named `seed` that is no user's seed but a stream of one purpose.
DERIVED_SEED = {"stream(seed, g)"}


def test_no_two_purposes_share_a_number():
    numbers = [member.value for member in Purpose.__members__.values()]  # aliases included
    assert len(set(numbers)) == len(numbers)


def stream_calls():
    """Each call of `stream` in the package: its file, and the call."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "stream":
                yield path.relative_to(PACKAGE), node


def has_user_seed(call):
    """The first argument is `seed`, an attribute or a call of root_seed; a constant or an array of keys is not."""
    first = call.args[0]
    if isinstance(first, ast.Call):
        return ast.unparse(first.func) == "root_seed"
    return "seed" in ast.unparse(first)


def names_a_purpose(call):
    return len(call.args) > 1 and ast.unparse(call.args[1]).startswith("Purpose.")


def test_every_stream_of_a_users_seed_has_a_purpose():
    calls = list(stream_calls())
    with_seed = [(path, call) for path, call in calls if has_user_seed(call) and path.parts[0] not in OWN_SEED]
    assert len(with_seed) > 20
    without = {ast.unparse(call) for _, call in with_seed if not names_a_purpose(call)}
    assert without == DERIVED_SEED


def test_every_purpose_is_used_in_one_module():
    used = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Purpose":
                used.setdefault(node.attr, set()).add(path.name)
    assert set(used) == set(Purpose.__members__)
    assert {name: sorted(modules) for name, modules in used.items() if len(modules) > 1} == {}


def test_streams_depend_on_the_counters_alone():
    rows, columns = np.arange(5)[:, None], np.arange(7)
    whole = stream(3, Purpose.K_ROWS, rows, columns)
    assert whole.shape == (5, 7)
    assert (whole[4, 2:3] == stream(3, Purpose.K_ROWS, 4, 2)).all()
    assert (stream(stream(3, Purpose.K_ROWS), 4, 2) == stream(3, Purpose.K_ROWS, 4, 2)).all()
    assert len(np.unique(np.concatenate([whole, stream(4, Purpose.K_ROWS, rows, columns)]))) == 70


def test_numbers_are_spread_evenly():
    keys = stream(0, np.arange(100_000))
    drawn = uniform(keys)
    assert drawn.min() >= 0
    assert drawn.max() < 1
    assert np.histogram(drawn, 10, (0, 1))[0] == pytest.approx(10_000, rel=0.05)
    assert (np.unique(integers(keys, 7)) == np.arange(7)).all()


def test_permutations():
    found = permutations(stream(0, np.arange(50)), 20)
    assert found.shape == (50, 20)
    assert (np.sort(found, axis=1) == np.arange(20)).all()
    assert len(np.unique(found, axis=0)) == 50


@pytest.mark.parametrize(
    "make", [lambda: 5, lambda: np.int64(5), lambda: np.random.RandomState(5), lambda: np.random.default_rng(5)]
)
def test_the_same_random_state_gives_the_same_seed(make):
    assert root_seed(make()) == root_seed(make())
    assert 0 <= root_seed(make()) < 2**64


def test_fresh_entropy_and_bad_random_states():
    assert root_seed(None) != root_seed(None)
    for bad in (-1, 1.5, "seed", True):
        with pytest.raises(ValueError, match=f"random_state={bad!r}"):
            root_seed(bad)
