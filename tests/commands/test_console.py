"""What commands say."""

import io
import json
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


def test_results_are_one_object_on_the_stream_that_is_asked_for(capsys):
    with console.results(to_stderr=True, as_json=True):
        console.show_title("People")
        console.show_table("people", ("OLD, BEFORE", "B"), [("ε", "y")])
        console.show_pairs([("Data set", "clinic")])
        console.show_values({"rows": 3})
    out, err = capsys.readouterr()
    assert (out, json.loads(err)) == ("", {"people": [{"old_before": "ε", "b": "y"}], "data_set": "clinic", "rows": 3})
    console.show_pairs([("a", "b")])
    assert capsys.readouterr() == ("a  b\n", "")


def test_table_columns_stand_below_each_other(capsys):
    console.show_table("letters", ("A", "B"), [("long cell", "x"), ("s", "y")])
    assert capsys.readouterr().out == "A          B\nlong cell  x\ns          y\n"
