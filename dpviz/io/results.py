"""A result read back from its JSON document: not only the model, but everything that is said about it."""

from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.accounting.ledger import Ledger, ledger_from
from dpviz.accounting.plan import BudgetPlan
from dpviz.errors import DpvizError
from dpviz.io.exports.statement import statement_of, test_result_of
from dpviz.io.text import read_document
from dpviz.learners import get_learner
from dpviz.models.document import model_from_json
from dpviz.table.schema import Schema
from dpviz.table.strict_json import parse_json, read_entry, wrong
from dpviz.training.contract import FitResult, LearnerSpec
from dpviz.training.honest.testing import plan_with_test
from dpviz.training.params import Settings, controls_of, make_params


def load_result(source: str | Path) -> FitResult:
    """A result from the file that `dpviz train` or `result.to_json()` wrote: it can be asked for predictions and its ledger.

    The file is a statement of whoever wrote it. What its steps add up to is composed again; whether they were taken is not
    in a file. The plan is not in it either: it is worked out again from public values, and has the depth alone where this
    version of dpviz would plan another one.

    Parameters
    ----------
    source : str or Path

    Raises
    ------
    DocumentError
        No document of dpviz, a model without what was said about it, or steps that do not add up to the guarantee it states.
    DpvizError
        The file cannot be read; its learner is not known here.
    """
    return result_from_json(read_model_file(Path(source)))


def read_model_file(path: Path) -> str:
    """The text of a model file; raises DpvizError."""
    raw = read_document(path, "The model file", "Check the path; it must name a file written by `dpviz train`.")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DpvizError(
            "The model file is not UTF-8 text.", where=str(path), remedy="Give a file written by `dpviz train`."
        ) from error


def result_from_json(text: str | bytes) -> FitResult:
    """The result of a document; see `load_result`."""
    model = model_from_json(text)
    document = parse_json(text)
    learner, privacy = (read_entry(dict, document, name) for name in ("learner", "privacy"))
    spec = get_learner(read_entry(str, learner, "name", "learner"))
    stated = read_entry(dict, learner, "settings", "learner")
    settings = Settings(**{item.name: stated[item.name] for item in fields(Settings) if item.name in stated})
    params = make_params(spec.Params, spec.name, _given(spec, read_entry(dict, learner, "parameters", "learner")))
    said = statement_of(document)
    noise, seed = _noise(read_entry(dict, privacy, "noise", "privacy"))
    return FitResult(
        learner=spec.name,
        model=model,
        ledger=_ledger(privacy, said.guarantee),
        claim=said.claim,
        plan=_plan(spec, model.schema, settings, params, read_entry(int, learner, "depth", "learner")),
        params=params,
        settings=settings,
        schema=model.schema,
        disclosures=said.disclosures,
        noise=noise,
        seed=seed,
        test_report=test_result_of(document, model.schema),
        rows_per_person=None if said.per_person is None else said.per_person.rows,
    )


def _given(spec: LearnerSpec, parameters: dict[str, Any]) -> dict[str, Any]:
    """A file without `leaves` is older than honest leaves: its tree has labels alone."""
    return {"leaves": "labels", **parameters} if "leaves" in controls_of(spec.Params) else parameters


def _plan(spec: LearnerSpec, schema: Schema, settings: Settings, params: Any, depth: int) -> BudgetPlan:
    with suppress(DpvizError):
        plan = plan_with_test(spec, schema, settings, params)
        if plan.depth == depth:
            return plan
    return BudgetPlan(settings.epsilon, depth, (), ("Read from a file; this version of dpviz plans otherwise.",), settings.delta)


def _ledger(privacy: dict[str, Any], stated: PrivacyLoss) -> Ledger:
    ledger = ledger_from(read_entry(list, privacy, "ledger", "privacy"), "privacy.ledger")
    if ledger.guarantee != stated:
        raise wrong("The steps of the ledger do not add up to this.", "privacy.guarantee")
    return ledger


def _noise(entry: dict[str, Any]) -> tuple[str, int | None]:
    """(noise, seed) of a result."""
    source = read_entry(str, entry, "source", "privacy.noise")
    if source not in ("simulation", "release", "exact samplers"):
        raise wrong("This source of noise is not known.", "privacy.noise.source")
    seed = read_entry(int, entry, "seed", "privacy.noise") if "seed" in entry else None
    return ("simulation" if source == "simulation" else "release"), seed
