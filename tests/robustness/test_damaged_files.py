"""Damaged files of every kind: each is read or refused with one sentence, in little memory, and the process goes on."""

import damaged_files
import numpy as np
import pytest


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    folder = tmp_path_factory.mktemp("damaged")
    return folder, damaged_files.good_files(folder)


@pytest.mark.parametrize("kind", damaged_files.KINDS)
def test_some_damaged_files_are_read_or_refused(good, kind):
    folder, contents = good
    path = folder / f"damaged.{kind}"
    for number in range(1, damaged_files.FIT_EVERY):
        path.write_bytes(damaged_files.damage(contents[kind], np.random.default_rng(number)))
        assert damaged_files.outcome(damaged_files.command_for(kind, path, number)) in ("ok", "refused"), number


@pytest.mark.slow
@pytest.mark.parametrize("kind", damaged_files.KINDS)
def test_damaged_files_are_read_or_refused(good, kind):
    _, faults, *_ = damaged_files.run(kind, 10_000, good[0])
    assert faults == []
