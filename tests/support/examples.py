"""How many examples hypothesis makes up."""

from __future__ import annotations

from hypothesis import settings


def examples(count: int) -> settings:
    """Settings for `count` examples; with the profile `fast`, of `make check`, for as small a share of them as of its own."""
    return settings(max_examples=max(1, count * settings().max_examples // settings.get_profile("dpviz").max_examples))
