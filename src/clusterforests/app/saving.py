"""Models in files: a forest, or a pipeline of a `TableReader` and a forest. Reading a file runs no code."""

import os
import tempfile
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline

from clusterforests import ClusterForest, PaperForest
from clusterforests._utils.files import replacing
from clusterforests.app.table_reader import TableReader
from clusterforests.persistence import attach, read_attached

FORESTS: dict[str, Any] = {"ClusterForest": ClusterForest, "PaperForest": PaperForest}
READER, STEPS = "table_reader", "steps"


def save(model: Any, path: str | os.PathLike[str], *, keep_rows: bool = True) -> None:
    """Write a fitted model to one file, which `load` reads.

    Parameters
    ----------
    model : ClusterForest, PaperForest or Pipeline
        A forest, or a pipeline of a `TableReader` and a forest.
    path : str or path-like
        Name of the file. It is replaced only once the new one is whole.
    keep_rows : bool, default=True
        Whether the file holds rows of the fitted table, at most 2,000, from which `predict` fills missing cells.
        Without them, the loaded model refuses rows that have such cells.
    """
    if not isinstance(model, Pipeline):
        model.save(path, keep_rows=keep_rows)
        return
    steps = [(name, step) for name, step in model.steps if step not in (None, "passthrough")]
    kinds = [type(step) for _, step in steps]
    if not kinds or kinds[-1] not in FORESTS.values() or kinds[:-1] not in ([], [TableReader]):
        listed = ", ".join(kind.__name__ for kind in kinds)
        raise ValueError(
            f"A pipeline of {listed} cannot be saved: only one of TableReader and a forest can. Save the forest "
            "by itself, or pickle the pipeline."
        )
    # A file that is there already is replaced by one that has all parts; its mode and owner stay, as those of a device.
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / "model"
        steps[-1][1].save(draft, keep_rows=keep_rows)
        state = steps[0][1].get_state() if len(steps) == 2 else None
        attach(draft, {STEPS: [name for name, _ in steps], READER: state})
        with replacing(Path(path), "wb") as out:
            out.write(draft.read_bytes())


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save` wrote, or a forest that its own `save` wrote.

    Parameters
    ----------
    path : str or path-like
        Name of the file. One that is damaged, or that is no model, is refused with a ValueError.

    Returns
    -------
    model : ClusterForest, PaperForest or Pipeline
        It predicts as the saved one.
    """
    kind, attached = read_attached(path)
    forest = FORESTS[kind].load(path)
    if not attached:
        return forest
    try:
        names, state = attached[STEPS], attached[READER]
        reader = [] if state is None else [TableReader.from_state(state)]
        if reader and list(reader[0].get_feature_names_out()) != list(forest.feature_names_in_):
            raise ValueError("its reader and its forest have different columns")
        steps = list(zip(map(str, names), [*reader, forest], strict=True))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{path} is not a model that save wrote: {str(error).rstrip('.')}.") from error
    return Pipeline(steps)
