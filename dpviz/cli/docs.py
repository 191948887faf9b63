"""Open the documentation in the browser. It is part of dpviz: nothing is fetched.

In a clone, `make docs` builds it once.

Example: dpviz docs
"""

from argparse import Namespace
from webbrowser import open as show

from dpviz.cli import console
from dpviz.cli.options import flag, shared
from dpviz.installation import manual

OPTIONS = {"--no-browser": flag("print where it is instead of opening a browser"), **shared("--json")}


def run(args: Namespace) -> int:
    """Open the first page, or say where it is. Raises DpvizError where it was not built."""
    page = manual().as_uri()
    if args.no_browser or not show(page):
        console.show_pairs([("documentation", page)])
    return 0
