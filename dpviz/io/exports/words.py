"""Names and numbers in files that people and programs read.

Names come from untrusted files: they are spelled so that they stay on one line and cannot be taken for anything else.
"""

import json
import re
import unicodedata
from functools import lru_cache

#: Words used in conditions around names.
_WORDS = frozenset(("is", "not", "one", "of", "or", "and", "missing", "unknown", "given", "if", "then"))
_UNSEEN = ("Cc", "Cf", "Zl", "Zp", "Cs", "Co", "Cn")


def one_line(text: str) -> str:
    """`text` on one line: control characters, line separators and what turns the reading direction become spaces."""
    return "".join(" " if unicodedata.category(letter) in _UNSEEN else letter for letter in text)


@lru_cache(maxsize=65_536)
def spelled(name: str) -> str:
    """The name itself where it is simple: letters, digits and a few signs, and none of the words around it. Else a JSON text in
    quotes: unseen characters are escaped, letters of all alphabets stay.
    """
    looks_simple = re.fullmatch(r"[^\W\d_](?:[\w /%.\-]*\w)?", name) is not None
    if looks_simple and _WORDS.isdisjoint(name.casefold().split()) and one_line(name) == name:
        return name
    text = json.dumps(name, ensure_ascii=False)
    return "".join(json.dumps(letter)[1:-1] if unicodedata.category(letter) in _UNSEEN else letter for letter in text)


def number(value: float) -> str:
    """The shortest text that is read back as the same number: "37.5", "40"."""
    return repr(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))
