"""`regard score`: its output, remarks and refusals."""

import gzip
import io
import json
import lzma
import re
import sys
from codecs import BOM_UTF8
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest
import sacrebleu

from regard.cli import main
from regard.data.demo.corpus import pairs
from regard.metrics import METRICS, References
from regard.metrics.text import BY_VECTORS, OF_TREES, TextMetric

REFERENCE = [target for _, target in pairs("valid", count=60)]
GOOD = [" ".join(text.split()[:-2] + text.split()[-1:]) for text in REFERENCE]
WORSE = [" ".join(text.split()[:3]) for text in REFERENCE]

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with outputs `good` and `worse` and the reference `ref`, in which the command runs."""
    monkeypatch.chdir(tmp_path)
    for name, lines in {"good": GOOD, "worse": WORSE, "ref": REFERENCE}.items():
        write(name, lines)
    return tmp_path


def write(name: str, lines: list[str]) -> None:
    Path(name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def scored(capsys: Captured, *arguments: str, hypothesis: str = "good", reference: str = "ref") -> Any:
    assert main(["score", "--hypothesis", hypothesis, "--reference", reference, *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_byte_order_mark_is_left_out_and_told_of(capsys: Captured) -> None:
    plain = scored(capsys)
    Path("good").write_bytes(BOM_UTF8 + Path("good").read_bytes())
    Path("ref").write_bytes(BOM_UTF8 + Path("ref").read_bytes())
    assert main(["score", "--hypothesis", "good", "--reference", "ref", "--json"]) == 0
    message = capsys.readouterr()
    assert json.loads(message.out)["scores"][0]["value"] == plain["scores"][0]["value"]
    marked = "begins with a byte order mark, which is dropped\n"
    assert (message.err.count(f"good {marked}"), message.err.count(f"ref {marked}")) == (1, 1)


def refused(capsys: Captured, *arguments: str, hypothesis: str = "good", reference: str = "ref") -> str:
    assert main(["score", "--hypothesis", hypothesis, "--reference", reference, *arguments]) == 2
    message = capsys.readouterr()
    assert message.out == ""
    return message.err


@pytest.mark.parametrize("place", ["hypothesis", "reference", "against"])
def test_standard_input_can_stand_for_one_file(capsys: Captured, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    files = {"hypothesis": "good", "reference": "ref", "against": "worse"}
    expected = scored(capsys, "--against", "worse")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(files[place]).read_bytes())))
    places = files | {place: "-"}
    report = scored(
        capsys, "--against", places["against"], hypothesis=places["hypothesis"], reference=places["reference"]
    )
    assert report == expected


def test_standard_input_is_read_once(capsys: Captured) -> None:
    message = refused(capsys, hypothesis="-", reference="-")
    assert "Standard input can be read only once" in message


def test_the_scores_are_those_of_sacrebleu(capsys: Captured) -> None:
    bleu, chrf = scored(capsys)["scores"]
    theirs = sacrebleu.BLEU()
    assert bleu["value"] == theirs.corpus_score(GOOD, [REFERENCE]).score
    assert chrf["value"] == sacrebleu.corpus_chrf(GOOD, [REFERENCE]).score
    assert {name: bleu[name] for name in ("metric", "signature", "split", "n")} == {
        "metric": "bleu", "signature": str(theirs.get_signature()), "split": None, "n": 60,
    }  # fmt: skip
    assert bleu["low"] < bleu["value"] < bleu["high"]
    assert bleu["by"] == "sums"
    assert "against" not in bleu


@pytest.mark.parametrize("metric", [name for name in METRICS if name not in OF_TREES])
def test_every_metric_of_the_table_can_be_asked_for(metric: str, capsys: Captured) -> None:
    [score] = scored(capsys, "--metric", metric, "--against", "worse")["scores"]
    assert score["metric"] == metric
    assert score["low"] <= score["high"]
    assert score["against"]["difference"] != 0 or metric == "exact"
    assert 0 < score["against"]["randomisation"] <= 1
    assert 0 < score["against"]["bootstrap"] <= 1


def test_a_metric_without_sums_is_tested_on_sentence_scores_and_says_so(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def longest(hypotheses: Sequence[str], references: References) -> tuple[float, str]:
        return float(max(map(len, hypotheses))), "unit:codepoint"

    monkeypatch.setitem(METRICS.shipped, "longest", TextMetric(longest))
    [score] = scored(capsys, "--metric", "longest")["scores"]
    assert (score["value"], score["by"]) == (max(map(len, GOOD)), "sentence scores")
    assert score["low"] < sum(map(len, GOOD)) / len(GOOD) < score["high"]
    assert (
        main(["score", "--hypothesis", "good", "--reference", "ref", "--metric", "longest", "--against", "worse"]) == 0
    )
    message = capsys.readouterr()
    assert message.out.endswith("sentence scores\n")
    assert "are about their mean, not about the value itself" in message.err


def test_the_help_names_every_metric(capsys: Captured) -> None:
    assert main(["score", "--help"]) == 0
    shown = re.sub(r"-\n +", "-", capsys.readouterr().out)  # a line may end after a hyphen
    named = {word.strip(".,()") for word in shown.split()}
    assert {*METRICS, *BY_VECTORS} <= named


def test_compressed_files_are_read(capsys: Captured, folder: Path) -> None:
    (folder / "good.gz").write_bytes(gzip.compress((folder / "good").read_bytes()))
    (folder / "ref.xz").write_bytes(lzma.compress((folder / "ref").read_bytes()))
    assert scored(capsys, hypothesis="good.gz", reference="ref.xz") == scored(capsys)


def test_each_reference_is_a_whole_one(capsys: Captured) -> None:
    """The second agrees with the outputs, so with both they are perfect."""
    write("second", GOOD)
    report = scored(capsys, "--reference", "second", "--metric", "wer", "--metric", "bleu")["scores"]
    assert report[0]["value"] == 0
    assert report[1]["value"] == pytest.approx(100)
    assert report[1]["signature"].startswith("nrefs:2|")


def test_against_says_how_far_above_and_how_surely(capsys: Captured) -> None:
    [score] = scored(capsys, "--metric", "chrf", "--against", "worse")["scores"]
    against = score["against"]
    assert against["value"] == sacrebleu.corpus_chrf(WORSE, [REFERENCE]).score
    assert against["difference"] == pytest.approx(score["value"] - against["value"])
    assert 0 < against["low"] < against["difference"] < against["high"]
    assert max(against["bootstrap"], against["randomisation"]) < 0.01


def test_the_tables(capsys: Captured) -> None:
    command = ["score", "--hypothesis", "good", "--reference", "ref", "--metric", "bleu", "--metric", "rouge1"]
    assert main([*command, "--against", "worse"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:4] == ["metric", "value", "95%", "between"]
    assert lines[1].split()[1] == f"{sacrebleu.corpus_bleu(GOOD, [REFERENCE]).score:.2f}"
    assert lines[3] == ""
    assert "p (bootstrap)  p (randomisation)  tested on" in lines[4]
    assert lines[5].endswith("sums")
    whole, share = lines[1].split()[1], lines[2].split()[1]
    assert (len(whole.split(".")[1]), len(share.split(".")[1])) == (2, 4)  # ROUGE runs from 0 to 1


def test_a_metric_twice_is_one(capsys: Captured) -> None:
    assert len(scored(capsys, "--metric", "exact", "--metric", "exact")["scores"]) == 1


def test_explaining_a_corpus(capsys: Captured) -> None:
    report, theirs = scored(capsys, "--explain"), sacrebleu.corpus_bleu(GOOD, [REFERENCE])
    assert report["scores"][0]["value"] == report["explanation"]["value"] == theirs.score
    assert [order["matches"] for order in report["explanation"]["orders"]] == theirs.counts
    assert report["explanation"]["line"] is None
    assert main(["score", "--hypothesis", "good", "--reference", "ref", "--explain"]) == 0
    message = capsys.readouterr().out
    assert f"exp(1 - {theirs.ref_len} / {theirs.sys_len})" in message
    assert f"{theirs.precisions[1]:.2f}%" in message
    assert f"{theirs.score:.2f}" in message
    assert "that do not" not in message


def test_explaining_a_line(capsys: Captured) -> None:
    write("the", ["nothing", "the the the the the the the"])
    write("one", ["no one", "the cat is on the mat"])
    write("two", ["no one", "there is a cat on the mat"])
    arguments = ["--reference", "two", "--explain", "--line", "2"]
    explanation = scored(capsys, *arguments, hypothesis="the", reference="one")["explanation"]
    assert explanation["ngrams"]["1"] == [{"ngram": "the", "count": 7, "most": 2, "clipped": 2}]
    assert explanation["orders"][0]["precision"] == pytest.approx(200 / 7)
    assert main(["score", "--hypothesis", "the", "--reference", "one", *arguments]) == 0
    message = capsys.readouterr().out
    assert "hypothesis: the the the" in message
    assert "reference: there is a cat on the mat" in message
    assert "1-grams that count: the (2 of 7)" in message
    assert "2-grams that do not: the the (0 of 6)" in message
    assert "7 tokens against 7" in message
    assert "(smoothed)" in message


def test_orders_and_weights_change_the_explanation(capsys: Captured) -> None:
    usual = scored(capsys, "--explain")["explanation"]
    two = scored(capsys, "--explain", "--orders", "2")["explanation"]
    first = scored(capsys, "--explain", "--weights", "1,0,0,0")["explanation"]
    assert len(two["orders"]) == 2
    assert two["value"] == sacrebleu.BLEU(max_ngram_order=2).corpus_score(GOOD, [REFERENCE]).score != usual["value"]
    assert first["value"] == pytest.approx(usual["orders"][0]["precision"] * usual["brevity_penalty"])
    assert len(scored(capsys, "--explain", "--weights", "1,2")["explanation"]["orders"]) == 2


def test_a_line_without_a_match(capsys: Captured) -> None:
    write("x", ["x"])
    write("y", ["y"])
    assert main(["score", "--hypothesis", "x", "--reference", "y", "--explain", "--line", "1"]) == 0
    message = capsys.readouterr().out
    assert "-∞" in message
    assert "1-grams that count: none" in message


def test_odd_files_are_remarked_on(capsys: Captured) -> None:
    write("cut", ["Eu vejo ."] * 60)
    assert main(["score", "--hypothesis", "cut", "--reference", "ref", "--against", "cut"]) == 0
    message = capsys.readouterr().err
    assert "cut: this looks tokenised, because 60 of 60 lines end in a full stop that stands alone." in message
    assert "use bleu-tokenised" in message
    assert "cut holds the same lines as cut, so there is no difference to test." in message
    assert message.count("looks tokenised, because") == 1
    assert main(["score", "--hypothesis", "cut", "--reference", "ref", "--metric", "bleu-tokenised"]) == 0
    assert "looks tokenised" not in capsys.readouterr().err
    assert main(["score", "--hypothesis", "ref", "--reference", "ref"]) == 0
    assert "ref holds the same lines as its reference ref; is it the right file?" in capsys.readouterr().err
    assert main(["score", "--hypothesis", "good", "--reference", "ref", "--metric", "exact"]) == 0
    assert capsys.readouterr().err == "scoring 1 of 1\n"


def test_equal_outputs_have_no_table_of_differences(capsys: Captured) -> None:
    assert main(["score", "--hypothesis", "good", "--reference", "ref", "--against", "good"]) == 0
    captured = capsys.readouterr()
    assert "good holds the same lines as good, so there is no difference to test." in captured.err
    assert "difference" not in captured.out
    assert len(captured.out.splitlines()) == 3
    [score] = scored(capsys, "--metric", "chrf", "--against", "good")["scores"]
    assert score["against"]["difference"] == score["against"]["low"] == score["against"]["high"] == 0


def test_a_single_sentence_has_no_bounds_and_no_tests(capsys: Captured) -> None:
    write("one", ["the cat is on the mat"])
    write("two", ["there is a cat on the mat"])
    write("three", ["a cat on the mat"])
    command = ["score", "--hypothesis", "one", "--reference", "two", "--against", "three", "--metric", "chrf"]
    assert main(command) == 0
    captured = capsys.readouterr()
    assert "A single sentence says nothing about other test sets" in captured.err
    rows = [line.split() for line in captured.out.splitlines()]
    assert rows[1][2:4] == ["–", "1"]
    assert rows[-1][3:] == ["–", "–", "–", "sums"]
    assert main([*command, "--json"]) == 0
    [score] = json.loads(capsys.readouterr().out)["scores"]
    unknown = [score["low"], score["high"], *(score["against"][name] for name in ("low", "bootstrap", "randomisation"))]
    assert unknown == [None] * 5
    assert score["against"]["difference"] == score["value"] - score["against"]["value"]


def test_letters_in_two_forms_are_remarked_on(capsys: Captured) -> None:
    lines = ["São João não é só pão", "sem acento"]
    write("composed", lines)
    write("apart", [normalize("NFD", line) for line in lines])
    assert main(["score", "--hypothesis", "composed", "--reference", "apart"]) == 0
    message = capsys.readouterr().err
    assert "1 line of apart is not in Unicode's composed form (NFC)" in message
    assert "of composed" not in message


def test_different_numbers_of_lines_are_refused_with_both(capsys: Captured) -> None:
    write("short", REFERENCE[:59])
    write("one", ["x"])
    assert "good has 60 lines but short has 59 lines" in refused(capsys, reference="short")
    assert "good has 60 lines but one has 1 line;" in refused(capsys, "--reference", "one")
    assert "short has 59 lines but ref has 60 lines" in refused(capsys, "--against", "short")


def test_files_that_cannot_be_scored_are_refused(capsys: Captured, folder: Path) -> None:
    write("empty", [])
    assert "There is no file gone." in refused(capsys, hypothesis="gone")
    assert "There is no file gone." in refused(capsys, "--against", "gone")
    assert "empty is empty, so there is nothing to score." in refused(capsys, hypothesis="empty", reference="empty")
    assert "empty is empty" in refused(capsys, reference="empty")
    assert "ref is given twice; each --reference must be another" in refused(capsys, "--reference", "ref")
    (folder / "latin").write_bytes("São Paulo\n".encode("latin-1"))
    assert "latin, line 1: not valid UTF-8" in refused(capsys, hypothesis="latin")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--metric", "blue"], "There is no metric 'blue'; there are bleu,"),
        (["--metric", "perplexity"], "`regard evaluate` gives it"),
        (["--explain", "--metric", "chrf"], "--explain is for BLEU only; omit --metric chrf."),
        (["--explain", "--metric", "bleu", "--metric", "ter"], "omit --metric bleu --metric ter."),
        (["--explain", "--against", "worse"], "--explain is about one file and --against about two"),
        (["--explain", "--line", "61"], "There is no line 61 in good, which has 60 lines."),
        (["--explain", "--line", "0"], "There is no line 0 in good"),
        (["--line", "1"], "--line goes with --explain."),
        (["--orders", "2"], "--orders goes with --explain."),
        (["--weights", "1,1"], "--weights goes with --explain."),
        (["--explain", "--weights", "1,x"], "'1,x' is not a list of weights"),
        (["--explain", "--orders", "3", "--weights", "1,1"], "There are 2 weights for 3 orders"),
        (["--explain", "--orders", "0"], "'--orders'"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: list[str], words: str, capsys: Captured) -> None:
    assert words in refused(capsys, *arguments)


def test_text_is_scored_as_it_is_and_as_sacrebleu_scores_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Composed and decomposed letters are different text to sacreBLEU, and the signature does not tell."""
    composed, decomposed = "n\u00e3o s\u00e3o os livros", "na\u0303o sa\u0303o os livros"
    for name, text in (("hypothesis", composed), ("reference", decomposed)):
        (tmp_path / name).write_text(f"{text}\n", encoding="utf-8")
    files = ["--hypothesis", str(tmp_path / "hypothesis"), "--reference", str(tmp_path / "reference")]
    assert main(["score", *files, "--metric", "bleu", "--metric", "wer", "--json"]) == 0
    bleu, errors = json.loads(capsys.readouterr().out)["scores"]
    assert bleu["value"] == sacrebleu.corpus_bleu([composed], [[decomposed]]).score
    assert bleu["value"] < 100
    assert errors["value"] == 0  # this one has norm:NFC in its signature


