"""`regard score` with other tokenisers, and on test sets that sacreBLEU knows by name."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import sacrebleu
from sacrebleu.dataset import DATASETS

from regard.cli import main

REFERENCES = ["我喜欢读书。", "他们昨天在家里看电视。", "今天的天气很好，我们去公园吧。"]
WRITTEN = ["我爱读书。", "他们昨天在家看了电视。", "今天天气很好，我们去公园。"]
WORSE = ["我爱书。", "他们在家。", "天气很好。"]

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with outputs, worse ones and a reference, without sacreBLEU's test sets."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "out", WRITTEN)
    write(tmp_path / "worse", WORSE)
    write(tmp_path / "ref", REFERENCES)
    for name in ("wmt20", "wmt20/tworefs", "wmt22"):
        monkeypatch.setattr(DATASETS[name], "_outdir", str(tmp_path / name))
        monkeypatch.setattr(DATASETS[name], "maybe_download", fail)
        (tmp_path / name).mkdir()
    return tmp_path


def fail() -> None:
    raise AssertionError("nothing is downloaded")


def write(path: Path, lines: Sequence[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def scored(capsys: Captured, *arguments: str) -> tuple[Any, str]:
    assert main(["score", "--hypothesis", "out", *arguments, "--json"]) == 0
    message = capsys.readouterr()
    return json.loads(message.out), message.err


def refused(capsys: Captured, *arguments: str) -> str:
    assert main(["score", "--hypothesis", "out", *arguments]) == 2
    message = capsys.readouterr()
    assert message.out == ""
    return message.err


def test_the_tokeniser_is_bleus_and_stands_in_its_signature(capsys: Captured) -> None:
    report, message = scored(capsys, "--reference", "ref", "--tokenise", "zh", "--against", "worse")
    bleu, chrf = report["scores"]
    assert bleu["value"] == sacrebleu.corpus_bleu(WRITTEN, [REFERENCES], tokenize="zh").score
    assert bleu["against"]["value"] == sacrebleu.corpus_bleu(WORSE, [REFERENCES], tokenize="zh").score
    assert bleu["low"] <= bleu["value"] <= bleu["high"]
    assert "|tok:zh|" in bleu["signature"]
    assert chrf["value"] == sacrebleu.corpus_chrf(WRITTEN, [REFERENCES]).score
    assert "people report" not in message


def test_bleu_is_worked_out_in_the_same_tokens(capsys: Captured) -> None:
    report, _ = scored(capsys, "--reference", "ref", "--tokenise", "zh", "--explain", "--line", "1")
    assert [ngram["ngram"] for ngram in report["explanation"]["ngrams"]["1"]] == ["我", "爱", "读", "书", "。"]
    assert "|tok:zh|" in report["scores"][0]["signature"]


def test_a_tokeniser_that_no_metric_uses_is_refused(capsys: Captured) -> None:
    message = refused(capsys, "--reference", "ref", "--metric", "ter", "--metric", "wer", "--tokenise", "zh")
    assert "A tokeniser can only be chosen for bleu, not for ter, wer; omit it." in message


def test_a_named_set_is_read_where_sacrebleu_put_it(capsys: Captured, folder: Path) -> None:
    write(folder / "wmt20" / "wmt20.en-zh.src", ["I", "they", "today"])
    write(folder / "wmt20" / "wmt20.en-zh.ref", REFERENCES)
    report, message = scored(capsys, "--test-set", "wmt20", "--languages", "en-zh", "--tokenise", "zh")
    by_file, _ = scored(capsys, "--reference", "ref", "--tokenise", "zh")
    assert [score["value"] for score in report["scores"]] == [score["value"] for score in by_file["scores"]]
    for score, other in zip(report["scores"], by_file["scores"], strict=True):
        assert score["signature"] == f"{other['signature']}|test:wmt20|lang:en-zh"
    assert "people report" not in message
    explained, _ = scored(capsys, "--test-set", "wmt20", "--languages", "en-zh", "--tokenise", "zh", "--explain")
    assert explained["scores"][0]["signature"] == report["scores"][0]["signature"]


def test_the_usual_tokeniser_for_the_languages_is_remarked_on_once(capsys: Captured, folder: Path) -> None:
    write(folder / "wmt20" / "wmt20.en-zh.src", ["I", "they", "today"])
    write(folder / "wmt20" / "wmt20.en-zh.ref", REFERENCES)
    report, message = scored(capsys, "--test-set", "wmt20", "--languages", "en-zh")
    assert "|tok:13a|" in report["scores"][0]["signature"]
    assert " ".join(message.split()).count("for zh, results are usually reported with --tokenise zh") == 1


def test_every_reference_of_a_set_counts(capsys: Captured, folder: Path) -> None:
    for field, lines in {"src": WORSE, "ref-0": REFERENCES, "ref-1": WORSE}.items():
        write(folder / "wmt20/tworefs" / f"wmt20_tworefs.zh-en.{field}", lines)
    report, _ = scored(capsys, "--test-set", "wmt20/tworefs", "--languages", "zh-en", "--metric", "bleu")
    assert report["scores"][0]["value"] == sacrebleu.corpus_bleu(WRITTEN, [REFERENCES, WORSE]).score


def test_of_a_set_in_xml_those_references_count_that_it_lists(capsys: Captured, folder: Path) -> None:
    for field, lines in {"src": WORSE, "ref-A": REFERENCES, "ref-B": WORSE}.items():
        write(folder / "wmt22" / f"wmt22.en-zh.{field}", lines)
    report, _ = scored(capsys, "--test-set", "wmt22", "--languages", "en-zh", "--tokenise", "zh", "--metric", "bleu")
    assert report["scores"][0]["value"] == sacrebleu.corpus_bleu(WRITTEN, [REFERENCES], tokenize="zh").score


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "Give references: either --reference, or --test-set with --languages."),
        (("--reference", "ref", "--test-set", "wmt20"), "--reference, or --test-set with --languages."),
        (("--test-set", "wmt20"), "--test-set and --languages go together"),
        (("--reference", "ref", "--languages", "en-de"), "--test-set and --languages go together"),
        (("--test-set", "wmt99", "--languages", "en-de"), "sacreBLEU has no test set 'wmt99'; `sacrebleu --list`"),
        (("--test-set", "wmt20", "--languages", "en-xx"), "The test set wmt20 has no 'en-xx'; it has cs-en, "),
        (
            ("--test-set", "wmt20", "--languages", "en-de"),
            "`sacrebleu -t wmt20 -l en-de --echo src` gets the test set.",
        ),
        (
            ("--test-set", "wmt22", "--languages", "en-de"),
            "`sacrebleu -t wmt22 -l en-de --echo src` gets the test set.",
        ),
    ],
)
def test_what_cannot_be_scored_is_refused(capsys: Captured, arguments: Sequence[str], words: str) -> None:
    assert words in refused(capsys, *arguments)


def test_the_folder_is_that_of_sacrebleus_own_variable(folder: Path) -> None:
    (folder / "elsewhere" / "wmt20").mkdir(parents=True)
    write(folder / "elsewhere" / "wmt20" / "wmt20.en-de.src", WORSE)
    write(folder / "elsewhere" / "wmt20" / "wmt20.en-de.ref", REFERENCES)
    command = [
        "score",
        "--hypothesis",
        "ref",
        "--test-set",
        "wmt20",
        "--languages",
        "en-de",
        "--metric",
        "exact",
        "--json",
    ]
    environment = os.environ | {"SACREBLEU": str(folder / "elsewhere")}
    done = subprocess.run([sys.executable, "-m", "regard", *command], env=environment, capture_output=True, check=True)
    assert json.loads(done.stdout)["scores"][0]["value"] == 100
