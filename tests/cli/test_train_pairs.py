"""Training from one file of pairs: the same run as from two files, and what is refused before any text is read."""

import gzip
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest
from small import SETTINGS

from regard.base.faults import Fault
from regard.base.progress import silent
from regard.base.recipe import check, write
from regard.cli import main
from regard.data.corpora.options import PairData
from regard.data.corpora.text import read_pairs
from regard.families import check_recipe
from regard.runs.from_text import defaults
from regard.runs.from_text.own_data import OwnFiles, with_own_data
from regard.runs.mono.for_run import write_mono
from regard.runs.request import TrainingRequest, plan_of
from regard.training.checkpoint import RECIPE, WEIGHTS, read_recipe, update_folder

pytestmark = pytest.mark.usefixtures("no_curves")
CHANGES = [word for name, value in SETTINGS.items() for word in ("--set", f"{name}={value}")]


def _write_pairs(folder: Path, sides: Path) -> Path:
    """Write the text of two files into one, compressed, with a column for the origin of each line."""
    source, target = (
        (sides / f"small.{code}").read_text(encoding="utf-8").removesuffix("\n").split("\n") for code in ("en", "pt")
    )
    lines = [f"{english}\t{portuguese}\tCC-BY\n" for english, portuguese in zip(source, target, strict=True)]
    path = folder / "small.tsv.gz"
    path.write_bytes(gzip.compress("".join(lines).encode()))
    return path


def test_one_file_of_pairs_is_as_good_as_two_files(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs, out = _write_pairs(tmp_path, trained.parent), tmp_path / "run"
    assert main(["train", str(pairs), "--languages", "en-pt", "--out", str(out), *CHANGES]) == 0
    message = capsys.readouterr().err
    assert "300 pairs of en and pt" in message
    assert "only the first two columns are used of 300 lines that have more" in message
    assert (out / WEIGHTS).read_bytes() == (trained / WEIGHTS).read_bytes()
    assert read_recipe(out)["data"]["train"][0]["pairs"] == str(pairs)


def _write_memory(folder: Path, sides: Path) -> Path:
    """Write the text of two files as a translation memory, with the second language first."""
    texts = (
        (sides / f"small.{code}").read_text(encoding="utf-8").removesuffix("\n").split("\n") for code in ("en", "pt")
    )
    units = (
        f'<tu><tuv xml:lang="pt-BR"><seg>{escape(portuguese)}</seg></tuv>'
        f'<tuv xml:lang="en-GB"><seg>{escape(english)}</seg></tuv></tu>\n'
        for english, portuguese in zip(*texts, strict=True)
    )
    path = folder / "small.tmx"
    path.write_text(f'<tmx><header srclang="en-GB"/><body>{"".join(units)}</body></tmx>', encoding="utf-8")
    return path


@pytest.mark.parametrize("languages", [(), ("--languages", "en-pt")])
def test_a_translation_memory_is_as_good_as_two_files(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], languages: tuple[str, ...]
) -> None:
    memory, out = _write_memory(tmp_path, trained.parent), tmp_path / "run"
    assert main(["train", str(memory), *languages, "--out", str(out), *CHANGES]) == 0
    assert "300 pairs of en and pt" in capsys.readouterr().err
    assert (out / WEIGHTS).read_bytes() == (trained / WEIGHTS).read_bytes()
    assert read_recipe(out)["data"]["train"][0]["columns"] == ["en", "pt"]


def test_further_memories_and_those_for_a_model_have_one_direction(trained: Path, tmp_path: Path) -> None:
    memory, turned = _write_memory(tmp_path, trained.parent), tmp_path / "turned.tmx"
    content = memory.read_text(encoding="utf-8")
    turned.write_text(content.replace('srclang="en-GB"', 'srclang="pt-BR"'), encoding="utf-8")

    def columns(**fields: Any) -> list[Any]:
        data = plan_of(TrainingRequest(**fields)).table["data"]
        assert (data["source_language"], data["target_language"]) == ("en", "pt")
        corpora = data["train"] if isinstance(data["train"], list) else [data["train"]]
        return [corpus.get("columns") for corpus in [*corpora, data.get("valid", {})]]

    assert columns(pairs=[memory, turned], valid_pairs=[turned]) == [["en", "pt"]] * 3
    assert columns(pairs=[turned], start=trained) == [["en", "pt"], None]
    (tmp_path / "a.tsv").write_text("a\tb\n" * 9)
    with pytest.raises(Fault, match="A translation memory next to other files needs the languages"):
        plan_of(TrainingRequest(pairs=[tmp_path / "a.tsv", memory]))


