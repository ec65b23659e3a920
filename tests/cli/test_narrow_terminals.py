"""Tables on terminals of any width."""

import re

import pytest

from regard.console import say_table

COLUMNS = ["metric", "value", "95% interval", "signature"]
ROWS = [
    ["bleu", "41.97", "41.02 to 42.90", "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.5.1"],
    ["chrf", "65.70", "65.01 to 66.40", "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.5.1"],
]


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest) -> str:
    """Return what is printed of the table on a terminal of this width."""
    monkeypatch.setattr("regard.console.is_live", lambda stream: True)
    monkeypatch.setenv("COLUMNS", str(request.param))
    say_table(COLUMNS, ROWS)
    return capsys.readouterr().out


@pytest.mark.parametrize("said", [20, 40, 59], indirect=True)
def test_a_narrow_terminal_gets_a_block_for_each_row_with_whole_signatures(said: str) -> None:
    blocks = [[re.split(r" {2,}", line) for line in block.splitlines()] for block in said.split("\n\n")]
    assert blocks == [[[name, cell] for name, cell in zip(COLUMNS, row, strict=True)] for row in ROWS]


@pytest.mark.parametrize(("width", "said"), [(width, width) for width in (60, 100, 200)], indirect=["said"])
def test_a_wider_terminal_gets_a_table_whose_numbers_are_whole(width: int, said: str) -> None:
    for row in (COLUMNS, *ROWS):
        assert re.search(r" +".join(map(re.escape, row[:3])), said)
    assert max(map(len, said.splitlines())) <= width
