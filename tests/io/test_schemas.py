"""Schema files."""

import pytest

from dpviz.errors import DocumentError, DpvizError
from dpviz.io.schemas import load_schema, save_schema
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema

SCHEMA = Schema(
    (NumericFeature("größe", 0, 2.5, unit="m"), CategoricalFeature("c", ("a", "b"))),
    ClassTarget("y", ("no", "yes")),
    n_public=45000,
)


def test_a_saved_schema_is_loaded_equal(tmp_path):
    save_schema(SCHEMA, tmp_path / "s.json")
    assert load_schema(tmp_path / "s.json") == SCHEMA
    assert "größe" in (tmp_path / "s.json").read_text(encoding="utf-8")


def test_save_is_a_method_too(tmp_path):
    SCHEMA.save(tmp_path / "method.json")
    save_schema(SCHEMA, str(tmp_path / "function.json"))
    assert (tmp_path / "method.json").read_bytes() == (tmp_path / "function.json").read_bytes()


def test_a_byte_order_mark_is_tolerated(tmp_path):
    save_schema(SCHEMA, tmp_path / "s.json")
    (tmp_path / "s.json").write_bytes(b"\xef\xbb\xbf" + (tmp_path / "s.json").read_bytes())
    assert load_schema(tmp_path / "s.json") == SCHEMA


def test_a_missing_file_is_named_with_its_reason(tmp_path):
    with pytest.raises(DpvizError, match=r"absent\.json: The schema file cannot be read: No such file"):
        load_schema(tmp_path / "absent.json")


def test_a_path_that_cannot_be_one_is_refused():
    for path in ["", "a\0b"]:
        with pytest.raises(DpvizError, match="cannot be read"):
            load_schema(path)


def test_a_folder_that_does_not_exist_cannot_be_written_to(tmp_path):
    with pytest.raises(DpvizError, match="cannot be written"):
        save_schema(SCHEMA, tmp_path / "absent" / "s.json")


def test_a_file_that_is_no_text_is_no_schema(tmp_path):
    (tmp_path / "s.json").write_bytes(b"\x80\x81")
    with pytest.raises(DocumentError, match="not JSON"):
        load_schema(tmp_path / "s.json")
