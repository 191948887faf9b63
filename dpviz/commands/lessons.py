"""Write the lessons as one HTML file to hand out. It opens in any browser and needs no network.

For a class that guesses together, start `dpviz app --lessons` instead.
"""

from argparse import ArgumentParser, Namespace

from dpviz.commands import console
from dpviz.commands.files import add_output_arguments, check_output, write_whole
from dpviz.installation import require_extra


def add_arguments(parser: ArgumentParser) -> None:
    """Where to write it."""
    add_output_arguments(parser, "the lessons")


def run(args: Namespace) -> int:
    """Compute every picture and write the file."""
    require_extra("app", "The lessons", "streamlit", "plotly")
    check_output(args.out, force=args.force)
    from dpviz.app.learn.handout import handout

    console.doing("Drawing the lessons")
    write_whole(args.out, handout(), force=args.force)
    console.show_pairs([("File", str(args.out))])
    return 0
