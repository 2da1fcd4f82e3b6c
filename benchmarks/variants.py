"""Our own settings under test, in one place: every benchmark reads this dictionary."""

from typing import Any

DEFAULT = "default"
BEFORE = "default before"  # rows of the default before the forest learned which features tell; never computed again

# Keyword arguments of ClusterForest by name. The first is what users get; each other one switches off one part.
VARIANTS: dict[str, dict[str, Any]] = {DEFAULT: {}}
