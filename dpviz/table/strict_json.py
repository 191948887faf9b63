"""Strict JSON: read with typed errors, from text to plain values and from these to dataclasses; infinity is a word in it.

Each step has its own guards. `parse_json` checks values: no repeated key, no number that is not finite, no broken character.
`read` checks the shape: msgspec fills dataclasses strictly, so that `true` and `"3"` are not numbers, and ignores unknown
keys. What the values mean is for the caller to check. Every problem is a `DocumentError` that names the place, such as
`features[2].low`, and quotes at most a short piece of the document.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

try:
    import msgspec
except ImportError:  # on an executor, which reads no documents
    msgspec = None  # type: ignore[assignment]

from dpviz.errors import DocumentError

T = TypeVar("T")
#: A parameter as JSON holds it, its lists as tuples.
PlainValue = bool | int | float | str | None | tuple[Any, ...]
if TYPE_CHECKING or msgspec:
    #: A text that is not empty.
    FilledText = Annotated[str, msgspec.Meta(min_length=1)]
else:
    FilledText = str

#: Only texts that match this can hold a value that `_require_storable` refuses.
_SUSPICIOUS = re.compile(r"NaN|Infinity|[eE]\+?\d{3}|\d{100}|\\u[dD][89a-fA-F]|[\ud800-\udfff]")
_REMEDY = "Correct this entry, or update dpviz if a newer version saved the file."
#: What msgspec says, in our words.
_PHRASES = {
    "Number out of range": "Expected a finite number",
    "Invalid enum value": "Expected one of the known texts, got",
    "Expected ": "This must be ",
    ", got ": "; got ",
    " | ": "` or `",
}
_WORDS = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object with named entries",
}


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON text (or its UTF-8 bytes). Raises DocumentError for whatever is not strict JSON."""
    try:
        text = text.decode("utf-8-sig") if isinstance(text, bytes) else text.removeprefix("\ufeff")
        value = json.loads(text, object_pairs_hook=_object)
        if _SUSPICIOUS.search(text):
            _require_storable(value)
    except RecursionError as error:
        raise DocumentError("It is nested too deep.", remedy="Use a file saved by dpviz.") from error
    except UnicodeDecodeError as error:  # which quotes a byte of what may be a table
        raise DocumentError("It is not JSON: it is no text in UTF-8.", remedy="Use a file saved by dpviz.") from error
    except ValueError as error:
        raise DocumentError(f"It is not JSON: {error}.", remedy="Use a file saved by dpviz.") from error
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise DocumentError(f"The key {twice!r:.60} appears twice in one object.", remedy="Keep one of them.")
    return entries


def _require_storable(value: Any, path: str = "") -> None:
    """Python reads NaN, 1e999 and half a character, none of which JSON or a file can hold."""
    if isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            _require_storable(key, path)
            _require_storable(item, f"{path}.{key:.60}" if isinstance(value, dict) else f"{path}[{key}]")
    elif isinstance(value, float) and not math.isfinite(value):
        raise wrong("This must be a finite number.", path)
    elif isinstance(value, str) and not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
        raise wrong("This text holds half a character.", path)


def read(kind: type[T], value: Any, path: str = "") -> T:
    """Parsed JSON as a `kind`, usually a dataclass; `path` is its place in a larger document."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise _error_at(str(error), path) from error
    except RecursionError as error:
        raise DocumentError("It is nested too deep.", where=path, remedy="Use a file saved by dpviz.") from error


def require(value: "T | msgspec.UnsetType", path: str) -> T:
    """An entry that may be left out, where it may not."""
    if isinstance(value, msgspec.UnsetType):
        raise wrong("This entry is missing.", path)
    return value


def _error_at(message: str, path: str) -> DocumentError:
    """msgspec's message in our words: "Expected `float`, got `str` - at `$.features[2].low`"."""
    what, _, place = message.partition(" - at `$")
    place = f"{path}{place.removesuffix('`')}"
    missing = re.fullmatch(r"Object missing required field `(\w+)`", what)
    if missing:
        return wrong("This entry is missing.", f"{place}.{missing[1]}")
    for theirs, ours in _PHRASES.items():
        what = what.replace(theirs, ours)
    what = re.sub("`(.*?)`", lambda name: _WORDS.get(name[1], name[1]), what)
    return wrong(f"{what[:300].rstrip('.')}.", place)


def wrong(what: str, path: str) -> DocumentError:
    """The error of an entry: `what` is wrong there."""
    return DocumentError(what, where=path.lstrip(".")[:200] or "document", remedy=_REMEDY)


def read_entry(kind: type[T], document: Any, name: str, path: str = "") -> T:
    """The entry `name` of an object, as a `kind`."""
    entries = read(dict[str, Any], document, path)
    if name not in entries:
        raise wrong("This entry is missing.", f"{path}.{name}")
    return read(kind, entries[name], f"{path}.{name}")


def read_kind(kinds: Mapping[str, T], document: Any, path: str = "") -> T:
    """What `kinds` has for the entry "kind" of the document."""
    kind = read_entry(str, document, "kind", path)
    if kind not in kinds:
        raise wrong(f"This must be one of {', '.join(map(repr, kinds))}; got {kind!r:.60}.", f"{path}.kind")
    return kinds[kind]


def require_format(document: Any, expected: str, path: str = "") -> None:
    """Refuse a document that is not of the format `expected`, such as "dpviz-schema/1"."""
    format = read_entry(str, document, "format", path)
    if format.startswith("dpviz-session/"):
        remedy = 'Its entry "schema" is a schema, to be saved as a file of its own; settings are in the address of a page.'
        raise DocumentError("It is a session file of an earlier version, which dpviz no longer opens.", remedy=remedy)
    if format != expected:
        raise wrong(f"The format {format!r:.60} is not known here; expected {expected!r}.", f"{path}.format")


def without_infinity(value: Any) -> Any:
    """The value for `json.dumps`: JSON has no infinity, so it becomes a word; tuples become lists."""
    if isinstance(value, Mapping):
        return {name: without_infinity(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_infinity(item) for item in value]
    return ("infinity" if value > 0 else "-infinity") if isinstance(value, float) and math.isinf(value) else value


def plain(value: Any) -> Any:
    """Structs, dataclasses and NumPy's numbers as `json.dumps` takes them, without infinity."""
    return without_infinity(msgspec.to_builtins(value, enc_hook=lambda number: number.item()))


def with_infinity(value: Any, *names: str) -> Any:
    """What `without_infinity` wrote, with infinity where entries of these names hold the word."""
    if isinstance(value, list):
        return [with_infinity(item, *names) for item in value]
    if not isinstance(value, dict):
        return value
    is_word = {name for name, item in value.items() if item == "infinity" and name in names}
    return {name: math.inf if name in is_word else with_infinity(item, *names) for name, item in value.items()}
