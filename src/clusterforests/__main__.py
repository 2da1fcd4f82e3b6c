"""The command `clusterforests`, also as `python -m clusterforests`."""

import importlib
import sys


def main() -> int:
    """Run the program. Ctrl-C while it is being loaded ends it as Ctrl-C does later."""
    try:
        status: int = importlib.import_module("clusterforests.app.command_line.program").main()
    except KeyboardInterrupt:
        print("clusterforests: Stopped. Nothing was written.", file=sys.stderr)
        return 130
    return status


if __name__ == "__main__":
    sys.exit(main())
