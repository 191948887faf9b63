"""What may be read as text, in which encodings, and what is refused."""

import gzip
import io
from functools import partial

import pytest

from dpviz.errors import DpvizError
from dpviz.io.csv import read_csv
from dpviz.io.text import ENCODINGS
from tests.support.outcomes import cells, problem_of

problem = partial(problem_of, read_csv)


# Sources


def test_paths_files_uploads_and_gzip_read_alike(tmp_path):
    text = b"a,b\n1,x\n2,y\n"
    plain, packed = tmp_path / "t.csv", tmp_path / "t.csv.gz"
    plain.write_bytes(text)
    packed.write_bytes(gzip.compress(text))
    upload = io.BytesIO(text)
    upload.name = "upload.csv"
    upload.read()  # an upload that was read before
    with open(packed, "rb") as file:
        tables = [read_csv(source) for source in (text, plain, str(packed), upload, file, gzip.compress(text))]
        assert not file.closed
    assert [cells(table) for table in tables] == [[["1", "x"], ["2", "y"]]] * 6
    assert [table.source for table in tables] == ["table", "t.csv", "t.csv.gz", "upload.csv", "t.csv.gz", "table"]
    assert read_csv(text, name="mine").source == "mine"


def test_a_missing_path_and_a_folder_are_no_files(tmp_path):
    for path in (tmp_path / "absent.csv", tmp_path, "a\0b.csv", "x" * 5000):
        assert problem(path).code == "not-a-file"


def test_what_is_no_source_at_all_is_refused():
    with pytest.raises(DpvizError, match="binary mode"):
        read_csv(3)


def test_a_damaged_gzip_file_says_so():
    packed = gzip.compress(b"a,b\n" + b"1,2\n" * 1000)
    assert problem(packed[:-10]).code == "gzip"
    assert problem(packed[:20] + b"\xff\xff" + packed[22:]).code == "gzip"


def test_unpacking_stops_at_the_limit():
    bomb = gzip.compress(b"a,b\n" + b"0" * 10_000_000)
    error = problem(bomb, max_bytes=1_000_000)
    assert error.code == "too-many-bytes"
    assert "1 MB" in error.what


# Encodings


def test_a_byte_order_mark_is_no_part_of_the_first_name():
    assert read_csv("a,b\n1,ä\n".encode("utf-8-sig")).names == ("a", "b")


def test_utf16_is_read_line_by_line():
    """Also beside units that are no letter, which spoil their own cell."""
    for mark, codec in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        for odd in ("\ud800", "\udc00", "\ud800\ud800"):
            text = mark + f"a\tb\nö\t2{odd}\n{odd}\tx\n".encode(codec, "surrogatepass")
            spoiled = odd.replace("\ud800", "\ufffd").replace("\udc00", "\ufffd")
            table = read_csv(text)
            assert cells(table) == [["ö", f"2{spoiled}"], [spoiled, "x"]]
            assert "Read as UTF-16." in table.notes
        assert problem(text.removeprefix(mark)).code == "encoding", "without its mark"


def test_the_header_line_decides_the_encoding():
    table = read_csv("prénom,b\ncafé,5 €\n".encode("cp1252"))
    assert (table.names, cells(table)) == (("prénom", "b"), [["café", "5 €"]])
    assert "Windows-1252" in table.notes[0]


def test_rows_do_not_decide_the_encoding():
    table = read_csv("a,b\ncafé,1\n".encode() + "café,2\n".encode("cp1252"))
    assert cells(table) == [["café", "1"], ["caf\ufffd", "2"]]
    assert cells(read_csv("a,b\ncafé,5 €\n".encode("cp1252"), encoding="windows-1252")) == [["café", "5 €"]]


def test_encodings_in_which_a_byte_can_change_other_rows_are_refused():
    for encoding in ["utf-16", "utf-7", "shift_jis", "iso2022_jp", "idna", "base64", "nope", "\0"]:
        assert problem(b"a,b\n1,2\n", encoding=encoding).code == "encoding"


def test_in_every_encoding_a_line_feed_stands_for_itself_alone():
    for encoding in ENCODINGS:
        assert all(bytes([byte, 10]).decode(encoding, "replace").endswith("\n") for byte in range(256))
        assert all(b"\n" not in chr(code).encode(encoding, "ignore") for code in range(11, 0x3000))


def test_without_a_header_the_first_bytes_decide_nothing(tmp_path):
    for start in (b"PK\x03\x04", b"\x1f\x8b", b"\xff\xfe", b"%PDF"):
        assert cells(read_csv(start + b",1\nx,2\n", names=["a", "b"]))[1] == ["x", "2"]
    packed = tmp_path / "t.csv.gz"
    packed.write_bytes(gzip.compress(b"1,2\n"))
    assert cells(read_csv(packed, names=["a", "b"])) == [["1", "2"]]


def test_other_kinds_of_file_are_named():
    for start in [b"PK\x03\x04", b"%PDF-1.7", b"PAR1", b"\xd0\xcf\x11\xe0"]:
        assert problem(start + b"\x00" * 100).code == "not-csv"
