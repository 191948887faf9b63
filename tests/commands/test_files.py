"""Files are written whole or not at all."""

import os
import sys

import pytest

from dpviz.commands import files
from dpviz.commands.files import check_output, write_whole
from dpviz.errors import DpvizError


def test_a_file_is_written_and_nothing_else_is_left(tmp_path):
    write_whole(tmp_path / "a.json", "größe\n", force=False)
    assert (tmp_path / "a.json").read_bytes() == "größe\n".encode()
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_a_failure_half_way_keeps_the_old_file_and_leaves_no_part(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    path.write_text("old", encoding="utf-8")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(DpvizError, match=r"a\.json: The file cannot be written: No space left on device\."):
        write_whole(path, "new", force=True)
    assert path.read_text(encoding="utf-8") == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.json"]


def test_a_file_that_appears_while_working_is_not_overwritten(tmp_path):
    path = tmp_path / "a.json"
    check_output(path, force=False)
    path.write_text("somebody else's", encoding="utf-8")
    with pytest.raises(DpvizError, match="The file exists"):
        write_whole(path, "mine", force=False)


def test_a_folder_a_missing_folder_and_a_file_as_folder_are_refused(tmp_path):
    with pytest.raises(DpvizError, match="not an ordinary file"):
        check_output(tmp_path, force=True)
    with pytest.raises(DpvizError, match="There is no folder"):
        check_output(tmp_path / "absent" / "a.json", force=True)
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(DpvizError, match=r"There is no folder|cannot be written"):
        check_output(tmp_path / "file" / "a.json", force=True)


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000])
def test_a_name_that_cannot_be_one_is_refused(tmp_path, name):
    with pytest.raises(DpvizError, match="cannot be written"):
        write_whole(tmp_path / name, "text", force=False)


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights on Windows")
def test_a_link_stays_a_link_and_its_target_is_written(tmp_path):
    (tmp_path / "real.json").write_text("old", encoding="utf-8")
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    write_whole(tmp_path / "link.json", "new", force=True)
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_text(encoding="utf-8") == "new"


def test_a_folder_without_the_right_to_write_is_refused(tmp_path, monkeypatch):
    def denied(*args):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("dpviz.files.os.open", denied)
    with pytest.raises(DpvizError, match=r"a\.json: The file cannot be written: Permission denied\."):
        write_whole(tmp_path / "a.json", "text", force=False)


@pytest.mark.skipif(os.name == "nt", reason="rights are kept differently on Windows")
def test_a_written_file_has_the_users_usual_rights(tmp_path):
    (tmp_path / "usual").write_text("", encoding="utf-8")
    write_whole(tmp_path / "ours", "", force=False)
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "usual").stat().st_mode
