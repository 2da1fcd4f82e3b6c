"""No test of data sets reaches the network."""

import socket

import pytest

from paper.datasets import download


@pytest.fixture(autouse=True)
def _alone(tmp_path, monkeypatch):
    """No test reaches the network, a proxy or the user's cache."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        closed = probe.getsockname()[1]
    monkeypatch.setenv("CLUSTERFORESTS_UCI_URL", f"http://127.0.0.1:{closed}")
    for variable in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(variable, "127.0.0.1")
    monkeypatch.setattr(download, "cache_folder", lambda: tmp_path / "cache" / "clusterforests")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The empty cache folder, on a machine without the data."""
    monkeypatch.delenv("CLUSTERFORESTS_DATA", raising=False)
    return tmp_path / "cache" / "clusterforests"
