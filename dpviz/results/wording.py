"""Numbers and signs of a guarantee, as people and as plain files read them."""

import math

_SIGN_NAMES = str.maketrans({"ε": "epsilon", "δ": "delta", "∞": "infinity", "−": "-"})


def number_text(value: float) -> str:
    """Three significant digits at most, never in scientific notation within [1e-6, 1e6]: "0.1", "1.2", "∞"."""
    if math.isinf(value):
        return "∞"
    if value and not 1e-6 <= abs(value) < 1e6:
        return f"{value:.3g}"
    digits = 0 if not value else max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def rounded_up(value: float, digits: int = 0) -> str:
    """With so many digits behind the point, and never less than `value`, so that "at most" stays true: "74", "73.2"."""
    return f"{math.ceil(value * 10**digits - 1e-9) / 10**digits:.{digits}f}"


def signs_spelled(text: str) -> str:
    """The same with "epsilon", "delta", "infinity" and a hyphen for their signs: for a terminal and for comments in code."""
    return text.translate(_SIGN_NAMES)
