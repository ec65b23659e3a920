"""`regard card`: a card for every family that hubs can read, with commands that reproduce its figures."""

import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import ModelCard
from test_documents import command_lines, parsed
from toys import EACH_TASK, open_trained_toy

from regard.cli import main
from regard.data.catalogue.entries import find
from regard.data.prepared import SPLITS
from regard.runs.card.facts import data_files
from regard.runs.kept_scores import read_scores

pytestmark = pytest.mark.usefixtures("no_curves")


def head_of(card: str) -> dict[str, Any]:
    assert card.startswith("---\n")
    return yaml.safe_load(card.split("---\n")[1])


def card_of(run: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert main(["card", str(run), *words]) == 0
    return capsys.readouterr().out


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", EACH_TASK)
def test_every_family_has_a_card_that_a_hub_reads_and_whose_commands_give_its_figures(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    open_trained_toy(name, tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["card", "run", "-o", "README.md"]) == 0
    card = Path("README.md").read_text(encoding="utf-8")
    results = {
        (result.metric_type, result.dataset_split): result.metric_value for result in ModelCard(card).data.eval_results
    }
    scores = {(score["metric"], score["split"]): score["value"] for score in read_scores(Path("run"))}
    assert results == scores
    assert str(tmp_path) not in card  # gives names, not locations
    for file in Path("run").iterdir():
        if file.is_file() and file.name != "manifest.json":
            assert (
                f"| `{file.name}` | {file.stat().st_size:,} | `{hashlib.sha256(file.read_bytes()).hexdigest()}` |"
                in card
            )
    lines = list(command_lines(card))
    assert {"serve", "info", "evaluate"} <= {line[0] for line in lines}
    for line in lines:
        parsed(line)
        if line[0] == "evaluate":
            capsys.readouterr()
            assert main([*line, "--json"]) == 0
            for score in json.loads(capsys.readouterr().out)["scores"]:
                assert score["value"] == pytest.approx(scores[score["metric"], score["split"]], rel=1e-4, nan_ok=True)


def test_a_card_repeats_scores_with_the_search_of_each(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = shutil.copytree(trained, tmp_path / "run")
    assert main(["evaluate", str(run), "--split", "valid", "--metric", "exact", "--metric", "perplexity"]) == 0
    commands = [line for line in command_lines(card_of(run, capsys)) if line[0] == "evaluate"]
    searches = {tuple(line[line.index("--beam") :]) if "--beam" in line else () for line in commands}
    assert searches == {(), ("--beam", "1", "--length-penalty", "0.6")}  # the latter of validations in training
    (ours,) = (line for line in commands if "--beam" not in line)
    assert "exact" in ours
    assert "bleu" not in ours


def test_a_card_tells_the_checksums_of_the_files_that_were_learnt_from(
    trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    card = card_of(trained, capsys)
    purpose = json.loads((trained / "training" / "corpus" / "purpose.json").read_text())
    assert purpose["inputs"]
    for file in purpose["inputs"]:
        assert f"| `{Path(file['name']).name}` | {file['size']:,} | `{file['checksum']}` | not stated |" in card
    assert "The folder states no licence for the weights." in card
    assert "license" not in head_of(card)
    head = head_of(card_of(trained, capsys, "--licence", "CC-BY-4.0"))
    assert head["license"] == "cc-by-4.0"


def test_data_of_the_catalogue_has_its_checksum_and_licence(tmp_path: Path) -> None:
    entry = find("multi30k")
    table = {"train": [{"source": "multi30k:raw/train.en", "target": "multi30k:raw/train.de.gz", "separator": "."}]}
    files = list(data_files(table, tmp_path))
    assert [file.sha256 for file in files] == [
        next(file.sha256 for file in entry.files if file.path == path)
        for path in ("raw/train.en.gz", "raw/train.de.gz")
    ]
    assert {(file.split, file.licence) for file in files} == {("train", "non-commercial")}


def test_only_what_names_a_file_is_taken_for_data(tmp_path: Path) -> None:
    table = {
        "features": "own",
        "job": "copy.this",
        "captions": "some/captions.txt",
        "pictures": {"train": {"pictures": "a.gz", "labels": "b"}, "hold_out": 8},
        "valid": ["texts"],
        "test": [],
        "strings": {"train": 3},
    }
    assert [(file.split, file.name) for file in data_files(table, tmp_path)] == [
        ("", "captions.txt"), ("train", "a.gz"), ("valid", "texts")
    ]  # fmt: skip
    assert set(SPLITS) == {"train", "valid", "test"}


def test_a_folder_without_records_of_training_says_so(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = tmp_path / "bare"
    shutil.copytree(trained, bare, ignore=shutil.ignore_patterns("training"))
    card = card_of(bare, capsys)
    assert "The folder does not record how far the training got." in card
    assert "not recorded" in card
    assert "regard train" not in card


def test_names_of_a_stranger_stay_text(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = tmp_path / "a|b <b> `x` [y](z)\n---"
    shutil.copytree(trained, odd)
    card = card_of(odd, capsys)
    assert head_of(card)["model-index"][0]["name"] == odd.name
    title = next(line for line in card.splitlines() if line.startswith("# "))
    assert title == "# a\\|b &lt;b> \\`x\\` \\[y\\](z)\\\\n---"
    rows = [line for line in card.splitlines() if line.startswith("|")]
    assert all(len(re.findall(r"(?<!\\)\|", row)) in (3, 4, 6) for row in rows)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nowhere"], "There is no model folder at nowhere."),
        (["text"], "text is a file, not a model folder."),
        (["RUN", "-o", "folder"], "folder is a folder; name a file to write to."),
        (["RUN", "-o", "text"], "text exists already; give --overwrite to replace it."),
        (["RUN", "-o", "card.html"], "card.html: a model card is Markdown; give a name that ends in .md."),
        (["RUN", "-o", "RUN/recipe.toml", "--overwrite"], "is a file of the model itself; write the card elsewhere."),
        (["RUN", "-o", "RUN/manifest.json", "--overwrite"], "is a file of the model itself; write the card elsewhere."),
        (["RUN", "-o", "none/card.md"], "There is no folder none to write card.md into."),
        (
            ["RUN", "--licence", "mine: all"],
            "--licence takes the identifier of a licence, such as CC-BY-4.0, not 'mine",
        ),
    ],
)
def test_what_cannot_be_is_refused(
    words: list[str],
    sentence: str,
    trained: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text").write_text("kept")
    Path("folder").mkdir()
    assert main(["card", *(word.replace("RUN", str(trained)) for word in words)]) == 2
    assert sentence in capsys.readouterr().err
    assert Path("text").read_text() == "kept"


def test_a_damaged_model_gets_no_card(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(trained, tmp_path / "run")
    weights = tmp_path / "run" / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"?")
    assert main(["card", str(tmp_path / "run")]) == 2
    assert "is damaged: its checksum is not the one in manifest.json" in capsys.readouterr().err
