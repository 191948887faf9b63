"""Measure dpviz on this machine: `python -m benchmarks TOPIC --out FILE.csv`.

Every topic measures a table of numbers, prints it, and writes it as CSV with a first line that says when and with what. Pages of
the documentation are written by hand; their tables are such files. `all` measures every topic that takes a folder of data, one
after the other, with its usual options, into a folder. `mutants` makes changes that would break privacy and exits with 1 if the
tests do not notice one. `learners` writes a page of what learners declare.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks import mutants
from benchmarks.arguments import add_data, add_workers
from benchmarks.learners import learners_page
from benchmarks.measured import remark, seconds_used
from dpviz.__main__ import Parser, finish
from dpviz.cli import console
from dpviz.cli.files import write_whole
from dpviz.errors import DpvizError
from dpviz.evaluation.audit.verdicts import stored_run
from dpviz.learners import LEARNERS

#: Topic -> what it measures. A module of this name has `add_arguments(parser)` and `measure(args) -> DataFrame`.
TOPICS = {
    "speed": "time and memory of fits beside scikit-learn",
    "accuracy": "accuracy beside the papers' tables",
    "poisoning": "poisoning guarantees beside the papers' tables",
    "forests": "random forests of the second paper",
    "curves": "the papers' other figures",
    "boosting": "boosted trees of the third paper, streams, several owners",
    "rivals": "packages as they are shipped",
    "probabilities": "honest leaves beside labels, and the private test",
    "growth": "time and memory as tables grow",
    "risk": "what one row risks, for every learner",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code, as `dpviz.__main__.main` does."""
    return finish(_run, argv)


def _run(words: list[str]) -> int:
    try:
        args = parser().parse_args(words)
    except SystemExit as done:  # argparse has printed help
        return int(done.code or 0)
    with console.results(to_stderr=False, as_json=False):
        code: int = args.run(args)
    return code


def parser() -> ArgumentParser:
    """The parser of all topics."""
    top = Parser(prog="python -m benchmarks", description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    topics = top.add_subparsers(metavar="TOPIC", required=True, title="topics")
    for name, words in TOPICS.items():
        topic = topics.add_parser(name, help=words, description=module(name).__doc__)
        module(name).add_arguments(topic)
        topic.add_argument("--out", type=Path, metavar="CSV", help="also write the table here")
        topic.set_defaults(run=_measure, topic=name)
    page = topics.add_parser("learners", help="the page of all learners")
    page.add_argument("--out", type=Path, metavar="MD", help="also write the page here")
    page.set_defaults(run=_learners)
    every = topics.add_parser("all", help="every topic, with its usual options")
    add_data(every)
    add_workers(every)
    every.add_argument("--out", type=Path, metavar="DIR", required=True, help="folder for a CSV per topic")
    every.set_defaults(run=_run_every_topic)
    mutants.add_arguments(topics.add_parser("mutants", help="changes that tests must notice", description=mutants.__doc__))
    return top


def module(topic: str) -> Any:
    """The module that measures it."""
    return import_module(f"benchmarks.{topic}")


def _measure(args: Namespace) -> int:
    before = seconds_used()
    found = module(args.topic).measure(args)
    print(found.to_string(index=False, float_format=lambda value: f"{value:.4g}"))
    if args.out is not None:
        words = [args.topic, *(f"--{name} {value}" for name, value in vars(args).items() if name in ("repeats", "workers"))]
        text = remark(words, (seconds_used() - before) / 60) + found.to_csv(index=False, float_format="%.6g")
        write_whole(args.out, text, force=True)
    return 0


def _learners(args: Namespace) -> int:
    text = learners_page(LEARNERS, stored_run())
    print(text)
    if args.out is not None:
        write_whole(args.out, text, force=True)
    return 0


def _run_every_topic(args: Namespace) -> int:
    """Each topic as if it were asked for alone; one that cannot run is said and left out, and the exit code is 1."""
    args.out.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name in TOPICS:
        topic = ArgumentParser()
        module(name).add_arguments(topic)
        options = {option for action in topic._actions for option in action.option_strings}
        words = ["--data", str(args.data)] if "--data" in options else []
        words += ["--workers", str(args.workers)] if "--workers" in options else []
        words += [word for only in args.only or () if "--only" in options for word in ("--only", only)]
        console.status(f"Topic {name}")
        try:
            _measure(Namespace(**vars(topic.parse_args(words)), topic=name, out=args.out / f"{name}.csv"))
        except DpvizError as problem:
            console.warn(f"{name}: {problem}")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
