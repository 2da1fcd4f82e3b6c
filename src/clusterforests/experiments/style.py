"""Figures as files: the same bytes every time, and nothing that someone would have to close."""

import io
from pathlib import Path

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from clusterforests._base.files import replacing

# No date, no version: a file changes only when the figure does.
_METADATA: dict[str, dict[str, None]] = {"png": {"Software": None}, "svg": {"Date": None}}


def new_figure(width: float, height: float) -> Figure:
    """A figure of that many inches, without pyplot: nothing is kept that someone would have to close."""
    figure = Figure(figsize=(width, height), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write `name`.png and `name`.svg; by rename, so that a kill leaves a whole file or none."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    with matplotlib.rc_context({"svg.hashsalt": "clusterforests", "svg.fonttype": "path"}):
        for suffix, metadata in _METADATA.items():
            drawn = io.BytesIO()
            figure.savefig(drawn, format=suffix, metadata=metadata)
            path = folder / f"{name}.{suffix}"
            with replacing(path, "wb") as out:
                out.write(drawn.getvalue())
            paths.append(path)
    return paths