def test_a_memory_is_no_text_of_one_language(tmp_path: Path) -> None:
    data = check(PairData, {"train": "demo:train", "mono": [{"file": str(tmp_path / "small.tmx"), "way": "copy"}]})
    with pytest.raises(Fault, match=r"small\.tmx is a TMX file, not lines of text"):
        write_mono(data, tmp_path / "corpus", silent, pytest.fail)


def test_a_model_is_scored_on_a_memory_in_the_direction_of_the_model(trained: Path, tmp_path: Path) -> None:
    memory = _write_memory(tmp_path, trained.parent)
    changed = memory.read_text(encoding="utf-8").replace('srclang="en-GB"', 'srclang="pt-BR"')
    memory.write_text(changed, encoding="utf-8")
    recipe = with_own_data(read_recipe(trained), OwnFiles.checked([], test=[memory]))
    (corpus,) = check(PairData, recipe["data"] | {"train": "demo:train"}).test
    pairs = list(read_pairs(corpus))
    assert pairs[0][0] == (trained.parent / "small.en").read_text(encoding="utf-8").partition("\n")[0]
    assert len(pairs) == 300


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--pairs", "none.tsv"], "There is no file"),
        (["none.tsv"], "There is no file"),
        (["a.tsv", "--pairs", "b.tsv"], "a.tsv and --pairs b.tsv are two files of pairs"),
        (["--pairs", "a.tsv", "--source", "a.en"], "Give --source and --target, or --pairs, not both."),
        (["demo", "--pairs", "a.tsv"], "Give a recipe or text files, not both."),
        (["demo", "--valid-pairs", "a.tsv"], "a recipe has its own"),
        (["--valid-pairs", "a.tsv"], "Give a recipe"),
        (
            ["a.tsv", "--valid-pairs", "a", "--valid-source", "b"],
            "Give --valid-source and --valid-target, or --valid-p",
        ),
        (["one-side.txt"], "one-side.txt, line 1: there is no tab (nor in 2 more)"),
    ],
)
def test_files_of_pairs_that_cannot_be_meant(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.tsv").write_text("one\tum\n")
    Path("one-side.txt").write_text("one\ntwo\nthree\n")
    assert main(["train", *arguments]) == 2
    assert words in capsys.readouterr().err
    assert not Path("runs").exists()


def test_pairs_to_validate_with_are_part_of_the_recipe(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("one\tum\n")  # too little to tell a language by
    files = defaults.TextFiles((tmp_path / "a.tsv",), (tmp_path / "b.en", tmp_path / "b.pt"))
    assert files.corpora() == {
        "train": {"pairs": str(tmp_path / "a.tsv")},
        "valid": {"source": str(tmp_path / "b.en"), "target": str(tmp_path / "b.pt")},
    }
    assert files.pair_of_languages() == ("src", "tgt")


def test_a_wrong_setting_is_refused_before_the_text_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("the text was read")

    monkeypatch.setattr(defaults, "recipe_for", never)
    arguments = ["train", "--pairs", str(tmp_path / "a.tsv"), "--set", "model.widht=3", "--set", "training.steps=many"]
    assert main(arguments) == 2
    message = capsys.readouterr().err
    assert "model has no 'widht'; did you mean 'width'?" in message
    assert "training.steps is 'many', expected a whole number" in message


def test_what_was_chosen_is_told_of_a_recipe_that_can_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A number of heads that does not fit the width is known once the width is chosen, and reported alone."""
    (tmp_path / "a.tsv").write_text("one\tum\ntwo\tdois\n")
    assert main(["train", "--pairs", str(tmp_path / "a.tsv"), "--set", "model.heads=3"]) == 2
    assert capsys.readouterr().err == "regard: model: width 128 cannot be shared out among 3 heads\n"


def test_a_run_is_called_after_the_languages_that_were_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run from before language detection is found again, and missing text does not stop a run."""
    lines = [f"The old man and his {n} dogs walk\tO velho e os seus {n} cachorros andam\n" for n in range(40)]
    (tmp_path / "a.tsv").write_text("".join(lines), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    request = TrainingRequest(pairs=[tmp_path / "a.tsv"])
    assert plan_of(request).name == "en-pt"
    old = tmp_path / "runs" / "src-tgt"
    update_folder(old, {RECIPE: write(check_recipe(plan_of(request).table), "").encode()})
    assert plan_of(request).name == "en-pt"
    assert plan_of(replace(request, resume=True)).name == "src-tgt"
    (tmp_path / "a.tsv").unlink()
    assert plan_of(replace(request, resume=True, out=old)).table["data"]["source_language"] == "en"
