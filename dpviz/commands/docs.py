"""Open the documentation in the browser. It is part of dpviz: nothing is fetched.

In a clone, `make docs` builds it once.

Example: dpviz docs
"""

from argparse import ArgumentParser, Namespace
from webbrowser import open as show

from dpviz.commands import console
from dpviz.installation import manual


def add_arguments(parser: ArgumentParser) -> None:
    """Whether to open it."""
    parser.add_argument("--no-browser", action="store_true", help="print where it is instead of opening a browser")


def run(args: Namespace) -> int:
    """Open the first page, or say where it is. Raises DpvizError where it was not built."""
    page = manual().as_uri()
    if args.no_browser or not show(page):
        console.show_pairs([("documentation", page)])
    return 0
