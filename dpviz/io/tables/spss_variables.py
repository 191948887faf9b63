"""What an SPSS file says of its variables, looked through before the file is read.

pyreadstat (1.3.7) ends the whole process where a numeric variable has the format of a text, or a label is of a variable that is
not there: 76 of the 10,624 bits of a small file did so when they were flipped.
"""

import struct
from collections.abc import Iterator

_HEADER, _LAYOUT = 176, slice(64, 68)
_END = 999
#: Of texts: as they are, and in hexadecimal digits.
_TEXT_FORMATS = (1, 2)


class _Reader:
    def __init__(self, raw: bytes) -> None:
        self.raw, self.place = raw, _HEADER
        self.order = "<" if raw[_LAYOUT] in (b"\2\0\0\0", b"\3\0\0\0") else ">"

    def numbers(self, count: int) -> tuple[int, ...]:
        """So many whole numbers of 32 bits; raises struct.error beyond the end."""
        found = struct.unpack_from(f"{self.order}{count}i", self.raw, self.place)
        self.place += 4 * count
        return found

    def skip(self, count: int) -> None:
        """Leave out so many bytes."""
        if count < 0 or self.place + count > len(self.raw):
            raise ValueError("beyond the end")
        self.place += count


def require_sound_variables(raw: bytes) -> None:
    """Raise ValueError or struct.error where widths, formats and labels of variables contradict each other."""
    reader, widths, labelled = _Reader(raw), list[int](), list[int]()
    while (kind := reader.numbers(1)[0]) != _END:
        match kind:
            case 2:  # a variable
                widths.append(_variable(reader))
            case 3:  # labels of values
                for _ in range(reader.numbers(1)[0]):
                    reader.skip(8)
                    reader.skip(reader.raw[reader.place] // 8 * 8 + 8)
            case 4:  # whose they are
                labelled += reader.numbers(reader.numbers(1)[0])
            case 6:  # notes
                reader.skip(80 * reader.numbers(1)[0])
            case 7:  # more about the file
                _, size, count = reader.numbers(3)
                reader.skip(size * count)
            case _:
                raise ValueError("an unknown record")
    if not {place - 1 for place in labelled} <= set(_first_places(widths)):
        raise ValueError("labels of a variable that is not there")


def _variable(reader: _Reader) -> int:
    """Its width: 0 for a number, -1 for what goes on with a text."""
    width, has_label, n_missing, shown, written = reader.numbers(5)
    reader.skip(8)
    if has_label not in (0, 1) or not -3 <= n_missing <= 3 or not -1 <= width <= 255:
        raise ValueError("a variable that cannot be")
    if width >= 0 and any((form >> 16 & 0xFF in _TEXT_FORMATS) != (width > 0) for form in (shown, written)):
        raise ValueError("a format of another type")
    if has_label:
        reader.skip((reader.numbers(1)[0] + 3) // 4 * 4)
    reader.skip(8 * abs(n_missing))
    return width


def _first_places(widths: list[int]) -> Iterator[int]:
    """Where variables begin; a text of more than eight bytes goes on in the records behind it."""
    place = 0
    while place < len(widths):
        more = max(0, (widths[place] + 7) // 8 - 1)
        if widths[place] < 0 or widths[place + 1 : place + 1 + more] != [-1] * more:
            raise ValueError("a text in too few records, or in too many")
        yield place
        place += 1 + more
