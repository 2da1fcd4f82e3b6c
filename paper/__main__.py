"""`python -m paper`: compute the tables and figures of the paper. `make reproduce` runs it."""

import sys

from paper.experiments.reproduce import main

if __name__ == "__main__":
    sys.exit(main())
