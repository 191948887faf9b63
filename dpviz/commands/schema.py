"""Propose a schema for a table and write it as JSON, to be corrected by hand.

Everything in it is read from the data and marked so. Replace the values by what is publicly known and delete their
names from "read_from_data".
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from dpviz.commands import console
from dpviz.commands.files import add_output_arguments, check_output, write_whole
from dpviz.commands.proposal import warn_of_proposal, warn_of_read_values
from dpviz.io.csv import read_csv
from dpviz.table.proposal import propose_schema

NAME = "schema"
HELP = "propose a schema for a table"


def add_arguments(parser: ArgumentParser) -> None:
    """Table, target and file."""
    parser.add_argument("data", type=Path, metavar="DATA", help="table: .csv or .csv.gz with a header row")
    parser.add_argument("--target", metavar="COLUMN", help="column to predict (default: the last one)")
    add_output_arguments(parser, "the schema")


def run(args: Namespace) -> int:
    """Read, propose, write."""
    check_output(args.out, force=args.force, inputs=(args.data,))
    console.doing(f"Reading {args.data}")
    table = read_csv(args.data)
    schema = propose_schema(table, args.target)
    write_whole(args.out, schema.to_json(), force=args.force)
    warn_of_proposal(table, schema, args.target)
    warn_of_read_values(schema)
    console.show_pairs([("Target", schema.target.name), ("Features", str(schema.n_features)), ("File", str(args.out))])
    return 0
