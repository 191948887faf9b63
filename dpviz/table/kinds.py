"""What kind of text a cell holds that cannot be read as declared: a range, a number with its unit, a word for no value.

The kind follows from the text, and what is declared, alone. It is said instead of the cell, which nobody may see.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from dpviz.table.cells import ORDERS, UNREADABLE, date_of, decimal_of

LOST = "letters that an encoding lost, or no text at all"
NO_VALUE = "a word or sign for no value, not declared as a missing code"
TWO_WAYS = "a number whose points, commas or blanks may be read in two ways"
CODES = "a number such as 999 or -9, often a code for no value"
OTHER, UNDECLARED = "other text", "text that is not declared"
_PERCENTAGE, _AMOUNT, _BRACKETS = "a percentage", "an amount with its currency", "a number in brackets or with its sign behind"
_TIMED, _SEVERAL, UNIT = "a date or a time of day", "several numbers", "a number with a unit or other letters behind"
_MONTH_NAMED, _QUOTED = "a date with the name of its month", "a number in quotes"
_PART_OF_DATE, _DIGITS, _HIDDEN = "a part of a date", "a number in other digits", "a number beside signs that nobody sees"
#: Numbers and dates in forms that nobody would choose for categories.
IN_OTHER_FORM = frozenset(
    (TWO_WAYS, _TIMED, _SEVERAL, UNIT, _PERCENTAGE, _AMOUNT, _BRACKETS, _MONTH_NAMED, _QUOTED, _PART_OF_DATE, _DIGITS, _HIDDEN)
)
#: Letters and digits of words for a value that is missing.
_NO_VALUE = frozenset(
    re.findall(
        r"\w+",
        """na nan nat none null nil void blank empty unknown unk unkn notknown notavailable notapplicable notdone notrecorded
        notmeasured nodata novalue noanswer missing miss refused declined pending tbd tba nd nr ns dk dontknow donotknow undefined
        unspecified withheld redacted suppressed invalid error ka keineangabe keineangaben unbekannt entfällt fehlt fehlend
        nichtbekannt inconnu desconocido sindato sindatos sconosciuto onbekend ukjent okänd nv xx xxx
        nanind qnan snan 1qnan 1snan 1ind""",
    )
)
#: Of PostgreSQL and MySQL; of SAS and Stata.
_CODED = re.compile(r"\\N|\.[A-Za-z_]")
_TRUTHS = frozenset(re.findall(r"\w+", "true false yes no ja nein oui non si sí wahr falsch vrai faux y n t f j 0 1 on off"))
_MONTHS = "jan|feb|fév|mar|mär|mrz|apr|avr|abr|may|mai|maj|mei|mag|jun|jui|jul|lug|giu|aug|aoû|ago|sep|set|oct|okt|ott|out|nov"
_MONTH = rf"(?:{_MONTHS}|dec|dez|des|déc|dic|ene|gen)[^\W\d_]{{0,7}}"
_NUMBER = "[-+−]?(?:[0-9][0-9.,'’]*|[.,][0-9]+)(?:e[-+]?[0-9]{1,5})?"
#: Signs without a width, and those for the direction of writing.
_UNSEEN = "[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
_TAIL = r"(?:\s*[^\W\d_].*)?"
_CURRENCIES = "eur|usd|gbp|chf|jpy|cad|aud|nzd|sek|nok|dkk|pln|czk|huf|inr|cny|brl|zar|euros?|dollars?|pounds?|kč|zł|fr|kr"
_ABOVE = "<=?|>=?|≤|≥|=|less than|more than|greater than|fewer than|at least|at most|up to|over|under|above|below|max|min"
_ABOVE += "|unter|über|bis|ab|mindestens|höchstens|mind|weniger als|mehr als|moins de|plus de|menos de|más de"
_BEYOND = r"\+|[<>≤≥]|(?:or|and) (?:more|older|less|under|over|above|below|younger|higher|lower|up)"
_BEYOND += "|(?:oder|und) (?:mehr|älter|weniger|darüber)|et plus|y más"
_WITH_MONTH = (
    _MONTH_NAMED,
    rf"[0-9]{{1,4}}(?:st|nd|rd|th)?\W{{0,2}}(?:de |of )?{_MONTH}\W{{0,2}}(?:de )?[0-9]{{1,4}}(?![0-9]).*"
    rf"|{_MONTH}\W{{1,2}}[0-9]{{1,2}}(?:st|nd|rd|th)?\W{{1,2}}[0-9]{{2,4}}(?![0-9]).*|{_MONTH}\W{{0,2}}[0-9]{{4}}"
    rf"|(?:{_MONTHS}|dec|dez)[-'’/][0-9]{{2}}",
)
_YEAR, _MONTH_OF_YEAR = "(?:19|20)[0-9]{2}", "(?:0?[1-9]|1[0-2])"
_PERIOD = "(?:kw|cw|week|woche|semaine|semana|w|q|quarter|quartal|trimestre|trim|t|h|s)[- .]?[0-9]{1,2}(?:-[1-7])?"
_PERIOD += r"|[0-9]{1,2}\.? ?(?:kw|q|quarter|quartal|trimestre|halbjahr)"
#: A week, a month, a quarter or a half of a year with four digits.
_IN_YEAR = rf"{_YEAR}[-./, ]{{0,2}}(?:{_PERIOD})|(?:{_PERIOD})[-./, ]{{0,2}}{_YEAR}"
_IN_YEAR += rf"|{_YEAR}[-./]{_MONTH_OF_YEAR}|{_MONTH_OF_YEAR}[-./]{_YEAR}|{_YEAR} ?m{_MONTH_OF_YEAR}"
_TIME = r"(?:[0-9]+ days?,? )?[0-9]{1,2}:[0-9]{2}.*"
#: (kind, pattern of its texts, in small letters) of what is no number; the first that fits counts.
_OF_NUMBERS = [
    (_HIDDEN, rf"(?=.*{_UNSEEN}){_UNSEEN}*{_NUMBER}{_UNSEEN}*"),
    (_PERCENTAGE, r"(?=.*[0-9]).*(?:[%‰]|percent|prozent|\bpct\b).*"),
    (_AMOUNT, rf"(?=.*[0-9])(?:.*[$€£¥₹₽₩₺₫₴₦₪฿¢].*|.*(?<![^\W\d_])(?:{_CURRENCIES})(?![^\W\d_]).*)"),
    (_BRACKETS, rf"[-−]?\(\s*{_NUMBER}\s*\)|{_NUMBER}\s*[-−]"),
    _WITH_MONTH,
    (_PART_OF_DATE, _IN_YEAR),
    (_TIMED, rf"[0-9]{{1,4}}([-./])[0-9]{{1,2}}\1[0-9]{{2,4}}(?:[t ,].*)?|{_TIME}"),
    ("a range", rf"(?:between |from |von |zwischen |de )?{_NUMBER}\s*(?:[-–—~]|\.\.+|…|to|bis|and|und|à|a)\s*{_NUMBER}{_TAIL}"),
    ("a number below or above a limit", rf"(?:{_ABOVE})\.?\s*{_NUMBER}{_TAIL}|{_NUMBER}\s*(?:[^\W\d_]+\s+)?(?:{_BEYOND})"),
    (_QUOTED, rf"=?['\"“”„‘’`´]\s*{_NUMBER}\s*['\"“”„‘’`´]?"),
    (_DIGITS, "[-+]?0x[0-9a-f]+"),
    (TWO_WAYS, r"[-+−]?[0-9.,'’ \u2009\u202f]*[0-9][0-9.,'’ \u2009\u202f]*"),
    (_SEVERAL, rf"(?!0x)[(\[{{]?\s*{_NUMBER}(?:\s*[/;|&+x×*:,_]\s*{_NUMBER})+\s*[)\]}}]?"),
    (
        "a number with a remark",
        rf"(?:[~≈±]|ca?\.|circa|about|approx(?:imately)?\.?|etwa|around)\s*{_NUMBER}.*|{_NUMBER}\s*(?:[*?!†‡#^:;/]+|\(.*|\[.*)",
    ),
    (UNIT, rf"{_NUMBER}\s*[^\s0-9].*"),
    ("letters and digits", r".*[0-9].*"),
]
#: The same of what is no date.
_OF_DATES = [
    _WITH_MONTH,
    ("digits alone, as of a date without marks or a count of days", "[-+]?[0-9]+(?:[.,][0-9]+)?"),
    (_PART_OF_DATE, rf"{_IN_YEAR}|[0-9]{{4}}[-./][0-9]{{1,2}}|[0-9]{{1,2}}[-./][0-9]{{2,4}}|.*q[1-4].*|[0-9]{{4}}-?w.*"),
    (
        "a date with a year of two digits, other marks, or a day that no calendar has",
        r"[0-9]{1,4}\s*[-./, ]\s*[0-9]{1,2}\s*[-./, ]\s*[0-9]{1,4}\.?(?:[t ,].*)?",
    ),
    ("a time of day", _TIME),
    ("letters and digits", r".*[0-9].*"),
]
Kind = Callable[[str], str]


def text_kind_in_numbers(text: str) -> str:
    """What a clean text is that is no number."""
    if text.casefold().lstrip("+-−") in _INFINITE or (text and re.fullmatch(_NUMBER, text.casefold()) and _is_beyond(text)):
        return "a number beyond all that a computer holds"
    return _kind(_NUMBER_KINDS, text)


def text_kind_in_dates(order: str) -> Kind:
    """Of a clean text that is no date in this order: what it is."""

    def kind(text: str) -> str:
        if any(date_of(text, other) for other in ORDERS if other != order):
            return "a date whose parts stand in another order"
        return _kind(_DATE_KINDS, text)

    return kind


def text_kind_in_categories(declared: Iterable[str]) -> Kind:
    """Of a clean text that is none of those declared: what it is, and which of them it resembles."""
    known = list(declared)
    folded, bare = {*map(str.casefold, known)}, {*map(_bare, known)} - {""}
    numbers = {decimal_of(text) for text in known} - {None}
    has_truths = any(text.casefold() in _TRUTHS for text in known)

    def kind(text: str) -> str:
        if UNREADABLE in text:
            return LOST
        if text.casefold() in folded:
            return "a declared text in other capitals"
        if decimal_of(text) in numbers:
            return "a declared number that is spelled otherwise"
        if _bare(text) in bare:
            return "a declared text with other blanks or signs"
        if has_truths and text.casefold() in _TRUTHS:
            return "another word for a truth value"
        return NO_VALUE if is_no_value(text) else UNDECLARED

    return kind


def count_kinds(counts: Mapping[str, int], kind_of: Kind) -> Counter[str]:
    """How many cells are of each kind. `counts`: clean text -> cells that hold it."""
    kinds = Counter[str]()
    for text, count in counts.items():
        kinds[kind_of(text)] += count
    return kinds


def kind_of_nobody(text: str) -> str:
    """Of a clean text that names no person."""
    return LOST if UNREADABLE in text else "a word or sign for no value"


def is_no_value(text: str) -> bool:
    """Whether a text says that there is no value: by a word such as unknown, as databases do, or without a letter or digit."""
    return (
        bool(_CODED.fullmatch(text))
        or (bare := _bare(text)) in _NO_VALUE
        or not bare
        or (text.startswith("#") and text.endswith(("!", "?", "/A")))
    )


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


_INFINITE = frozenset(("inf", "infinity", "∞"))


def _is_beyond(text: str) -> bool:
    try:
        return bool(np.isinf(float(text.replace("−", "-").replace(",", "."))))
    except ValueError:
        return False


def _kind(kinds: list[tuple[str, re.Pattern[str]]], text: str) -> str:
    if UNREADABLE in text:
        return LOST
    plain = text.casefold()
    if is_no_value(text):
        return NO_VALUE
    if plain in _TRUTHS:
        return "a truth value in words"
    return next((kind for kind, pattern in kinds if pattern.fullmatch(plain)), OTHER)


_NUMBER_KINDS, _DATE_KINDS = (
    [(kind, re.compile(pattern, re.DOTALL)) for kind, pattern in kinds] for kinds in (_OF_NUMBERS, _OF_DATES)
)
