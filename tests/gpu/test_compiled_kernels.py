"""Kernels that were compiled beforehand: which file is taken, and that it is that of the source."""

from dataclasses import dataclass

import compile_kernels
import numpy as np
import pytest

from clusterforests.gpu import sources
from clusterforests.gpu.kernels import compiled_for
from clusterforests.gpu.sources import Source, sources_of


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setattr(sources, "COMPILED", tmp_path)
    return tmp_path


def test_a_chip_runs_what_was_compiled_for_an_earlier_one_of_its_generation(folder):
    source = sources_of(np.float32, np.int8, 200)["rows"]
    for chip in ("80", "90", "100", "120"):
        source.compiled(chip).touch()
    taken = {chip: compiled_for(source, chip) for chip in ("80", "86", "89", "90", "100", "103", "121", "75", "110")}
    names = {chip: None if path is None else path.suffixes[-2] for chip, path in taken.items()}
    of_8 = dict.fromkeys(("80", "86", "89"), ".sm_80")
    assert names == of_8 | {
        "90": ".sm_90",
        "100": ".sm_100",
        "103": ".sm_100",
        "121": ".sm_120",
        "75": None,
        "110": None,
    }


def test_another_source_or_type_is_another_file(folder, monkeypatch):
    single, double = (sources_of(real, np.int8, 200)["nearest"] for real in (np.float32, np.float64))
    assert single.compiled("90") != double.compiled("90")
    before = single.compiled("90")
    monkeypatch.setattr(Source, "code", property(lambda source: "changed"))
    assert single.compiled("90") != before


@dataclass
class FakeCompiler:
    """Writes down what it is given, in place of NVIDIA's."""

    given: list

    def compile(self, compiler, code, options, chip):
        self.given.append((options, chip))
        return f"{chip}: {len(code)}".encode()


def test_all_kernels_that_defaults_need_are_compiled(folder, monkeypatch, capsys):
    fake = FakeCompiler([])
    module = compile_kernels.load_sources()
    monkeypatch.setattr(module, "COMPILED", folder)
    monkeypatch.setattr(compile_kernels, "load_sources", lambda: module)
    monkeypatch.setattr(compile_kernels, "open_compiler", lambda: None)
    monkeypatch.setattr(compile_kernels, "compile_source", fake.compile)
    monkeypatch.setattr(compile_kernels, "ROOT", folder.parent)
    monkeypatch.setattr("sys.argv", ["compile_kernels.py", "--chip", "90"])
    (folder / "old-0123.sm_90.cubin").touch()
    compile_kernels.main()
    for real in (np.float32, np.float64):
        for source in sources_of(real, np.int8, 200).values():
            assert compiled_for(source, "90").exists()
    assert len(fake.given) == len(list(folder.glob("*.cubin"))) == 7
    assert all(chip == "90" and "--fmad=false" in options for options, chip in fake.given)
    compile_kernels.main()
    assert len(fake.given) == 7  # what is there is left alone
    assert "7 files for 1 chips" in capsys.readouterr().out
