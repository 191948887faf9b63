"""What commands say."""

import io
import sys

from dpviz.commands import console


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_stage_shows_on_a_terminal_only(capsys):
    console.doing("Reading")
    assert capsys.readouterr().err == ""


def test_the_next_message_takes_the_place_of_a_stage(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    console.doing("Reading")
    console.complain("no.")
    assert terminal.getvalue() == "\r\x1b[2KReading ...\r\x1b[2Kdpviz: no.\n"


def test_a_message_is_one_line_without_control_characters():
    assert console.printable("a\nb\x1b[2Jc\u202ed ε") == "a b [2Jc d ε"


def test_table_columns_stand_below_each_other(capsys):
    console.show_table(("A", "B"), [("long cell", "x"), ("s", "y")])
    assert capsys.readouterr().out == "A          B\nlong cell  x\ns          y\n"
