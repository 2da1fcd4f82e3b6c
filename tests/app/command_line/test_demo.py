"""`demo` runs through, and `report` writes the page again."""

import os

from clusterforests.app.command_line.program import main


def test_report_and_demo(tmp_path, capsys):
    folder = tmp_path / "demo"
    assert main(["demo", "--out", str(folder)]) == 0
    assert "accuracy" in capsys.readouterr().out
    assert sorted(os.listdir(folder)) == ["labels.csv", "model.cf", "report.html", "wine.csv"]
    page = tmp_path / "page.html"
    options = ["--id", "wine", "--label", "cultivar", "--title", "Wines <b>"]
    assert main(["report", str(folder / "model.cf"), str(folder / "wine.csv"), *options, "--out", str(page)]) == 0
    assert page.read_text().lstrip().lower().startswith("<!doctype html>")
    assert "Wines <b>" not in page.read_text()
