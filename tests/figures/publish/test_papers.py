"""Papers about a release: valid, filled from a list of allowed facts, and they say what they rest on."""

import json
from dataclasses import fields, replace
from pathlib import Path

import jsonschema
import pytest

from dpviz.errors import DocumentError, DpvizError
from dpviz.figures.publish.paper_facts import QUESTIONS, Answers, Facts, answers_from, answers_template, facts_of
from dpviz.figures.publish.papers import FORMS, TITLES, paper
from dpviz.figures.publish.registry_entry import faults, registry_entry, schema
from dpviz.figures.publish.self_assessment import Standing, assessment_document, self_assessment
from dpviz.release.publish import publish
from dpviz.release.register import ReleaseRegister
from tests.contract.fits import FEW
from tests.release.rows import requested, small_numbers, small_rows

ANSWERS = Answers(
    name="Length of stay",
    curators="A hospital; A university",
    intended_use="Planning of beds.",
    region="Germany",
    sector="Healthcare",
    collection="Routine records, by statute.",
    data_source="Static",
    tuning="On rows simulated from the schema.",
    justification="One release, and a small loss.",
    access="Two members of staff, on a machine without a network.",
    authors="Somebody at the hospital",
)
LEARNERS = ("pf-tree", "s-gbdt", "pf-forest")
#: Of NIST SP 800-226.
TOPICS = (
    "Privacy parameter and variant",
    "Unit of privacy",
    "Mixing with other releases",
    "Algorithm and implementation",
    "Utility and bias",
    "Query and trust model",
    "Security and access control",
    "Data collection",
)


@pytest.fixture(scope="module")
def released(tmp_path_factory) -> dict[str, Facts]:
    """Facts of one release by each learner, after looks at the rows."""
    register = ReleaseRegister(tmp_path_factory.mktemp("papers") / "releases.db")
    register.declare("stays", epsilon_cap=9.0, delta_cap=1e-5, unit="one patient", rows_per_unit=2)
    found = {}
    for name in LEARNERS:
        data = small_numbers() if name == "s-gbdt" else small_rows()
        register.assign(data.identity, "stays")
        register.note_exploration(data.identity, what="a secret look", learner=name, settings={}, times=8713)
        entry = publish(register, data, requested(0.5, name, **FEW.get(name, {})))
        found[name] = facts_of(register.balance("stays"), entry, Path(entry.file).read_text())
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNERS)
def test_an_entry_is_valid_against_the_registrys_schema(released, name):
    entry = registry_entry(released[name], ANSWERS)
    jsonschema.validate(entry, schema())
    deployment = entry["deployment"]
    assert deployment["basic"]["data_curators"] == ["A hospital", "A university"]
    assert deployment["dp_variant"]["variant_name"] == ("Approximate DP" if name == "s-gbdt" else "Pure DP")
    assert deployment["privacy_loss"]["privacy_parameters"]["epsilon"] == 1.0  # two rows of each patient
    assert ("delta" in deployment["privacy_loss"]["privacy_parameters"]) == (name == "s-gbdt")
    assert entry["status"] == "Draft"


@pytest.mark.slow
@pytest.mark.parametrize("kind", TITLES)
@pytest.mark.parametrize("form", FORMS)
def test_no_paper_holds_a_look_a_fingerprint_a_path_or_a_number_of_rows(released, kind, form):
    text = paper(kind, form, released["pf-tree"], ANSWERS)
    for secret in ("8713", "8,713", "a secret look", small_rows().fingerprint, "releases.db", "/tmp", "40 rows"):
        assert secret not in text


def test_what_a_paper_may_be_filled_from_is_a_short_list():
    assert {field.name for field in fields(Facts)} == {
        *("schema", "learner", "loss", "risk", "together", "account", "composed", "n_releases", "cap", "unit", "claim"),
        *("mechanisms", "versions", "report", "published", "number", "sha256", "head"),
    }


