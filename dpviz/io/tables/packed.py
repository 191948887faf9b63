"""What is inside a .gz, .zst or .zip file, unpacked up to a limit."""

import io
import zipfile

from dpviz.errors import TableError
from dpviz.installation import require_extra
from dpviz.io.limits import require_bytes
from dpviz.io.tables.cells import in_our_words
from dpviz.io.text import GZIP, gunzip

ZIP = b"PK\x03\x04"
_ZSTD = b"\x28\xb5\x2f\xfd"
_STARTS = {GZIP: ".gz", _ZSTD: ".zst", ZIP: ".zip"}


def packing_of(file_name: str, raw: bytes, *, by_name: bool) -> str:
    """.gz, .zst, .zip, or nothing: by the name of the file, or by its first bytes."""
    if by_name:
        return next((ending for ending in _STARTS.values() if file_name.lower().endswith(ending)), "")
    return next((ending for start, ending in _STARTS.items() if raw.startswith(start)), "")


def unpacked(file_name: str, raw: bytes, packing: str, max_bytes: int) -> tuple[str, bytes]:
    """(name, bytes) of the one file inside.

    Raises TableError for a damaged archive, one with a password, with no file or several, or more than `max_bytes` bytes inside.
    """
    inner = file_name[: -len(packing)] if file_name.lower().endswith(packing) else file_name
    if packing == ".gz":
        return inner, gunzip(raw, max_bytes)
    if packing == ".zst":
        return inner, _unpack_zstd(raw, max_bytes)
    with in_our_words("ZIP archive"), zipfile.ZipFile(io.BytesIO(raw)) as archive:
        file = _only_file(archive)
        with archive.open(file) as stream:
            return file.filename, _limited(stream.read(max_bytes + 1), max_bytes)


def _unpack_zstd(raw: bytes, max_bytes: int) -> bytes:
    require_extra("tables", "Reading a .zst file", "pyarrow")
    import pyarrow as pa

    with in_our_words("zst file"), pa.CompressedInputStream(pa.BufferReader(raw), "zstd") as stream:
        return _limited(stream.read(max_bytes + 1), max_bytes)


def _limited(data: bytes, max_bytes: int) -> bytes:
    require_bytes("The unpacked file", len(data), max_bytes)
    return data


def _only_file(archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    files = [info for info in archive.infolist() if not (info.is_dir() or _is_left_by_a_system(info.filename))]
    if len(files) != 1:
        found = f"{len(files):,} files" if files else "no file"
        raise TableError("zip-files", f"The ZIP archive holds {found}.", remedy="Unpack it and choose one table.")
    if files[0].flag_bits & 1:
        raise TableError("password", "The ZIP archive has a password.", remedy="Unpack it first.")
    return files[0]


def _is_left_by_a_system(path: str) -> bool:
    return path.startswith("__MACOSX/") or path.rpartition("/")[2].startswith(".")
