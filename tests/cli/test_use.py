"""Using a trained model through the command line: translate, evaluate, look, info, average."""

import gzip
import io
import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sacrebleu

from regard.cli import main
from regard.engines.translated import Translated
from regard.verbs.translate.model import TranslationModel

LINES = ["I love books.", "", "Ana sees the red house."]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "in.en"
    path.write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    return path


@pytest.fixture
def copied(trained: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    shutil.copytree(trained, folder)
    return folder


def feed(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_translate_from_a_file_and_from_standard_input(
    trained: Path, text: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["translate", str(trained), str(text)]) == 0
    written = capsys.readouterr().out
    assert written.count("\n") == 3
    assert written.split("\n")[1] == ""
    feed(monkeypatch, text.read_bytes())
    assert main(["translate", str(trained)]) == 0
    assert capsys.readouterr().out == written
    feed(monkeypatch, text.read_bytes())
    assert main(["translate", str(trained), "-"]) == 0
    assert capsys.readouterr().out == written


def test_translate_to_a_file(trained: Path, text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.pt"
    assert main(["translate", str(trained), str(text), "-o", str(out)]) == 0
    content = out.read_bytes()
    assert content.count(b"\n") == 3
    assert capsys.readouterr().out == ""
    assert main(["translate", str(trained), str(text), "-o", str(out)]) == 2
    assert "exists already; give --overwrite" in capsys.readouterr().err
    assert main(["translate", str(trained), str(text), "-o", str(text), "--overwrite"]) == 2
    assert "is an input too" in capsys.readouterr().err
    assert text.read_text(encoding="utf-8").count("\n") == 3
    assert main(["translate", str(trained), str(text), "-o", str(out), "--overwrite"]) == 0
    assert out.read_bytes() == content
    assert {path.name for path in tmp_path.iterdir()} == {"in.en", "out.pt"}


def test_translate_json(trained: Path, text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["translate", str(trained), str(text), "--json", "--beam", "3", "--n-best", "2"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(rows) == 3
    assert rows[0].keys() == {"text", "score", "tokens", "token_scores", "alignment", "n_best"}
    assert rows[0]["n_best"][0] == {"text": rows[0]["text"], "score": rows[0]["score"]}
    assert len(rows[0]["n_best"]) == 2
    assert len(rows[0]["token_scores"]) == len(rows[0]["tokens"]) + 1
    assert rows[1]["text"] == ""


def test_translate_n_best_gives_as_many_lines(trained: Path, text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["translate", str(trained), str(text), "--n-best", "3"]) == 0
    assert capsys.readouterr().out.count("\n") == 9


def test_a_page_begins_with_what_the_model_has(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = [str(trained), "--text", "I love books.", "-o", str(tmp_path / "page.html")]
    assert main(["look", *page, "--layer", "9"]) == 2
    assert "block" in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


def test_bad_use_has_its_sentence(
    trained: Path, text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    latin = tmp_path / "latin.txt"
    latin.write_bytes("ok\ncoração\n".encode("latin-1"))
    long = tmp_path / "long.txt"
    long.write_text("a\nb\n" + "word " * 2000 + "\nc\n")
    empty = tmp_path / "empty.txt"
    empty.touch()
    broken = tmp_path / "broken.gz"
    broken.write_bytes(gzip.compress(b"hello\n" * 1000)[:-20])
    cases = [
        (["translate", str(tmp_path / "none")], "There is no model folder at"),
        (["translate", str(tmp_path)], "is not a model folder"),
        (["translate", str(trained), str(tmp_path / "none.txt")], "There is no file"),
        (["translate", str(trained), str(latin)], "line 2: not valid UTF-8"),
        (["translate", str(trained), str(broken)], "cannot be decompressed"),
        (["translate", str(trained), str(tmp_path)], "is a folder"),
        (["translate", str(trained), str(text), "-o", str(tmp_path / "no" / "out")], "There is no folder"),
        (["translate", str(trained), str(text), "--beam", "2", "--n-best", "3"], "cannot give the 3 best"),
        (["translate", str(trained), str(long)], "Line 3: "),
        (["translate", str(trained), str(text), "--text", "a"], "Give INPUT or --text, not both."),
        (["translate", str(trained), "-", "--text", "a"], "Give INPUT or --text, not both."),
        (["translate", str(trained), "--text", "caf\udce9"], "--text: not valid UTF-8 (byte 0xe9)"),
        (["look", str(trained), "--text", "a", "-o", str(tmp_path)], "is a folder; name a file to write to."),
        (["translate", str(trained), str(text), "--beam", "0"], "beam"),
        (["evaluate", str(trained), "--metric", "blue"], "There is no metric 'blue'"),
        (["evaluate", str(trained)], "names no test data; give --source and --reference, or --split valid"),
        (
            ["heads", str(trained), "--split", "test"],
            "names no test data; give --source and --reference, or --split valid",
        ),
        (["evaluate", str(trained), "--source", str(text)], "--source and --reference belong together"),
        (["evaluate", str(trained), "--source", str(text), "--reference", str(latin)], "not valid UTF-8"),
        (["evaluate", str(trained), "--source", str(empty), "--reference", str(empty)], "empty.txt is empty"),
        (["look", str(trained), "--text", ""], "There is no text to look at"),
        (
            ["look", str(trained), "--text", "a", "-o", str(tmp_path / "a.bmp")],
            "does not end in .png, .svg, .html or .json",
        ),
        (["look", str(trained), "--text", "a", "--layer", "9"], "This model has 2 blocks of 2 heads"),
        (["look", str(trained), "--text", "a", "--sheet", "--head", "1"], "omit --layer and --head"),
        (["average", str(trained), "-o", str(trained)], "is the run itself"),
        (["info", str(text)], "is a file, not a model folder."),
        (["transalte"], "Did you mean 'translate'"),
    ]
    for arguments, words in cases:
        assert main(arguments) == 2, arguments
        message = capsys.readouterr()
        assert words in message.err, (arguments, message.err)
        assert message.out == ""
        assert "Traceback" not in message.err
    feed(monkeypatch, b"fine\nb\xffd\n")
    assert main(["translate", str(trained)]) == 2
    assert "standard input, line 2: not valid UTF-8" in capsys.readouterr().err


def test_without_standard_output_a_file_is_asked_for(trained: Path) -> None:
    command = [sys.executable, "-m", "regard", "translate", str(trained), "-"]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *command],
        input="I love books.\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == "regard: There is no standard output; name a file for the translations with -o.\n"


@pytest.mark.parametrize("arguments", [["info", "MODEL", "--json"], ["families"], ["look", "MODEL", "--text", "Ana"]])
def test_results_do_not_vanish_where_there_is_no_standard_output(
    trained: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert main([str(trained) if word == "MODEL" else word for word in arguments]) == 2
    assert "There is no standard output to write the results to" in capsys.readouterr().err


def test_a_file_is_written_where_there_is_no_standard_output(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    out = tmp_path / "look.json"
    assert main(["look", str(trained), "--text", "Ana sleeps.", "-o", str(out)]) == 0
    assert capsys.readouterr().err.endswith(f"Wrote {out}.\n")
    assert json.loads(out.read_bytes())["text"] == "Ana sleeps."


def test_a_text_on_the_command_line_is_translated_as_one_in_a_file(
    trained: Path, text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["translate", str(trained), str(text)]) == 0
    from_file = capsys.readouterr().out
    assert main(["translate", str(trained), "--text", "\n".join(LINES)]) == 0
    assert capsys.readouterr().out == from_file
    assert main(["translate", str(trained), "--text", "I love books.", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["text"] == from_file.split("\n")[0]
    assert main(["translate", str(trained), "--text", ""]) == 0
    assert capsys.readouterr().out == "\n"
    assert main(["translate", str(trained), "--text", LINES[0], "-o", str(tmp_path / "out.pt")]) == 0
    assert (tmp_path / "out.pt").read_text(encoding="utf-8") == from_file.split("\n")[0] + "\n"


def test_references_of_another_length_are_refused(
    trained: Path, text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = tmp_path / "short.pt"
    short.write_text("um\n")
    assert main(["evaluate", str(trained), "--source", str(text), "--reference", str(short)]) == 2
    assert "has 3 lines but" in capsys.readouterr().err


def test_evaluate_is_sacrebleu_on_the_written_files(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """So does the BLEU that training recorded for the same weights and beam."""
    corpus = json.loads((trained / "training" / "corpus" / "valid.json").read_text(encoding="utf-8"))
    source, reference, out = tmp_path / "v.en", tmp_path / "v.pt", tmp_path / "out.pt"
    source.write_text("".join(f"{s}\n" for s, _ in corpus), encoding="utf-8")
    reference.write_text("".join(f"{t}\n" for _, t in corpus), encoding="utf-8")
    files = ["--source", str(source), "--reference", str(reference)]
    assert main(["evaluate", str(trained), *files, "--beam", "1", "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)["scores"]
    assert main(["translate", str(trained), str(source), "--beam", "1", "-o", str(out)]) == 0
    hypotheses = out.read_text(encoding="utf-8").splitlines()
    assert [score["metric"] for score in scores] == ["bleu", "chrf"]
    assert scores[0]["value"] == sacrebleu.corpus_bleu(hypotheses, [[t for _, t in corpus]]).score
    assert scores[0]["value"] > 0
    assert scores[1]["value"] == sacrebleu.corpus_chrf(hypotheses, [[t for _, t in corpus]]).score
    searched = "|beam:1|lp:0.6|longest_ratio:0.5|longest_extra:8"
    assert scores[0]["signature"].endswith(searched)
    assert scores[0]["split"] is None
    noted = json.loads((trained / "scores.json").read_text(encoding="utf-8"))["scores"]
    assert {(s["metric"], s["value"]) for s in scores} <= {(s["metric"], s["value"]) for s in noted}
    assert main(["score", "--hypothesis", str(out), "--reference", str(reference), "--json"]) == 0
    of_files = json.loads(capsys.readouterr().out)["scores"]
    assert [(s["metric"], s["value"], s["n"]) for s in of_files] == [(s["metric"], s["value"], s["n"]) for s in scores]
    assert [f"{s['signature']}{searched}" for s in of_files] == [s["signature"] for s in scores]


def test_evaluate_notices_outputs_that_look_tokenised(
    trained: Path, text: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["evaluate", str(trained), "--source", str(text), "--reference", str(text), "--metric", "exact"]
    assert main(arguments) == 0
    assert "looks tokenised" not in capsys.readouterr().err
    plain = TranslationModel.translations

    def tokenised(*asked: Any, **options: Any) -> list[Translated]:
        return [replace(translation, text="Eu vejo .") for translation in plain(*asked, **options)]

    monkeypatch.setattr(TranslationModel, "translations", tokenised)
    assert main(arguments) == 0
    message = capsys.readouterr()
    assert (
        "The outputs: this looks tokenised, because 3 of 3 lines end in a full stop that stands alone." in message.err
    )
    assert "exact" in message.out


def test_scores_of_a_split_are_kept(copied: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["evaluate", str(copied), "--split", "valid", "--metric", "perplexity", "--metric", "ter", "--json"]
    assert main(arguments) == 0
    printed = json.loads(capsys.readouterr().out)["scores"]
    assert main(arguments) == 0  # the same scores replace the old ones
    stored = json.loads((copied / "scores.json").read_text(encoding="utf-8"))["scores"]
    assert [score for score in stored if score["metric"] == "ter"] == [printed[1]]
    assert printed[0]["split"] == "valid"
    assert printed[0]["value"] > 1


def test_look_gives_pictures_and_numbers(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["look", str(trained), "--text", "I see the red house.", "--target", "Eu vejo a casa vermelha."]
    assert main(command) == 0
    shown = capsys.readouterr()
    assert "vermelha" in shown.out
    assert "house" in shown.out
    for name in ("a.png", "a.svg", "a.json"):
        assert main([*command, "-o", str(tmp_path / name)]) == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert "vermelha" in (tmp_path / "a.svg").read_text(encoding="utf-8")
    (matrix,) = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["matrices"]
    assert matrix["rows"] == ["Eu", "vejo", "a", "casa", "vermelha", ".", "</s>"]
    assert matrix["columns"] == ["I", "see", "the", "red", "house", ".", "</s>"]
    assert [sum(row) for row in matrix["weights"]] == pytest.approx([1.0] * 7)
    assert main([*command, "--sheet", "-o", str(tmp_path / "sheet.json")]) == 0
    assert len(json.loads((tmp_path / "sheet.json").read_text(encoding="utf-8"))["matrices"]) == 4
    for side, rows in (("encoder", "I"), ("decoder", "<s>")):
        path = tmp_path / f"{side}.json"
        assert main([*command, "--side", side, "--layer", "1", "--head", "2", "-o", str(path)]) == 0
        assert json.loads(path.read_text(encoding="utf-8"))["matrices"][0]["rows"][0] == rows
    assert main([*command, "--tokens", "-o", str(tmp_path / "tokens.json")]) == 0
    assert len(json.loads((tmp_path / "tokens.json").read_text(encoding="utf-8"))["matrices"][0]["rows"]) > 7


def test_info_says_how_training_went_and_translate_if_it_hardly_began(
    copied: Path, text: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["info", str(copied)]) == 0
    assert re.search(r"^trained +12 of 12 steps in \d+\.\d minutes: done$", capsys.readouterr().out, re.MULTILINE)
    assert main(["translate", str(copied), str(text)]) == 0
    assert capsys.readouterr().err == ""
    pace = copied / "training" / "pace.json"
    pace_report = json.loads(pace.read_text())
    pace_report["course"] |= {
        "step": 33,
        "steps": 2300,
        "validated": False,
        "best": 33,
        "finished": False,
        "ended": "over",
    }
    pace.write_text(json.dumps(pace_report))
    assert main(["translate", str(copied), str(text)]) == 0
    assert capsys.readouterr().err == (
        "This model has hardly been trained (step 33 of 2,300, never validated), so expect little of it.\n"
    )
    assert main(["info", str(copied), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["training"]["steps"] == 2300
    shutil.rmtree(copied / "training")  # safe to delete
    assert main(["info", str(copied)]) == 0
    assert "trained" not in capsys.readouterr().out


def test_info(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(trained)]) == 0
    message = capsys.readouterr().out
    assert "transformer" in message
    assert "en-pt" in message
    assert "learnt from    285 pairs of small.en, small.pt\n" in message
    assert main(["info", str(trained), "--json", "--length", "64"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["amount"] == {"count": 285, "unit": "pairs"}
    assert len(facts["examples"]) == 3
    assert facts["examples"][0] in message
    assert facts["certainty"] is None  # 15 validation outputs are too few for a statement
    assert facts["parameters"] == 15_376
    assert facts["cost"]["weights"] == 5 * 2 * 64**2


def test_average_is_the_mean_and_leaves_the_run_alone(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import torch
    from safetensors.torch import load_file

    before = {path: path.read_bytes() for path in trained.rglob("*") if path.is_file()}
    out = tmp_path / "mean"
    assert main(["average", str(trained), "--last", "2", "-o", str(out)]) == 0
    assert "steps 8, 12" in capsys.readouterr().err
    weights = load_file(out / "weights.safetensors")
    checkpoints = trained / "training" / "checkpoints"
    parts = [load_file(checkpoints / step / "weights.safetensors") for step in ("00000008", "00000012")]
    for name, tensor in weights.items():
        torch.testing.assert_close(tensor, (parts[0][name] + parts[1][name]) / 2)
    assert {path: path.read_bytes() for path in trained.rglob("*") if path.is_file()} == before
    assert main(["average", str(trained), "-o", str(out)]) == 2
    assert main(["info", str(out)]) == 0
    capsys.readouterr()
    assert main(["average", str(trained), "--last", "30", "-o", str(out), "--overwrite"]) == 0
    assert "at steps 4, 8, 12; there are only 3" in capsys.readouterr().err
    (out / "letters.txt").touch()
    assert main(["average", str(trained), "-o", str(out), "--overwrite"]) == 2
    assert "holds other things (it has letters.txt) and is not replaced" in capsys.readouterr().err


def test_average_says_which_checkpoints_it_took_and_which_not(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of its own checkpoints 4, 8 and 12 the run keeps only 4; at 9 and 10 someone stopped it."""
    run, out = tmp_path / "run", tmp_path / "mean"
    shutil.copytree(trained, run)
    checkpoints = run / "training" / "checkpoints"
    (checkpoints / "00000008").rename(checkpoints / "00000009")
    (checkpoints / "00000012").rename(checkpoints / "00000010")
    assert main(["average", str(run), "--last", "3", "-o", str(out)]) == 0
    message = capsys.readouterr().err
    assert "is the mean of the checkpoints at steps 4, 9, 10\n" in message
    assert "the run stopped at steps 9, 10; regular checkpoints come every 4 steps" in message
    assert main(["average", str(run), "--last", "1", "-o", str(out), "--overwrite"]) == 0
    message = capsys.readouterr().err
    assert "is the mean of the checkpoints at step 4\n" in message
    assert "steps 9, 10, where the run stopped, are left out; regular checkpoints come every 4 steps" in message


def test_a_closed_pipe_is_quiet(copied: Path, tmp_path: Path) -> None:
    assert main(["export", str(copied), "--to", "ctranslate2"]) == 0  # so that the process starts without torch
    many = tmp_path / "many.txt"
    many.write_text("I\n" * 1500)
    command = f"{sys.executable} -m regard translate {copied} {many} --beam 1 | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1