@pytest.mark.parametrize(
    "spoil",
    [
        lambda entry: entry.pop("url_slug"),
        lambda entry: entry.update(status="Certified"),
        lambda entry: entry.update(tier="3"),
        lambda entry: entry.update(more=1),
        lambda entry: entry["deployment"].pop("basic"),
        lambda entry: entry["deployment"]["basic"].update(data_curators=[]),
        lambda entry: entry["deployment"]["basic"].update(data_curators=[7]),
        lambda entry: entry["deployment"]["basic"].update(data_product_sector="Sports"),
        lambda entry: entry["deployment"]["basic"].pop("intended_use"),
        lambda entry: entry["deployment"]["privacy_loss"]["privacy_parameters"].update(epsilon=True),
        lambda entry: entry["deployment"]["privacy_loss"]["privacy_parameters"].update(epsilon="1"),
    ],
)
def test_our_validation_refuses_what_the_schema_refuses(released, spoil):
    entry = registry_entry(released["pf-tree"], ANSWERS)
    assert list(faults(entry, schema())) == []
    spoil(entry)
    assert not jsonschema.Draft202012Validator(schema()).is_valid(entry)
    assert list(faults(entry, schema()))


@pytest.mark.parametrize("make", [registry_entry, assessment_document])
def test_what_only_people_know_is_asked_and_never_made_up(released, make):
    with pytest.raises(DpvizError, match="Something only people know is missing") as problem:
        make(released["pf-tree"], replace(ANSWERS, justification=" "))
    assert QUESTIONS["justification"] in problem.value.remedy


@pytest.mark.parametrize("name", LEARNERS)
def test_every_topic_of_the_guidelines_has_statements_that_say_what_they_rest_on(released, name):
    items = self_assessment(released[name], ANSWERS)
    assert tuple(dict.fromkeys(item.topic for item in items)) == TOPICS
    assert {item.standing for item in items} == set(Standing)
    assert all(item.evidence for item in items if item.standing in (Standing.PROVED, Standing.MEASURED))
    said = " ".join(item.statement for item in items).lower()
    for words in ("floating point", "side channels", "fairness", "exact samplers", "mechanisms:", "settings were chosen"):
        assert words in said


def test_the_assessment_says_that_nobody_certified_anything(released):
    items = self_assessment(released["pf-tree"], ANSWERS)
    assert "NIST certifies no product" in paper("assessment", ".html", released["pf-tree"], ANSWERS)
    unit = next(item for item in items if item.topic == "Unit of privacy")
    assert unit.standing is Standing.DECLARED  # nothing but the owner's word bounds the rows of a patient


def test_yaml_is_written_in_blocks_with_quoted_texts(released):
    text = paper("entry", ".yaml", released["pf-tree"], ANSWERS)
    assert '\n  basic:\n    name: "Length of stay"\n    data_curators:\n      - "A hospital"\n      - "A university"\n' in text
    assert text.startswith('url_slug: "length-of-stay-a-hospital-a-university-')
    items = paper("assessment", ".yaml", released["pf-tree"], ANSWERS)
    assert '\nitems:\n  -\n    topic: "Privacy parameter and variant"\n    standing: "proved"\n' in items


def test_no_letter_of_an_answer_leaves_its_place_in_yaml(released):
    yaml = pytest.importorskip("yaml")
    odd = "a\x85b\x7fc\u2028d\ufeffe\nf: g # h\n--- \N{GRINNING FACE}\u202e"
    answers = replace(ANSWERS, justification=odd)
    for kind in TITLES:
        text = paper(kind, ".yaml", released["pf-tree"], answers)
        assert yaml.safe_load(text) == json.loads(paper(kind, ".json", released["pf-tree"], answers))


def test_the_template_comes_back_as_answers():
    assert answers_from(answers_template()) == Answers()
    with pytest.raises(DocumentError):
        answers_from("{}")
    with pytest.raises(DocumentError):
        answers_from('{"answers": {"name": 7}}')
