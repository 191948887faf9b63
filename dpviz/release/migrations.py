"""The tables of the register's file, as the scripts (`register_*.sql`) that bring every version of it up to date."""

from pathlib import Path

from dpviz.release import chain

_SCRIPTS = [Path(__file__).with_name(f"register_{number}.sql").read_text(encoding="utf-8") for number in (1, 2)]
#: Script number k brings a file of version k - 1 to version k. Old scripts are never edited.
MIGRATIONS: tuple[str, ...] = tuple(script.replace("{triggers}", chain.triggers()) for script in _SCRIPTS)
