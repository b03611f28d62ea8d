"""`python -m wirecall`: the command line."""

import sys

from wirecall._cli.main import main

if __name__ == "__main__":
    sys.exit(main())
