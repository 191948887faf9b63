"""The schema command."""

import dpviz


def test_the_written_schema_is_the_proposal_with_every_value_marked(run, table, tmp_path):
    out = tmp_path / "s.json"
    code, said, heard = run("schema", table, "--target", "label", "--out", out)
    assert code == 0
    assert dpviz.load_schema(out) == dpviz.propose_schema(dpviz.read_csv(table), "label")
    assert "Warning: 7 values of the schema were read from the data, not declared" in heard
    assert "No --target" not in heard
    assert said == f"Target    label\nFeatures  2\nFile      {out}\n"


def test_the_last_column_is_the_target_unless_told_otherwise(run, table, tmp_path):
    _, _, heard = run("schema", table, "--out", tmp_path / "s.json")
    assert "Warning: No --target: the last column, 'label', is used." in heard


def test_bad_input_is_one_line(refused, table, tmp_path):
    assert "There is no column called 'x'." in refused("schema", table, "--target", "x", "--out", tmp_path / "s.json")
    assert "The result would overwrite its own input." in refused("schema", table, "--force", "--out", table)
    assert "There is no folder" in refused("schema", table, "--out", tmp_path / "absent" / "s.json")


def test_a_file_without_a_header_is_read_by_the_names_it_is_given(run, tmp_path):
    rows, out = tmp_path / "rows.csv", tmp_path / "s.json"
    rows.write_bytes("3\tklein\tno\n4\tgro\xdf\tyes\n".encode("cp1252"))
    code, _, _ = run("schema", rows, "--names", "size,word,label", "--delimiter", "tab", "--encoding", "cp1252", "--out", out)
    assert code == 0
    schema = dpviz.load_schema(out)
    assert schema.feature_names == ("size", "word")
    assert schema.features[1].categories == ("gro\xdf", "klein")
    assert schema.n_public == 2
