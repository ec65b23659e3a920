"""Terminal output of faults."""

import json
from pathlib import Path

import pytest

from regard.base.faults import Fault, printable
from regard.cli import main
from regard.console import remark, say_table

HOSTILE = "a\x1b]0;owned\x07\x9b31m\r\n\u202eb"
SPELLED = r"a\x1b]0;owned\x07\x9b31m\r\n\u202eb"


def test_what_acts_on_a_terminal_is_spelled_out() -> None:
    assert printable(HOSTILE) == SPELLED
    assert printable(SPELLED) == SPELLED


@pytest.mark.parametrize("text", ["", "plain", "não é 本 🏳️‍🌈", "no\u00a0break", "سلام", "e\u0301", r"C:\new"])
def test_letters_of_all_scripts_stay_as_they_are(text: str) -> None:
    assert printable(text) == text


def test_faults_remarks_and_tables_are_printable(capsys: pytest.CaptureFixture[str]) -> None:
    assert Fault(f"There is no {HOSTILE}.").sentences == (f"There is no {SPELLED}.",)
    remark("one\ntwo \x1b[31m")
    assert capsys.readouterr().err == "one\ntwo \\x1b[31m\n"
    say_table(["name"], [["\x1b[31m"]])
    assert capsys.readouterr().out.split() == ["name", "\\x1b[31m"]


def test_a_name_in_a_manifest_does_not_reach_the_terminal_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("\x1b[31mred", "recipe.toml")
    (tmp_path / "manifest.json").write_text(json.dumps({"files": {name: ["0"] for name in names}}))
    assert main(["info", str(tmp_path)]) == 2
    message = capsys.readouterr().err
    assert "\x1b" not in message
    assert message.count("\n") == 1
