"""Schema files."""

import pytest

from dpviz.errors import DpvizError
from dpviz.io.schemas import load_schema, save_schema
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema

SCHEMA = Schema(
    (NumericFeature("größe", 0, 2.5, unit="m"), CategoricalFeature("c", ("a", "b"))),
    ClassTarget("y", ("no", "yes")),
    n_public=45000,
)


def test_a_saved_schema_is_loaded_equal_whoever_saved_it_and_whatever_mark_it_begins_with(tmp_path):
    function, method = tmp_path / "function.json", tmp_path / "method.json"
    save_schema(SCHEMA, str(function))
    SCHEMA.save(method)
    assert function.read_bytes() == method.read_bytes()
    assert "größe" in function.read_text(encoding="utf-8")
    method.write_bytes(b"\xef\xbb\xbf" + method.read_bytes())
    assert load_schema(function) == load_schema(method) == SCHEMA


def test_what_cannot_be_read_or_written_is_named_with_its_reason(tmp_path):
    (binary := tmp_path / "s.json").write_bytes(b"\x80\x81")
    missing = r"absent\.json: The schema file cannot be read: No such file"
    for path, says in (
        (tmp_path / "absent.json", missing),
        ("", "cannot be read"),
        ("a\0b", "cannot be read"),
        (binary, "not JSON"),
    ):
        with pytest.raises(DpvizError, match=says):
            load_schema(path)
    with pytest.raises(DpvizError, match="cannot be written"):
        save_schema(SCHEMA, tmp_path / "absent" / "s.json")
