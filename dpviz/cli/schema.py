"""Propose a schema for a table and write it as JSON, to be corrected by hand.

Everything in it is read from the data and marked so. Replace each value with what is publicly known, and delete its name
from "read_from_data".

Example: dpviz schema loans.csv --target defaulted --out loans.schema.json
"""

import warnings
from argparse import Namespace

from dpviz.cli import console
from dpviz.cli.files import check_output, write_whole
from dpviz.cli.options import READING, output, shared
from dpviz.cli.rows import table_of, warn_of_proposal, warn_of_read_values
from dpviz.errors import ReadingWarning, UnknownName
from dpviz.table.notes import Interface, said
from dpviz.table.proposal import propose_schema

OPTIONS = {**shared("data", *READING, "--target"), **output("the schema"), **shared("--json")}


def run(args: Namespace) -> int:
    """Read, propose, write."""
    check_output(args.out, force=args.force, inputs=(args.data,))
    table = table_of(args)
    if args.target is not None and args.target not in table.names:
        raise UnknownName("column", args.target, table.names)  # only here: whoever asks for a proposal looks at the file
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingWarning)  # said below, with examples
        schema = propose_schema(table, args.target)
    write_whole(args.out, schema.to_json(), force=args.force)
    for name, note in table.remarks:  # as the Data page says them
        console.warn(f"{name!r:.60}: " * bool(name) + said(note, Interface.COMMAND_LINE))
    warn_of_proposal(table, schema, args.target, named=True)
    warn_of_read_values(schema, named=True)
    console.show_pairs([("Target", schema.target.name), ("Features", str(schema.n_features)), ("File", str(args.out))])
    return 0
