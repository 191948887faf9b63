"""Attack code that is not ours: does it keep the epsilon that it claims, under add/remove one row?

WITHOUT and WITH are files with one output per independent run (a line of text, a number, or a JSON object of several): on a table
and on the same with one row more. A part of the runs chooses what tells the two apart, the others count it: what is printed is a
lower bound on epsilon with 95% confidence. Exit code 1 when the claim is refuted.

Example: dpviz audit without.txt with.txt --epsilon 1
"""

from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from pathlib import Path

from dpviz.commands import console
from dpviz.commands.arguments import number
from dpviz.evaluation.audit.foreign import audit_outputs

REFUTED = 1


def add_arguments(parser: ArgumentParser) -> None:
    """Two files, and what is claimed."""
    parser.add_argument("without", type=Path, metavar="WITHOUT", help="a file of outputs on a table")
    parser.add_argument("with_row", type=Path, metavar="WITH", help="a file of outputs on the same with one row more")
    parser.add_argument("--epsilon", type=number, metavar="E", help="what the code claims (default: nothing)")
    parser.add_argument("--delta", type=number, default=0.0, metavar="D", help="delta that it claims (default: 0)")


def run(args: Namespace) -> int:
    """Read, attack, print."""
    found = audit_outputs(args.without, args.with_row, delta=args.delta, claimed=args.epsilon)
    if console.is_json():
        console.show_values({**asdict(found), "refutes": found.refutes})
    else:
        console.show_pairs([("Attacked", str(found))])
    return REFUTED if found.refutes else 0
