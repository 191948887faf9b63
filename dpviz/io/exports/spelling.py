"""Names from untrusted files in exported texts: spelled so that they stay on one line and cannot be taken for anything else."""

import json
import keyword
import re
import unicodedata
from collections.abc import Collection, Iterable

#: Words used in conditions around names.
_WORDS = frozenset(("is", "not", "one", "of", "or", "and", "missing", "given", "if", "then"))
_UNSEEN = ("Cc", "Cf", "Zl", "Zp", "Cs", "Co", "Cn")


def one_line(text: str) -> str:
    """`text` on one line: control characters, line separators and what turns the reading direction become spaces."""
    return "".join(" " if unicodedata.category(letter) in _UNSEEN else letter for letter in text)


def is_simple(name: str) -> bool:
    """True for a name that reads as one without quotes: letters, digits and a few signs, and none of the words around it."""
    looks_so = re.fullmatch(r"[^\W\d_](?:[\w /%.\-]*\w)?", name) is not None
    return looks_so and _WORDS.isdisjoint(name.casefold().split()) and one_line(name) == name


def spelled(name: str) -> str:
    """The name itself where it is simple, else a JSON text in quotes whose unseen characters are escaped."""
    return name if is_simple(name) else quoted(name)


def quoted(name: str) -> str:
    """A JSON text in quotes; unseen characters are escaped, letters of all alphabets stay."""
    text = json.dumps(name, ensure_ascii=False)
    return "".join(json.dumps(letter)[1:-1] if unicodedata.category(letter) in _UNSEEN else letter for letter in text)


def number(value: float) -> str:
    """The shortest text that is read back as the same number: "37.5", "40"."""
    return repr(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))


def identifiers(names: Iterable[str], taken: Collection[str] = ()) -> list[str]:
    """A Python identifier for each name, all different, none a keyword or in `taken`; ASCII, so that any editor shows it."""
    used, found = {*taken, *keyword.kwlist, *keyword.softkwlist}, []
    for name in names:
        letters = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
        stem = re.sub(r"\W+", "_", letters).strip("_").lower()[:40] or "column"
        stem = f"column_{stem}" if stem[0].isdigit() else stem
        free = next(word for word in _numbered(stem) if word not in used)
        used.add(free)
        found.append(free)
    return found


def _numbered(stem: str) -> Iterable[str]:
    yield stem
    place = 2
    while True:
        yield f"{stem}_{place}"
        place += 1
