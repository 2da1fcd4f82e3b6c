"""How a fit was run, and how to run it again."""

import inspect
from importlib.metadata import version
from typing import Any

from clusterforests.forest_view import ForestView
from clusterforests.report.json_values import rounded
from clusterforests.story.table_sample import TableSample, shorten

NOT_SHOWN = ("n_jobs", "verbose", "backend")  # they do not change the result


def run_entry(view: ForestView, table: TableSample, command: str | None, seconds: Any) -> dict[str, Any]:
    """Describe the table, the settings as they were used, and the lines that repeat the run."""
    seed = view.parameters["random_state"]
    return {
        "rows": len(view.labels),
        "columns": len(table.names),
        "trees": view.n_trees,
        "version": version("clusterforests"),
        "random_state": None if seed is None else shorten(repr(seed)),
        "seconds": None if seconds is None else rounded(seconds),
        "command": None if command is None else str(command),
        "python": python_lines(view),
        "settings": [
            {"name": name, "value": _shown(choice.value), "reason": choice.reason}
            for name, choice in view.settings.items()
        ],
        "numbered": table.ids is None,
    }


def python_lines(view: ForestView) -> str:
    """Write the Python code that repeats the fit, with the settings that are not the defaults."""
    others = [
        f"{name}={view.parameters[name]!r}"
        for name, parameter in inspect.signature(type(view.forest)).parameters.items()
        if name not in ("n_clusters", *NOT_SHOWN) and not _same(view.parameters[name], parameter.default)
    ]
    call = ", ".join([repr(view.parameters["n_clusters"]), *others])
    guided = [] if view.constraints is None or view.constraints.guidance is None else view.constraints.guidance.given
    beside = ["sample_weight=w"] * (view.weights is not None) + [f"{name}={name}" for name in guided]
    return "\n".join(
        [
            "from clusterforests import ClusterForest",
            "from clusterforests.report import write_report",
            "",
            f"forest = ClusterForest({call}).fit({', '.join(['X', *beside])})",
            'write_report(forest, X, "report.html")',
        ]
    )


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)


def _shown(value: Any) -> str:
    return shorten(" to ".join(map(str, value)) if isinstance(value, tuple) else str(value))
