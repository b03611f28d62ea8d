"""`python -m wirecall`: the command line."""

import sys

from wirecall.cli import main

if __name__ == "__main__":
    sys.exit(main())
