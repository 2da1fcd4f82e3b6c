"""The files of a command: all are written, or none."""

import os
from pathlib import Path

import pytest

from clusterforests.app.command_line.outputs import Outputs


def write(text, path):
    path.write_text(text)


def test_if_the_last_file_cannot_be_put_in_place_the_others_stay(tmp_path):
    report, model, labels = (tmp_path / name for name in ("report.html", "model.cf", "labels.csv"))
    report.write_text("old")
    blocked = True

    def last(path: Path) -> None:
        write("new", path)
        if blocked:
            labels.mkdir()  # someone else is quicker

    def run():
        with Outputs({}, {"--report": report, "--model": model, "--out": labels}) as outputs:
            outputs.write("--report", lambda path: write("new", path))
            outputs.write("--model", lambda path: write("new", path))
            outputs.write("--out", last)

    with pytest.raises(OSError, match=r"labels\.csv"):
        run()
    assert report.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["labels.csv", "report.html"]
    labels.rmdir()
    blocked = False
    run()
    assert [path.read_text() for path in (report, model, labels)] == ["new"] * 3
    assert len(os.listdir(tmp_path)) == 3


def test_one_file_under_two_names_is_seen(tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("a")
    (tmp_path / "link.csv").hardlink_to(data)
    with pytest.raises(ValueError, match="is the same file as DATA"):
        Outputs({"DATA": str(data)}, {"--out": tmp_path / "link.csv"})
    Outputs({"DATA": "/dev/null"}, {"--out": Path("/dev/null"), "--model": Path("/dev/null")})
