"""How much memory is left, and what is refused because of it."""

import pytest

from clusterforests._utils import memory as limits


@pytest.mark.parametrize("version", [1, 2])
def test_a_container_may_have_less_than_the_machine(version, tmp_path):
    """The tightest group around the process counts; files that can be read again do not count as used."""
    files = (limits.CGROUP_V1, limits.CGROUP_V2)[version - 1]
    root = tmp_path / "memory" if version == 1 else tmp_path
    inner, outer = root / "all" / "mine", root / "all"
    inner.mkdir(parents=True)
    listing = {1: "5:cpu:/other\n4:memory:/all/mine\n", 2: "0::/all/mine\n"}[version]
    (tmp_path / "cgroup").write_text(listing)

    def left():
        return limits.available_memory(tmp_path, tmp_path)

    machine = left()
    (inner / files.limit).write_text("max\n")
    (inner / files.used).write_text("7000000\n")
    assert left() == machine
    (outer / files.limit).write_text("9000000\n")
    (outer / files.used).write_text("8000000\n")
    assert left() == 1000000
    (outer / "memory.stat").write_text("".join(f"{name}2000000\n" for name in files.cached))
    assert left() == 5000000
    (inner / files.limit).write_text("6000000\n")
    assert left() == 0


def test_what_does_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr(limits, "available_memory", lambda: 10_000_000)
    limits.check_memory(10_000_000, "This", "Use fewer.")
    message = r"This needs 47\.7 MiB, but only 9\.5 MiB are left\. Use fewer\."
    with pytest.raises(MemoryError, match=message):
        limits.check_memory(50_000_000, "This", "Use fewer.")
    assert limits.shortage(50_000_000) == 10_000_000
    monkeypatch.setattr(limits, "available_memory", lambda: None)
    limits.check_memory(2**60, "This", "Use fewer.")


def test_sizes_are_written_in_binary_units():
    assert limits.format_bytes(5 * 2**18) == "1.2 MiB"
    assert limits.format_bytes(3 * 2**29) == "1.5 GiB"


def test_limits_that_are_not_set_do_not_count(monkeypatch):
    soft = {limits.resource.RLIMIT_AS: 3 * 2**30, limits.resource.RLIMIT_DATA: limits.resource.RLIM_INFINITY}
    monkeypatch.setattr(limits.resource, "getrlimit", lambda limit: (soft[limit], soft[limit]))
    assert limits._ulimits() == {"VmSize:": 3 * 2**30}


def test_systems_that_do_not_say_how_much_memory_they_have(monkeypatch, tmp_path):
    """Windows has neither `resource` nor `os.sysconf`, macOS no /proc: nothing is refused."""
    monkeypatch.setattr(limits, "resource", None)
    monkeypatch.delattr(limits.os, "sysconf")
    nowhere = tmp_path / "nowhere"
    assert limits.available_memory(nowhere, nowhere) is None
    assert limits._ulimits() == {}
    monkeypatch.setattr(limits, "available_memory", lambda: None)
    limits.check_memory(2**60, "This", "Use fewer.")
