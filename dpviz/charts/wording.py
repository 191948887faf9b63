"""Words that many sentences need: a count with its noun, a share or a chance in percent, a capital letter.

Numbers have one form on screen and in files: "84.8%", "12,000 rows", "0.1 to 1", "84.8% (83.9% to 85.6%)".
"""

#: The neighbouring relation where every person has one row, as in all tables of the lessons and of the audit.
PERSONS = "add/remove one person"


def count_text(number: int, noun: str, plural: str = "") -> str:
    """As in "1 row", "12,000 rows"."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def capital(text: str) -> str:
    """With a capital letter, except for ε."""
    return text if text.startswith("ε") else text[:1].upper() + text[1:]


def percent(share: float) -> str:
    """As in "90%", "12.5%": to a tenth."""
    return f"{100 * share:.1f}".removesuffix(".0") + "%"


def minus(number: str) -> str:
    """A number that was written with a hyphen, as in "−0.2"."""
    return number.replace("-", "−")


def r2_text(r2: float) -> str:
    """R²: "0.362", "−0.012"; far below 0, where it only says that the mean is better, without decimals."""
    return minus(f"{r2:.0f}" if r2 < -1 else f"{round(r2, 3) + 0.0:.3f}")  # no "−0.000"


def chance(share: float) -> str:
    """A probability: "37%", one digit more below 10%, and 0% or 100% only where it is exactly that."""
    hundredths = 100 * share
    if 0 < hundredths < 0.1:
        return "under 0.1%"
    if 99.9 < hundredths < 100:
        return "over 99.9%"
    digits = 1 if hundredths < 9.95 or 99 < hundredths < 100 else 0
    return f"{hundredths:.{digits}f}".removesuffix(".0") + "%"
