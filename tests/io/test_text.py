"""What may be read as text, in which encodings, and what is refused."""

import gzip
import io
from functools import partial

import pytest

from dpviz.errors import DpvizError
from dpviz.io.tables.read import read_table
from dpviz.io.text import ENCODINGS
from tests.support.outcomes import cells, problem_of

problem = partial(problem_of, read_table)


def test_paths_files_uploads_and_gzip_read_alike(tmp_path):
    text = b"a,b\n1,x\n2,y\n"
    plain, packed = tmp_path / "t.csv", tmp_path / "t.csv.gz"
    plain.write_bytes(text)
    packed.write_bytes(gzip.compress(text))
    upload = io.BytesIO(text)
    upload.name = "upload.csv"
    upload.read()  # an upload that was read before
    with open(packed, "rb") as file:
        tables = [read_table(source) for source in (text, plain, str(packed), upload, file, gzip.compress(text))]
        assert not file.closed
    assert [cells(table) for table in tables] == [[["1", "x"], ["2", "y"]]] * 6
    assert [table.source for table in tables] == ["table", "t.csv", "t.csv.gz", "upload.csv", "t.csv.gz", "table"]
    assert read_table(text, name="mine").source == "mine"


def test_what_is_no_file_or_a_damaged_one_is_refused(tmp_path):
    for path in (tmp_path / "absent.csv", tmp_path, "a\0b.csv", "x" * 5000):
        assert problem(path).code == "not-a-file"
    with pytest.raises(DpvizError, match="binary mode"):
        read_table(3)
    packed = gzip.compress(b"a,b\n" + b"1,2\n" * 1000)
    for damaged in (packed[:-10], packed[:20] + b"\xff\xff" + packed[22:]):
        assert problem(damaged).code == "gzip"
    error = problem(gzip.compress(b"a,b\n" + b"0" * 10_000_000), max_bytes=1_000_000)
    assert (error.code, "1 MB" in error.what) == ("too-many-bytes", True)


def test_utf16_is_read_line_by_line():
    """Also beside units that are no letter, which spoil their own cell."""
    for mark, codec in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        for odd in ("\ud800", "\udc00", "\ud800\ud800"):
            text = mark + f"a\tb\nö\t2{odd}\n{odd}\tx\n".encode(codec, "surrogatepass")
            spoiled = odd.replace("\ud800", "\ufffd").replace("\udc00", "\ufffd")
            table = read_table(text)
            assert cells(table) == [["ö", f"2{spoiled}"], [spoiled, "x"]]
            assert "Read as UTF-16." in table.notes
        assert problem(text.removeprefix(mark)).code == "encoding", "without its mark"


def test_the_header_line_decides_the_encoding_and_rows_do_not():
    assert read_table("a,b\n1,ä\n".encode("utf-8-sig")).names == ("a", "b")
    table = read_table("prénom,b\ncafé,5 €\n".encode("cp1252"))
    assert (table.names, cells(table)) == (("prénom", "b"), [["café", "5 €"]])
    assert "Windows-1252" in table.notes[0]
    table = read_table("a,b\ncafé,1\n".encode() + "café,2\n".encode("cp1252"))
    assert cells(table) == [["café", "1"], ["caf\ufffd", "2"]]
    assert cells(read_table("a,b\ncafé,5 €\n".encode("cp1252"), encoding="windows-1252")) == [["café", "5 €"]]


def test_in_every_encoding_a_line_feed_stands_for_itself_alone_and_others_are_refused():
    for encoding in ["utf-16", "utf-7", "shift_jis", "iso2022_jp", "idna", "base64", "nope", "\0"]:
        assert problem(b"a,b\n1,2\n", encoding=encoding).code == "encoding"
    for encoding in ENCODINGS:
        assert all(bytes([byte, 10]).decode(encoding, "replace").endswith("\n") for byte in range(256))
        assert all(b"\n" not in chr(code).encode(encoding, "ignore") for code in range(11, 0x3000))
