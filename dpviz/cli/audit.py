"""Attack code that is not ours: does it keep the epsilon that it claims, under add/remove one row?

WITHOUT and WITH are files with one output per independent run (a line of text, a number, or a JSON object of several): on a table
and on the same with one row more. A part of the runs chooses what tells the two apart, the others count it: what is printed is a
lower bound on epsilon with 95% confidence. Exit code 1 when the claim is refuted.

Example: dpviz audit without.txt with.txt --epsilon 1
"""

from argparse import Namespace
from dataclasses import asdict
from pathlib import Path

from dpviz.cli import console
from dpviz.cli.options import number, option, shared
from dpviz.evaluation.audit.outputs import audit_outputs

REFUTED = 1
OPTIONS = {
    "without": option(Path, "WITHOUT", "a file of outputs on a table"),
    "with_row": option(Path, "WITH", "a file of outputs on the same with one row more"),
    "--epsilon": option(number, "E", "what the code claims (default: nothing)"),
    "--delta": option(number, "D", "delta that it claims (default: 0)", default=0.0),
    **shared("--json"),
}


def run(args: Namespace) -> int:
    """Read, attack, print."""
    found = audit_outputs(args.without, args.with_row, delta=args.delta, claimed=args.epsilon)
    if console.is_json():
        console.show_values({**asdict(found), "refutes": found.refutes})
    else:
        console.show_pairs([("Attacked", str(found))])
    return REFUTED if found.refutes else 0
