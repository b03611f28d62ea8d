"""The command line of the examples: `--help` prints what a program does; unknown arguments are refused."""

import argparse
import sys


def check_arguments(*accepted: str) -> None:
    """Ends the program for `--help` and for arguments other than these: options, and names of others."""
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
