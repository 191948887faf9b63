"""Propose a schema for a table and write it as JSON, to be corrected by hand.

Everything in it is read from the data and marked so. Replace each value with what is publicly known, and delete its name
from "read_from_data".
"""

from argparse import ArgumentParser, Namespace

from dpviz.commands import console
from dpviz.commands.arguments import add_data_arguments
from dpviz.commands.files import add_output_arguments, check_output, write_whole
from dpviz.commands.rows import table_and_schema, warn_of_proposal, warn_of_read_values


def add_arguments(parser: ArgumentParser) -> None:
    """Table, target and file."""
    add_data_arguments(parser)
    parser.set_defaults(schema=None)
    add_output_arguments(parser, "the schema")


def run(args: Namespace) -> int:
    """Read, propose, write."""
    check_output(args.out, force=args.force, inputs=(args.data,))
    table, schema = table_and_schema(args)
    write_whole(args.out, schema.to_json(), force=args.force)
    warn_of_proposal(table, schema, args.target)
    warn_of_read_values(schema)
    console.show_pairs([("Target", schema.target.name), ("Features", str(schema.n_features)), ("File", str(args.out))])
    return 0
