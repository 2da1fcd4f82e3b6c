"""`python -m clusterforests`."""

import sys

from clusterforests.cli.program import main

if __name__ == "__main__":
    sys.exit(main())
