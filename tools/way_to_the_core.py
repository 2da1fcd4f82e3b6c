"""Print the modules that `ClusterForest(3).fit(X)` enters before its first call into C++, in their order.

python tools/way_to_the_core.py
"""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import mock

import numpy as np

import clusterforests
from clusterforests import ClusterForest, _core

PACKAGE = Path(clusterforests.__file__).parent


class Arrived(BaseException):
    """Raised by the first call into C++, so that nothing on the way can mistake it for an error of its own."""


def modules_before_the_core(act: Callable[[], Any]) -> list[str]:
    """List the package's modules that `act` enters until it calls a function, or makes an object, of the core."""
    entered: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE):
            entered[".".join(path.relative_to(PACKAGE).with_suffix("").parts)] = None

    def arrive(*_: Any, **__: Any) -> None:
        sys.setprofile(None)
        raise Arrived

    # Profiling does not see calls of nanobind's functions and types, so each of them is replaced.
    doors = {
        name: type(name, (), {"__new__": arrive}) if isinstance(value, type) else arrive
        for name, value in vars(_core).items()
        if callable(value) and not name.startswith("__")
    }
    with mock.patch.multiple(_core, **doors):
        sys.setprofile(note)
        try:
            act()
        except Arrived:
            return list(entered)
        finally:
            sys.setprofile(None)
    raise RuntimeError("The core was never called.")


def main() -> None:
    X = np.random.default_rng(0).normal(size=(60, 4))
    found = modules_before_the_core(lambda: ClusterForest(3).fit(X))
    print(f"{len(found)} modules: {', '.join(found)}")


if __name__ == "__main__":
    main()
