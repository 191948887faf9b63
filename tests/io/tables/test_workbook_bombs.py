"""Small workbooks that would take a lot of memory, by every part of them: what a process takes that reads them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest

from dpviz.errors import TableError
from dpviz.io.limits import MEMORY_PER_BYTE
from dpviz.io.tables.read import read_table
from tests.io.tables.test_bombs import AT_ONCE, MAX_BYTES, needs_linux, read_by_a_process

pytestmark = pytest.mark.verify

NAMESPACE = b'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
SHARED = b'<c r="A%d" t="s"><v>0</v></c>'


def of_workbook(rows: bytes = b"", texts: bytes = b"", before: bytes = b"") -> bytes:
    """A workbook with a header of two columns, then these rows of XML; these shared texts, after `before`."""
    book, file = openpyxl.Workbook(), io.BytesIO()
    book.active.append(["a", "b"])
    book.save(file)
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    header = b'<row r="1"><c t="inlineStr"><is><t>a</t></is></c><c t="inlineStr"><is><t>b</t></is></c></row>'
    parts["xl/worksheets/sheet1.xml"] = b"<worksheet %s><sheetData>%s%s</sheetData></worksheet>" % (NAMESPACE, header, rows)
    parts["xl/sharedStrings.xml"] = b"%s<sst %s>%s</sst>" % (before, NAMESPACE, texts)
    kinds = parts["[Content_Types].xml"].removesuffix(b"</Types>")
    kind = b"application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    parts["[Content_Types].xml"] = b'%s<Override PartName="/xl/sharedStrings.xml" ContentType="%s"/></Types>' % (kinds, kind)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as out:
        for name, part in parts.items():
            out.writestr(name, part)
    return made.getvalue()


def in_rows(cell: bytes, count: int) -> bytes:
    return b"".join(b'<row r="%d">%s</row>' % (place, cell % place) for place in range(2, 2 + count))


def lying_zip() -> bytes:
    """Its directory says that the sheet is empty."""
    raw = of_workbook(b"<row><c><v>1</v></c></row>" * 3_000_000)
    place = raw.rindex(b"xl/worksheets/sheet1.xml") - 22  # its unpacked size in the directory
    return raw[:place] + bytes(4) + raw[place + 4 :]


def nested(depth: int) -> bytes:
    """Ten of the entity before, again and again."""
    inner = b"".join(b'<!ENTITY e%d "%s">' % (k, b"&e%d;" % (k - 1) * 10) for k in range(1, depth))
    return b'<!DOCTYPE sst [<!ENTITY e0 "xxxxxxxxxx">%s]>' % inner


#: What becomes of each.
WORKBOOKS: dict[str, tuple[Callable[[], bytes], str]] = {
    "xlsx one shared text, many cells": (
        lambda: of_workbook(in_rows(SHARED, 2_000), b"<si><t>%s</t></si>" % (b"x" * 1_000_000)),
        "too-many-bytes",
    ),
    "xlsx many shared texts": (lambda: of_workbook(texts=b"<si/>" * 20_000_000), "too-many-bytes"),
    "xlsx empty shared texts": (lambda: of_workbook(texts=b"<si/>" * 7_000_000), "too-many-bytes"),
    "xlsx sparse rows": (lambda: of_workbook(b'<row r="2000000000"><c r="A2000000000"><v>1</v></c></row>'), "too-many-rows"),
    "xlsx sparse columns": (lambda: of_workbook(in_rows(b'<c r="XFD%d"><v>1</v></c>', 200)), "read"),
    "xlsx one long cell": (
        lambda: of_workbook(b'<row r="2"><c t="inlineStr"><is><t>%s</t></is></c></row>' % (b"x" * 300_000_000)),
        "too-many-bytes",
    ),
    "xlsx entities in entities": (lambda: of_workbook(in_rows(SHARED, 1), b"<si><t>&e8;</t></si>", nested(9)), "damaged"),
    "xlsx one long entity": (
        lambda: of_workbook(
            in_rows(SHARED, 1),
            b"<si><t>%s</t></si>" % (b"&e;" * 1_000),
            b'<!DOCTYPE sst [<!ENTITY e "%s">]>' % (b"x" * 1_000_000),
        ),
        "damaged",
    ),
    "xlsx directory that lies": (lying_zip, "damaged"),
}


@needs_linux
@pytest.mark.slow
@pytest.mark.parametrize("name", WORKBOOKS)
def test_no_part_of_a_workbook_takes_more_memory_than_the_limit_allows(name: str, tmp_path: Path) -> None:
    make, expected = WORKBOOKS[name]
    bomb, plain = tmp_path / "bomb.xlsx", tmp_path / "plain.xlsx"
    plain.write_bytes(of_workbook())
    assert bomb.write_bytes(make()) < MAX_BYTES
    outcomes, peak = read_by_a_process(bomb, [AT_ONCE])
    grown = peak - read_by_a_process(plain, [AT_ONCE])[1]
    print(f"{name:45} {bomb.stat().st_size:10,} bytes  {outcomes[0]:15} {grown / 1e6:7.0f} MB")
    assert (outcomes, grown < MEMORY_PER_BYTE * MAX_BYTES) == ([expected], True)


def test_shared_texts_are_charged_before_they_are_read() -> None:
    with pytest.raises(TableError) as refused:
        read_table(of_workbook(texts=b"<si/>" * 100_000), max_bytes=1_000_000)
    assert refused.value.code == "too-many-bytes"
