"""The command line of the examples: `--help` prints what a program does; unknown arguments are refused."""

import argparse
import sys


def check_arguments(*accepted: str) -> None:
    """Exits for `--help`, and for arguments that are not accepted: options, and names of positional ones."""
    about = sys.modules["__main__"].__doc__
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    for name in accepted:
        if name == "--demo":
            parser.add_argument(name, action="store_true", help="call a tiny model on this machine")
        elif name.startswith("-"):
            parser.add_argument(name, action="store_true")
        else:
            parser.add_argument(name, nargs="*")
    parser.parse_args()
