"""The train command: from a table to a JSON file, and everything said on the way."""

import json
from dataclasses import replace

import pytest

import dpviz
from dpviz.release.register import Register
from tests.support.commands import csv_text


def test_the_written_tree_predicts_as_the_model_does(run, table, schema, tmp_path):
    out = tmp_path / "tree.json"
    code, said, _ = run("train", table, "--schema", schema, "--epsilon", "1", "--max-depth", "3", "--seed", "5", "--out", out)
    assert code == 0
    assert "simulation with seed 5, not a release" in said
    data = dpviz.encode(dpviz.read_table(table), dpviz.load_schema(schema))
    result = dpviz.fit("pf-tree", data, epsilon=1, max_depth=3, seed=5)
    written = dpviz.model_from_json(out.read_text(encoding="utf-8"))
    assert (written.predict(data) == result.model.predict(data)).all()
    assert out.read_text(encoding="utf-8") == result.to_json() + "\n"
    assert f"Depth        {written.depth}\nLeaves       {written.n_leaves}\n" in said


@pytest.mark.slow
def test_a_declared_schema_and_no_seed_make_a_release_without_disclosures(run, table, schema, tmp_path):
    out = tmp_path / "tree.json"
    code, said, heard = run("train", table, "--schema", schema, "--epsilon", "0.5", "--depth", "2", "--out", out)
    privacy = json.loads(out.read_text(encoding="utf-8"))["privacy"]
    assert code == 0
    assert privacy["noise"] == {"source": "release"}
    assert privacy["disclosures"] == []
    assert privacy["guarantee"]["epsilon"] == pytest.approx(0.5)
    assert "Guarantee    Guaranteed: epsilon = 0.5 (add/remove one row)\n" in said
    assert "exact samplers, no seed. A release." in said
    assert "Disclosures  0\n" in said
    assert "Warning" not in heard


@pytest.mark.slow
def test_without_a_schema_what_was_read_from_the_data_is_warned_of_and_recorded(run, table, tmp_path):
    out = tmp_path / "tree.json"
    code, said, heard = run("train", table, "--epsilon", "1", "--out", out)
    fields = {(item["field"], item["code"]) for item in json.loads(out.read_text(encoding="utf-8"))["privacy"]["disclosures"]}
    assert code == 0
    assert {field for field, _ in fields} == {"age", "colour", "label", "n_public"}
    assert len(fields) == 7
    assert "Warning: No --schema" in heard
    assert "Warning: No --target: the last column is used." in heard, "without a header line its name is a cell"
    assert "Warning: 7 values of the schema were read from the data, not declared. No epsilon" in heard
    assert "Not guaranteed, because 7 values were read from the data" in said
    own = tmp_path / "read.schema.json"
    run("schema", table, "--target", "label", "--out", own)
    code, _, heard = run("train", table, "--schema", own, "--epsilon", "1", "--out", tmp_path / "t.json")
    assert code == 0
    assert "Warning: 7 values of the schema were read from the data" in heard
    assert "No --schema" not in heard


def test_parameters_of_every_kind_reach_the_learner(run, table, schema, tmp_path):
    asked = {"bins": ("5", 5), "max_leaf_error": ("0.02", 0.02), "grow_complete": ("No", False), "shares": ("1,2,3", [1, 2, 3])}
    given = [word for name, (text, _) in asked.items() for word in ("--param", f"{name}={text}")]
    args = ("--learner", "privatree", "--epsilon", "1", "--seed", "0", *given, "--out", tmp_path / "tree.json")
    assert run("train", table, "--schema", schema, *args)[0] == 0
    found = json.loads((tmp_path / "tree.json").read_text(encoding="utf-8"))["learner"]["parameters"]
    assert {name: found[name] for name in asked} == {name: value for name, (_, value) in asked.items()}


@pytest.mark.slow
def test_a_hostile_column_name_cannot_steer_the_terminal(run, refused, tmp_path):
    table = tmp_path / "hostile.csv"
    name = "\x1b]0;owned\x07last"
    table.write_text(f"x,{name}\n" + "1,a\n2,b\n" * 20, encoding="utf-8")
    code, said, heard = run("train", table, "--epsilon", "1", "--out", tmp_path / "t.json")
    assert code == 0
    assert "\x1b" not in said + heard
    error = refused("train", table, "--target", "\x1b[2Jx\ny", "--epsilon", "1", "--out", tmp_path / "u.json")
    assert "\x1b" not in error


def with_persons(tmp_path, rows=90):
    path = tmp_path / f"visits-{rows}.csv"
    header, *lines = csv_text(rows).splitlines()
    path.write_text("\n".join([f"{header},who", *(f"{line},{k // 3}" for k, line in enumerate(lines))]) + "\n", encoding="utf-8")
    return path


BOUND = ("--person", "who", "--rows-per-person", "2")


@pytest.fixture
def clinic(run, schema, tmp_path):
    """Arguments of a release from a data set of patients with at most two rows."""
    register = tmp_path / "r.db"
    unit = ("--unit", "one patient", "--rows-per-unit", 2, "--epsilon-cap", 1)
    assert run("register", "declare", "clinic", *unit, "--register", register)[0] == 0
    booked = ("--register", register, "--add-rows", "--data-set", "clinic", "--accept-rows")
    return ("--schema", schema, "--epsilon", "0.2", *booked, "--out")


