"""`regard back-translate`, and training with --mono: pairs, resuming, and what is refused in a sentence."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from capital_translator import Capitals
from small import SETTINGS

import regard
from regard.cli import main
from regard.engines.translated import Translated
from regard.training.checkpoint import WEIGHTS, read_recipe
from regard.verbs.translate import line_translator, unfinished

pytestmark = pytest.mark.usefixtures("no_curves")
RUSSIAN = "Старый дом стоит на берегу широкой реки, и летом туда приезжают дети.\n" * 20
CHANGES = [word for name, value in SETTINGS.items() for word in ("--set", f"{name}={value}")]
LINES = [f"Line {number} is here." for number in range(9)]
calls: list[str] = []


class Reversed(Capitals):
    """Writes a line with its words in reverse; nothing for `silence`, the same for `same`."""

    def _write(self, line: str) -> Translated:
        calls.append(line)
        text = {"silence": "", "same": "Same"}.get(line, " ".join(reversed(line.split())))
        if line == "fail" and not (self.folder / "failed").exists():
            (self.folder / "failed").touch()
            raise KeyboardInterrupt
        return Translated(text, 0.0, [], [], [(text, 0.0)], list)


@pytest.fixture
def in_reverse(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(line_translator, "open_translator", Reversed)
    monkeypatch.setattr(line_translator, "PORTION", 2)
    monkeypatch.setattr(unfinished, "PORTION", 2)
    calls.clear()
    yield
    calls.clear()


@pytest.mark.usefixtures("in_reverse")
def test_pairs_have_the_machine_text_first_and_drops_are_counted(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, out = tmp_path / "mono.txt", tmp_path / "pairs.tsv"
    text.write_text("\n".join([*LINES, "silence", "same", "", LINES[0], "word " * 300, "tab\there"]))
    assert main(["back-translate", str(trained), str(text), "-o", str(out)]) == 0
    expected = [f"here. is {number} Line\tLine {number} is here." for number in range(9)]
    assert out.read_text().splitlines() == [*expected, "here tab\ttab here"]
    assert (
        "read 15 lines, kept 10 (dropped 1 empty, 1 too long for the model, 1 repeated, 1 without an output, 1 copied)"
        in capsys.readouterr().err
    )
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("pairs")] == ["pairs.tsv"]


@pytest.mark.usefixtures("in_reverse")
def test_a_stopped_translation_continues_and_gives_the_same(trained: Path, tmp_path: Path) -> None:
    import shutil

    model = shutil.copytree(trained, tmp_path / "model")
    text, out, whole = tmp_path / "mono.txt", tmp_path / "pairs.tsv", tmp_path / "whole.tsv"
    text.write_text("\n".join([*LINES[:6], "fail", *LINES[6:]]))
    command = ["back-translate", str(model), str(text), "-o", str(out)]
    assert main(command) == 130
    assert main(command) == 2  # begun: neither resumed nor replaced without a word
    calls.clear()
    assert main([*command, "--resume"]) == 0
    assert LINES[0] not in calls
    assert main(["back-translate", str(model), str(text), "-o", str(whole)]) == 0
    assert out.read_bytes() == whole.read_bytes()


@pytest.mark.usefixtures("in_reverse")
def test_noise_changes_the_machine_text_alone(trained: Path, tmp_path: Path) -> None:
    text, plain, noisy = tmp_path / "mono.txt", tmp_path / "plain.tsv", tmp_path / "noisy.tsv"
    text.write_text("\n".join(LINES))
    regard.back_translate(trained, text, plain, quiet=True)
    regard.back_translate(trained, text, noisy, noise=True, quiet=True)
    sides = [[line.split("\t") for line in file.read_text().splitlines()] for file in (plain, noisy)]
    assert [pair[1] for pair in sides[0]] == [pair[1] for pair in sides[1]] == LINES
    assert [pair[0] for pair in sides[0]] != [pair[0] for pair in sides[1]]


def test_sampling_depends_on_its_seed(trained: Path, tmp_path: Path) -> None:
    text = tmp_path / "mono.txt"
    text.write_text("I love books.\nWe read.\n")
    outputs = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        out = tmp_path / f"{name}.tsv"
        regard.back_translate(trained, text, out, sample=True, top_k=50, seed=seed, quiet=True)
        outputs.append(out.read_text())
    assert outputs[0] == outputs[1] != outputs[2]


def test_a_model_that_writes_nothing_leaves_no_file(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def write_nothing(job: Any, shards: list[Any], out: Path, progress: Any) -> None:
        out.write_text("\n" * sum(shard.lines.count for shard in shards))

    monkeypatch.setattr("regard.runs.mono.machine.join", write_nothing)
    text, out = tmp_path / "one.en", tmp_path / "out.tsv"
    text.write_text("I love books.\n")
    assert main(["back-translate", str(trained), str(text), "-o", str(out)]) == 2
    assert "leave no pair to learn from: read 1 lines, kept 0 (dropped 1 without an output)." in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["MODEL", "none.txt", "-o", "out.tsv"], "There is no file none.txt"),
        (["nowhere", "en.txt", "-o", "out.tsv"], "There is no model folder at nowhere"),
        (["MODEL", "en.txt", "-o", "en.txt"], "is the input too"),
        (["MODEL", "en.txt", "-o", "out.tsv.gz"], "omit its .gz"),
        (["MODEL", "en.txt", "-o", "no/out.tsv"], "There is no folder no"),
        (["MODEL", "en.txt", "-o", "there.tsv"], "exists already"),
        (["MODEL", "pt.txt", "-o", "out.tsv"], "is text in pt, which"),
        (["MODEL", "ru.txt", "-o", "out.tsv"], "is text in ru, but"),
        (["MODEL", "empty.txt", "-o", "out.tsv"], "has no line to learn from"),
        (["MODEL", "en.txt", "-o", "out.tsv", "--top-k", "5"], "--top-k is for samples; give --sample too"),
        (["MODEL", "en.txt", "-o", "out.tsv", "--seed", "1"], "--seed has no effect without --sample or --noise"),
        (["MODEL", "en.txt", "-o", "out.tsv", "--sample", "--noise"], "--noise is for beam search; give one of them"),
    ],
)
def test_what_cannot_be_done_is_refused_in_a_sentence(
    trained: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    for code in ("en", "pt"):
        Path(f"{code}.txt").write_text((trained.parent / f"small.{code}").read_text(encoding="utf-8"))
    Path("empty.txt").write_text("\n\n")
    Path("ru.txt").write_text(RUSSIAN, encoding="utf-8")
    Path("there.tsv").write_text("mine")
    before = sorted(Path.cwd().iterdir())
    given = [str(trained) if word == "MODEL" else word for word in arguments]
    assert main(["back-translate", *given]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert "Traceback" not in error
    assert Path("there.tsv").read_text() == "mine"
    left = [path for path in sorted(Path.cwd().iterdir()) if path not in before]
    assert not [path for path in left if not path.name.endswith(".unfinished")]


@pytest.fixture
def pairs(trained: Path, tmp_path: Path) -> Path:
    """Return a file of pairs from Portuguese into English, for which the trained translator is the reverse."""
    english, portuguese = ((trained.parent / f"small.{code}").read_text().splitlines() for code in ("en", "pt"))
    file = tmp_path / "pairs.tsv"
    file.write_text("".join(f"{one}\t{other}\n" for one, other in zip(portuguese[:200], english[:200], strict=True)))
    (tmp_path / "mono.en").write_text("".join(f"{line}\n" for line in english[200:]))
    return file


@pytest.mark.usefixtures("in_reverse")
def test_training_back_translates_tags_and_resumes_to_the_same_bits(
    trained: Path, pairs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["train", str(pairs), "--languages", "pt-en", "--mono", str(tmp_path / "mono.en"), *CHANGES]
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert main([*command, "--back", str(trained), "--mono-share", "0.5", "--out", str(whole)]) == 0
    message = capsys.readouterr().err
    assert "writes a source for each line" in message
    assert "read 100 lines, kept 100" in message
    assert f"50.0% from {tmp_path / 'mono.en'}" in message
    (text,) = read_recipe(whole)["data"]["mono"]
    assert (text["way"], text["share"]) == ("back", 0.5)
    again = [*command, "--back", str(trained), "--mono-share", "0.5", "--out", str(parts)]
    assert main([*again, "--set", "training.steps=8"]) == 0
    calls.clear()
    assert main([*again, "--resume", "--set", "training.steps=12"]) == 0
    assert calls == []  # nothing is translated twice
    assert (parts / WEIGHTS).read_bytes() == (whole / WEIGHTS).read_bytes()
    assert main([*again, "--resume", "--mono-share", "0.4"]) == 2
    assert "cannot be resumed with other data" in capsys.readouterr().err


@pytest.mark.long
def test_a_killed_preparation_continues(trained: Path, pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    command = ["train", str(pairs), "--languages", "pt-en", "--mono", str(tmp_path / "mono.en"), *CHANGES]
    command += ["--back", str(trained), "--out", str(out)]
    killing = (
        "import os, signal, sys\n"
        "from regard.data.corpora import prepare\n"
        "prepare._make_shards = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "from regard.cli import main\n"
        "main(sys.argv[1:])\n"
    )
    died = subprocess.run([sys.executable, "-c", killing, *command], check=False, capture_output=True)
    assert died.returncode == -signal.SIGKILL, died.stderr
    made = out / "training" / "corpus.mono" / "1.source"
    before = made.stat().st_mtime_ns
    assert main([*command, "--resume"]) == 0
    assert made.stat().st_mtime_ns == before
    whole = tmp_path / "whole"
    assert main([*command[:-1], str(whole)]) == 0
    assert (whole / WEIGHTS).read_bytes() == (out / WEIGHTS).read_bytes()


@pytest.mark.long
@pytest.mark.usefixtures("in_reverse")
def test_forward_translation_and_copied_text_write_the_other_side(
    trained: Path, pairs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reverse = ["train", str(pairs), "--columns", "2:1", "--languages", "en-pt", "--mono", str(tmp_path / "mono.en")]
    assert main([*reverse, "--forward", str(trained), "--out", str(tmp_path / "forward"), *CHANGES]) == 0
    made = tmp_path / "forward" / "training" / "corpus.mono"
    source, target = ((made / f"1.{side}").read_text().splitlines() for side in ("source", "target"))
    assert source == (tmp_path / "mono.en").read_text().splitlines()
    assert target[0].split() == source[0].split()[::-1]
    capsys.readouterr()
    copy = ["train", str(pairs), "--languages", "pt-en", "--mono", str(tmp_path / "mono.en")]
    assert main([*copy, "--out", str(tmp_path / "copy"), *CHANGES]) == 0
    assert "each line is its own source (copied text)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["PAIRS", "--back", "MODEL"], "--back belongs to text of one language"),
        (["PAIRS", "--mono-share", "0.5"], "--mono-share belongs to text of one language"),
        (["--mono", "mono.en"], "--mono adds text to pairs; give --source and --target"),
        (["PAIRS", "--mono", "none.txt"], "There is no file none.txt"),
        (["PAIRS", "--mono", "mono.en", "--mono", "mono.en"], "names the same file twice"),
        (["PAIRS", "--mono", "mono.en", "--back", "MODEL", "--forward", "MODEL"], "give one of them"),
        (["PAIRS", "--mono", "mono.en", "--mono-share", "1"], "expected a share between 0 and 1"),
        (["PAIRS", "--mono", "mono.en", "--forward", "MODEL"], "needs a model that translates pt into en"),
        (["PAIRS", "--mono", "mono.en", "--back", "nowhere"], "There is no model folder"),
        (["PAIRS", "--mono", "empty.txt"], "empty.txt has no line to learn from"),
        (["PAIRS", "--mono", "ru.txt"], "is text in ru, but a text to copy must be in en"),
        (["trec", "--mono", "mono.en"], "--mono adds text to the pairs of a translator"),
    ],
)
def test_bad_combinations_in_training_are_refused_in_a_sentence(
    trained: Path,
    pairs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty.txt").write_text("\n \n")
    Path("ru.txt").write_text(RUSSIAN, encoding="utf-8")
    names = {"PAIRS": str(pairs), "MODEL": str(trained)}
    given = [names.get(word, word) for word in arguments]
    languages = ["--languages", "pt-en"] if str(pairs) in given else []
    assert main(["train", *given, *languages, "--out", "run"]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert "Traceback" not in error
    assert not Path("run").exists()


@pytest.mark.long
def test_a_recipe_takes_texts_too(trained: Path, pairs: Path, tmp_path: Path) -> None:
    table = {
        "family": "transformer",
        "data": {
            "source_language": "pt",
            "target_language": "en",
            "train": str(pairs),
            "mono": {"file": str(tmp_path / "mono.en"), "way": "copy", "share": 0.25},
        },
    }
    model = regard.train(table, SETTINGS, out=tmp_path / "run", quiet=True)
    assert model.recipe.data.mono[0].share == 0.25
    about = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert "recipe.toml" in about["files"]
