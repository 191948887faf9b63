"""The owners command: what late rows are worth."""

import pytest

import dpviz

FEW = ("--epsilon", "2", "--param", "rounds=8")


def test_training_with_several_owners_says_that_it_went_and_where_to(refused, table, schema):
    for words in ((), ("--help",), (table, table, "--schema", schema, *FEW, "--public-seed", "3", "--out", "model.json")):
        said = refused("owners", "train", *words)
        assert "`dpviz owners train`, with its protocol between processes, was removed from dpviz. In Python, " in said
        assert "dpviz.train_federated" in said


def test_bad_input_is_one_line(refused, table, schema):
    said = refused("owners", "stream", table, "--schema", schema, *FEW, "--feature", "weight")
    assert "no feature called 'weight'" in said


@pytest.mark.slow
def test_late_rows_are_followed_in_every_way(run, table, schema):
    code, said, _ = run("owners", "stream", table, "--schema", schema, *FEW, "--param", "extra_rounds=4", "--feature", "age")
    assert code == 0
    title, head, *lines = said.strip().splitlines()
    assert title == "Share of wrong classes (add/remove one row). For the owner of the rows only."
    assert head.split("  ")[0] == "WAY"
    data = dpviz.encode(dpviz.read_csv(table), dpviz.load_schema(schema))
    stream = dpviz.stream_of(*data.split(0.2, seed=0), "age", 0.3)
    for line, way in zip(lines, ("stop", "new rows alone", "filter", "from the start"), strict=True):
        course = dpviz.train_on_stream(stream, way, epsilon=2, seed=0, rounds=8, extra_rounds=4)
        assert line.startswith(way)
        assert line.split()[-2:] == [f"{course.after('new'):.4g}", f"{course.ledger.guarantee.epsilon:g}"]