def of_two(schema):
    """The same schema with two rows per person, as the owner's word."""
    place = schema.with_name("of-two.json")
    replace(dpviz.load_schema(schema), rows_per_person=2).save(place)
    return place


@pytest.mark.slow
def test_a_release_says_what_it_costs_a_person(run, refused, clinic, schema, tmp_path):
    out = tmp_path / "t.json"
    assert "declares at most 2 rows for 'one patient'" in refused("train", with_persons(tmp_path), *clinic, out, *BOUND[:3], "3")
    assert not out.exists()
    code, _, warned = run("train", with_persons(tmp_path), *clinic, out, *BOUND)
    assert code == 0
    assert "30 rows beyond 2 of a person" in warned
    assert "were dropped" not in warned
    told = {"rows": 2, "epsilon": 0.2, "delta": 0.0, "unit": "one patient", "bounded": True}
    assert json.loads(out.read_text(encoding="utf-8"))["privacy"]["per_person"] == told
    by_word = [of_two(schema) if word == schema else word for word in clinic]
    _, _, warned = run("train", with_persons(tmp_path), *by_word, tmp_path / "unbound.json")
    assert "Nothing but your word bounds the rows" in warned
    unbound = json.loads((tmp_path / "unbound.json").read_text(encoding="utf-8"))["privacy"]["per_person"]
    assert (unbound["epsilon"], unbound["bounded"]) == (0.2, False)


@pytest.mark.slow
def test_few_usable_rows_are_accepted_by_their_owner_or_the_schema_is_corrected_from_a_public_source(
    run, refused, clinic, schema, tmp_path
):
    out, spoiled, corrected = (tmp_path / name for name in ("t.json", "spoiled.csv", "corrected.json"))
    spoiled.write_text(csv_text(600).replace("yes", "ja"), encoding="utf-8")
    asked = ["train", spoiled, *(of_two(schema) if word == schema else word for word in clinic if word != "--accept-rows"), out]
    said = refused(*asked)
    assert "Fewer than 50% of the rows are used unchanged" in said
    assert "Far fewer rows are used than the 600 that are declared" in said
    register = Register(clinic[clinic.index("--register") + 1])
    assert [item.what for item in register.uncovered_uses()] == ["a warning about how the rows fit the schema"]
    unbooked = ("train", spoiled, "--schema", schema, "--epsilon", "1", "--out", tmp_path / "u.json")
    assert "Fewer than 50% of the rows are used unchanged" in refused(*unbooked)
    assert not out.exists()
    assert not (tmp_path / "u.json").exists()
    code, _, heard = run(*unbooked, "--seed", "1")
    assert (code, "Warning: Fewer than 50% of the rows can be used" in heard) == (0, True)
    assert run(*asked[:-1], tmp_path / "accepted.json", "--accept-rows")[0] == 0
    body = json.loads(of_two(schema).read_text(encoding="utf-8"))
    body["target"]["classes"] = ["ja" if name == "yes" else name for name in body["target"]["classes"]]
    asked[asked.index("--schema") + 1] = corrected
    corrected.write_text(json.dumps(body), encoding="utf-8")
    assert "names no public source" in refused(*asked)
    corrected.write_text(json.dumps(body | {"source": "codebook, page 12"}), encoding="utf-8")
    assert run(*asked)[0] == 0
    assert "corrected after a look at how the rows fit, by: codebook, page 12" in out.read_text(encoding="utf-8")
    assert run("export", out, "--to", "report", "--out", tmp_path / "r.html")[0] == 0
    assert "codebook, page 12" in (tmp_path / "r.html").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("command", ["train", "sweep"])
def test_a_schema_with_persons_is_never_used_on_all_rows(run, schema, tmp_path, command):
    whose = tmp_path / "whose.json"
    replace(dpviz.load_schema(schema), person="who").save(whose)
    asked = ("--schema", whose, "--epsilon", "1", "--out", tmp_path / "t.json")
    asked += ("--seed", "0") if command == "train" else ("--learners", "pf-tree", "--folds", "2")
    code, said, warned = run(command, with_persons(tmp_path), *asked)
    assert code == 0
    if command == "train":
        assert "60 rows beyond 1 of a person" in warned
    code, said, warned = run(command, with_persons(tmp_path), *asked, *BOUND[2:], "--force")  # the schema names the column
    assert code == 0
    if command == "train":
        assert "epsilon = 1 (add/remove one person, up to 2 rows)" in said
        assert "30 rows beyond 2 of a person" in warned
        assert "were dropped" not in warned
        undeclared = ("--target", "label", "--epsilon", "1", "--seed", "0", "--out", tmp_path / "s.json", *BOUND)
        assert run(command, with_persons(tmp_path), *undeclared)[0] == 0
        features = json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))["schema"]["features"]
        assert [feature["name"] for feature in features] == ["age", "colour"], "whose row it is, is no feature"
