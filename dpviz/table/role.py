"""What kind of rows these are; it decides what a screen may show."""

from enum import StrEnum


class DataRole(StrEnum):
    """Simulated (nobody's rows), public (anyone may see them), or private (only released values may leave)."""

    SIMULATED = "simulated"
    PUBLIC = "public"
    PRIVATE = "private"

    @property
    def may_read(self) -> bool:
        """True when schema values may be filled in from the rows (each is marked as read)."""
        return self is not DataRole.PRIVATE

    @property
    def may_show_rows(self) -> bool:
        """True when exact counts may be drawn."""
        return self is DataRole.SIMULATED