def test_the_smoothing_is_chosen_and_signed(capsys: Captured, folder: Path) -> None:
    (folder / "short").write_text("a b x y\n")
    (folder / "wanted").write_text("a b c d\n")
    files = ["--hypothesis", "short", "--reference", "wanted", "--metric", "bleu", "--json"]
    values = {}
    for method in ("none", "floor", "add-k", "exp"):
        assert main(["score", *files, "--smooth", method]) == 0
        [score] = json.loads(capsys.readouterr().out)["scores"]
        values[method] = score["value"]
        assert f"smooth:{method}" in score["signature"]
    assert values["none"] == 0 < values["floor"] < values["exp"] < values["add-k"]
    assert main(["score", *files, "--smooth", "floor", "--smooth-value", "1"]) == 0
    assert "smooth:floor[1.00]" in capsys.readouterr().out


def test_word_vectors_are_read_from_a_file(capsys: Captured, folder: Path) -> None:
    (folder / "vectors.txt").write_text("cat 1 0\nkitten 0.6 0.8\n")
    (folder / "short").write_text("the cat is here\n")
    (folder / "wanted").write_text("the kitten is here\n")
    files = ["--hypothesis", "short", "--reference", "wanted", "--metric", "ebleu", "--json"]
    assert main(["score", *files, "--vectors", "vectors.txt"]) == 0
    [score] = json.loads(capsys.readouterr().out)["scores"]
    assert score["value"] == pytest.approx(100 * (3.6 / 4 * 2.2 / 3 * 1.2 / 2 * 0.6) ** 0.25)
    assert main(["score", *files]) == 2
    assert "ebleu needs word vectors" in capsys.readouterr().err
    assert main(["score", *files, "--vectors", "none.txt"]) == 2
    assert "There is no file none.txt" in capsys.readouterr().err


def test_trees_are_compared_and_held_to_their_sentences(capsys: Captured, folder: Path) -> None:
    (folder / "out.trees").write_text("(S (NP (DT The) (NN cat)) (VP (VBZ naps)))\n")
    (folder / "src.trees").write_text("(SENT (NP (DET Le) (NC chat)) (VN (V dort)))\n")
    (folder / "out.txt").write_text("The cat naps\n")
    (folder / "src.txt").write_text("Le chien dort\n")
    files = ["--hypothesis", "out.trees", "--reference", "src.trees", "--metric", "hppr", "--json"]
    assert main(["score", *files, "--hypothesis-sentences", "out.txt"]) == 0
    [score] = json.loads(capsys.readouterr().out)["scores"]
    assert score["value"] == pytest.approx(1)
    assert main(["score", *files, "--reference-sentences", "src.txt"]) == 2
    assert "src.trees, line 1: the words of the tree are 'Le chat dort'" in capsys.readouterr().err
    assert main(["score", *files, "--metric", "exact", "--hypothesis-sentences", "out.txt"]) == 2
    assert "are for trees; give them with --metric hppr" in capsys.readouterr().err
