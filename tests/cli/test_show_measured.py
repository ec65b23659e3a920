"""`regard show gradients --depth`, `jacobians`, `cost` and `decoding`: every form, and what they refuse."""

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from regard.cli import main
from regard.seeing.lessons import spectra

sys.path.insert(0, str(Path(__file__).parents[1] / "tasks" / "language"))
sys.path.insert(0, str(Path(__file__).parents[1] / "seeing" / "lessons"))
from counted_language import write_recipe
from untrained import untrained_folder

TEXT = "Ana reads a green book."
QUICK = {
    "gradients": ["--depth", "--layers", "3", "--width", "4"],
    "jacobians": ["--length", "2", "--width", "3"],
    "decoding": [],
    "cost": ["--longest", "32", "--heads", "2", "--depth", "4"],
}


def page_data(path: Path) -> Any:
    """Return the data that a page was made with."""
    html = path.read_text(encoding="utf-8")
    return json.loads(html.split('id="data">')[1].split("</script>")[0])


@pytest.fixture(autouse=True)
def few_products(monkeypatch: pytest.MonkeyPatch) -> None:
    """Multiply a hundred random Jacobians instead of two thousand."""
    monkeypatch.setattr(spectra, "random_norms", partial(spectra.random_norms, samples=100))


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Folders of models with random weights."""
    folder = tmp_path_factory.mktemp("models")
    folders = {cell: untrained_folder(folder / cell, cell=cell, encoder_layers=2) for cell in ("lstm", "gru")}
    folders["transformer"] = untrained_folder(folder / "transformer", "transformer")
    assert main(["train", str(write_recipe(folder)), "--out", str(folder / "ngram")]) == 0
    folders["ngram"] = folder / "ngram"
    return {name: str(path) for name, path in folders.items()}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("lesson", QUICK)
def test_every_form_of_a_lesson(lesson: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for suffix in ("png", "svg", "html", "json"):
        assert main(["show", lesson, *QUICK[lesson], "-o", str(tmp_path / f"lesson.{suffix}")]) == 0
    assert (tmp_path / "lesson.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "lesson.svg").read_text(encoding="utf-8")
    data = page_data(tmp_path / "lesson.html")
    assert data["picture"].startswith("data:image/svg+xml;base64,")
    assert all(len(row) == len(table["columns"]) for table in data["tables"] for row in table["rows"])
    capsys.readouterr()
    assert main(["show", lesson, *QUICK[lesson]]) == 0
    output = capsys.readouterr().out
    assert all(table["title"] in output for table in data["tables"])


def test_depth_of_a_model(models: dict[str, str], tmp_path: Path) -> None:
    out = tmp_path / "depth.json"
    assert main(["show", "gradients", "--depth", "--model", models["transformer"], "--text", TEXT, "-o", str(out)]) == 0
    (panel,) = json.loads(out.read_text(encoding="utf-8"))["panels"]
    assert [line["name"] for line in panel["lines"]] == ["encoder", "decoder"]


def test_jacobians_of_a_model(models: dict[str, str], tmp_path: Path) -> None:
    out = tmp_path / "jacobians.json"
    assert main(["show", "jacobians", models["lstm"], "--text", TEXT, "-o", str(out)]) == 0
    panels = json.loads(out.read_text(encoding="utf-8"))["panels"]
    ways = [f"Layer {number}, {way}: LSTM" for number in (1, 2) for way in ("forward", "backward")]
    assert [panel["title"] for panel in panels] == ways
    assert {len(panel["eigenvalues"]) % 7 for panel in panels} == {0}  # six words and the end


def test_every_option_of_jacobians_changes_something(tmp_path: Path) -> None:
    def numbers(*options: str) -> Any:
        out = tmp_path / "changed.json"
        assert main(["show", "jacobians", *QUICK["jacobians"], *options, "-o", str(out), "--overwrite"]) == 0
        return json.loads(out.read_text(encoding="utf-8"))["panels"][3]["eigenvalues"]

    plain = numbers()
    for option in (["--length", "3"], ["--width", "4"], ["--keep", "2"], ["--seed", "2"]):
        assert numbers(*option) != plain


def test_decoding_of_a_model_writes_what_generate_writes(
    models: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, options = tmp_path / "decoding.json", ["--prompt", "the cat", "--tokens", "4"]
    assert main(["show", "decoding", models["ngram"], *options, "--shown", "4", "-o", str(out)]) == 0
    report = json.loads(out.read_text(encoding="utf-8"))
    assert (report["prompt"], len(report["tokens"])) == ("the cat", 4)
    capsys.readouterr()
    searches = [["--beam", "1"], ["--beam", "3"], ["--temperature", "0.5"], ["--top-k", "5"], ["--top-p", "0.9"]]
    for way, search in zip(report["ways"], searches, strict=True):
        assert main(["generate", models["ngram"], *options, *search, "--json"]) == 0
        written = json.loads(capsys.readouterr().out)
        assert (way["text"], way["log_probability"]) == (written["text"], pytest.approx(sum(written["token_scores"])))


@pytest.mark.parametrize(
    ("option", "way"),
    [(["--beam", "2"], 1), (["--temperature", "2"], 2), (["--top-k", "4"], 3), (["--top-p", "0.5"], 4)],
)
def test_every_option_of_decoding_changes_what_is_kept(tmp_path: Path, option: list[str], way: int) -> None:
    tokens_by_way = []
    for number, options in enumerate(([], option)):
        out = tmp_path / f"{number}.json"
        assert main(["show", "decoding", *options, "-o", str(out)]) == 0
        tokens_by_way.append([way["kept"] for way in json.loads(out.read_text(encoding="utf-8"))["ways"]])
    assert [place for place in range(5) if tokens_by_way[0][place] != tokens_by_way[1][place]] == [way]


def test_cost_of_a_model(models: dict[str, str], tmp_path: Path) -> None:
    out = tmp_path / "cost.json"
    assert main(["show", "cost", models["transformer"], "--longest", "16", "-o", str(out)]) == 0
    report = json.loads(out.read_text(encoding="utf-8"))
    assert (report["heads"], report["depth"]) == (2, 4)
    assert [cost["context"] for cost in report["costs"]] == [1, 2, 4, 8, 16]
    assert [line["name"] for line in report["panels"][0]["lines"]] == ["one head: C²", "2 heads", "3 attentions"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["gradients", "--layers", "3"], "--layers is for a deep stack; give --depth too."),
        (["gradients", "--depth", "--cells", "gru"], "--cells is for recurrent cells; omit it with --depth."),
        (["gradients", "--depth", "--model", "transformer"], "--depth of a trained model needs one --model and a"),
        (["gradients", "--depth", "--model", "transformer", "--text", TEXT, "--layers", "3"], "--layers is for random"),
        (["gradients", "--depth", "--model", "gru", "--text", TEXT], "has no blocks with residual connections"),
        (["jacobians", "lstm"], "A model and --text go together"),
        (["jacobians", "--text", TEXT], "A model and --text go together"),
        (["jacobians", "lstm", "--text", TEXT, "--keep", "2"], "--keep is for random weights; omit it with a model."),
        (["jacobians", "transformer", "--text", TEXT], "has no recurrent layers; `regard show jacobians` needs"),
        (["decoding", "ngram"], "A model and --prompt go together. Omit both for the built-in example."),
        (["decoding", "--prompt", "the"], "A model and --prompt go together"),
        (["decoding", "lstm", "--prompt", "the"], "translate"),
        (["decoding", "-o", "d.txt"], "d.txt does not end in .png, .svg, .json or .html"),
        (["decoding", "--past-end"], "--past-end is for a model; name its folder first, or omit the option."),
        (["decoding", "--tokens", "3"], "--tokens is for a model"),
        (["decoding", "--shown", "3"], "--shown is for a model"),
        (["cost", "lstm"], "has no attention with heads; give a Transformer, a GPT or a BERT."),
        (["cost", "transformer", "--heads", "2"], "--heads and --depth are for attention without a model"),
        (["gradients", "--depth", "-o", "g.pdf"], "g.pdf does not end in .png, .svg, .json or .html"),
    ],
)
def test_refusals(models: dict[str, str], capsys: pytest.CaptureFixture[str], words: list[str], sentence: str) -> None:
    assert main(["show", *(models.get(word, word) for word in words)]) == 2
    assert sentence in capsys.readouterr().err
