"""Train without one table of all rows: they stay with several owners, or some of them arrive late.

`train` trains boosted trees on the rows of several owners. `stream` shows what can still be learned from rows that arrive after
the regular rounds. dpviz/owners/several-owners.md explains both. Every epsilon is for adding or removing one row.
"""

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter

from dpviz.commands.owners import stream, train

_TOPICS = {
    "train": (train, "train on the rows of several owners, each in a process of its own, and write the model as JSON"),
    "stream": (stream, "what can still be learned from rows that arrive late"),
}


def add_arguments(parser: ArgumentParser) -> None:
    """Topics: train, stream."""
    topics = parser.add_subparsers(metavar="TOPIC", required=True, title="topics")
    for name, (topic, about) in _TOPICS.items():
        how = RawDescriptionHelpFormatter
        own = topics.add_parser(name, help=about, description=topic.__doc__, formatter_class=how)
        topic.add_arguments(own)
        own.set_defaults(topic=topic.run)


def run(args: Namespace) -> int:
    """Do what the topic says."""
    code: int = args.topic(args)
    return code
