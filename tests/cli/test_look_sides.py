"""`regard look` with a model that has several attentions and does not translate."""

import json
from pathlib import Path

import pytest
from small import undrawn
from toys import open_toy

from regard.cli import main
from regard.runs.train import train


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a classifier whose words attend to each other, and whose answer attends to the words."""
    folder = tmp_path_factory.mktemp("encoder")
    with undrawn():
        assert train(open_toy("encoder", folder), []).finished
    return folder / "run"


@pytest.mark.parametrize(("options", "side"), [([], "pooling"), (["--side", "encoder"], "encoder")])
def test_each_of_its_attentions_can_be_chosen(encoder: Path, tmp_path: Path, options: list[str], side: str) -> None:
    for number, text in enumerate((["a lovely film"], ["--text", "a lovely film"])):
        out = tmp_path / f"look-{number}.json"
        assert main(["look", str(encoder), *text, *options, "-o", str(out)]) == 0
        report = json.loads(out.read_text(encoding="utf-8"))
        assert (report["text"], report["side"]) == ("a lovely film", side)


def test_another_is_refused_with_those_there_are(encoder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["look", str(encoder), "a lovely film", "--side", "cross"]) == 2
    sentence = (
        "This model has no attention from the target to the source; it can show --side pooling or --side encoder."
    )
    assert sentence in capsys.readouterr().err
