"""Filtering pairs: scores a person can check, which pairs are kept, and what is refused in a sentence."""

import gzip
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import regard
from regard.base.faults import Fault, TooLong
from regard.base.progress import silent
from regard.cli import main
from regard.data.corpora.options import Corpus
from regard.runs.filtering import criteria
from regard.runs.filtering.choosing import Rule, choose
from regard.runs.filtering.criteria import LanguageModels, Languages, Translators, Vectors
from regard.runs.filtering.filtering import filter_pairs

GOOD = ("She reads a long letter in the garden.", "Ela lê uma carta longa no jardim.")
NO_ROWS = np.zeros(4, bool)


@dataclass
class Lengths:
    """Scores a pair by the length of its target; a target of `x` cannot be scored."""

    name: str = "model"

    def fit(self, pairs: Callable[[], Iterable[tuple[str, str]]], count: int) -> None:
        self.fitted = sum(1 for _ in pairs()), count

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        return [-math.inf if target == "x" else float(len(target)) for _, target in pairs]


def test_a_limit_drops_what_scores_less_and_keep_drops_the_worst_ranks() -> None:
    scores = {"model": np.array([-1.0, -4.0, -2.0, -3.0])}
    chosen = choose(scores, NO_ROWS, Rule({"model": -2.5}))
    assert chosen.kept.tolist() == [True, False, True, False]
    chosen = choose(scores, NO_ROWS, Rule(keep=0.75))
    assert chosen.kept.tolist() == [True, False, True, True]
    assert chosen.counts() == {"empty": 0, "too long to score": 0, "model": 0, "rank": 1}


def test_several_scores_are_ranked_by_the_mean_of_their_ranks() -> None:
    scores = {"model": np.array([4.0, 3.0, 2.0, 1.0]), "vectors": np.array([0.0, 0.3, 0.2, 0.3])}
    chosen = choose(scores, NO_ROWS, Rule(keep=0.5))
    # Ranks 3 2 1 0 and 0 2.5 1 2.5, out of 3 each.
    assert chosen.rank.tolist() == pytest.approx([3 / 6, 4.5 / 6, 2 / 6, 2.5 / 6])
    assert chosen.kept.tolist() == [True, True, False, False]


def test_a_pair_counts_for_the_first_reason_to_drop_it() -> None:
    scores = {"languages": np.array([0.1, 0.9, 0.9, -np.inf]), "model": np.array([-9.0, -9.0, -1.0, -np.inf])}
    empty = np.array([False, False, False, True])
    chosen = choose(scores, empty, Rule({"languages": 0.2, "model": -2.0}))
    assert chosen.counts() == {"empty": 1, "too long to score": 0, "languages": 1, "model": 1, "rank": 0}
    assert chosen.kept.tolist() == [False, False, True, False]


def test_languages_are_those_of_both_sides() -> None:
    english, portuguese = GOOD
    pairs = [(english, portuguese), (english, english), (portuguese, portuguese), (portuguese, english)]
    right, *wrong = Languages("en", "pt").score(pairs)
    assert right > 0.5
    assert max(wrong) < criteria.LIKELY
    with pytest.raises(Fault, match="'xx' cannot be identified"):
        Languages("en", "xx")


def with_models(monkeypatch: pytest.MonkeyPatch, models: dict[str, Any]) -> None:
    monkeypatch.setattr(criteria, "model_in", lambda folder, **_: models[folder])


def translator_of(way: str) -> Any:
    source, _, target = way.partition("-")
    data = SimpleNamespace(source_language=source, target_language=target)
    return SimpleNamespace(recipe=SimpleNamespace(task="translation", data=data), way=way)


def test_two_translators_are_joined_as_dual_conditional_cross_entropy(monkeypatch: pytest.MonkeyPatch) -> None:
    with_models(monkeypatch, {"there": translator_of("en-pt"), "back": translator_of("pt-en")})
    means = {"en-pt": [-1.0, -1.0, -math.inf], "pt-en": [-3.0, -1.0, -1.0]}
    asked = []

    def scores(model: Any, pairs: Sequence[tuple[str, str]]) -> list[float]:
        asked.append((model.way, pairs[0]))
        return means[model.way]

    monkeypatch.setattr(criteria, "_translation_scores", scores)
    found = Translators(["there", "back"], ("en", "pt")).score([("s", "t")] * 3)
    assert found == [pytest.approx(math.exp(-(2 + 2))), pytest.approx(math.exp(-1)), -math.inf]
    assert asked == [("en-pt", ("s", "t")), ("pt-en", ("t", "s"))]
    with pytest.raises(Fault, match="opposite directions"):
        Translators(["there", "there"], None)
    with pytest.raises(Fault, match="back translates pt-en, but --languages is en-pt"):
        Translators(["back"], ("en", "pt"))


class FakeLanguageModel:
    """Gives each letter of a text the same log-probability; texts above ten letters are too long."""

    recipe = SimpleNamespace(task="language")

    def __init__(self, each: float) -> None:
        self.each = each

    def score(self, texts: Sequence[str]) -> list[Any]:
        for number, text in enumerate(texts):
            if len(text) > 10:
                raise TooLong(number, "too long")
        return [SimpleNamespace(score=self.each * len(text), token_scores=list(text)) for text in texts]


def test_language_models_score_a_side_or_its_nearness_to_a_domain(monkeypatch: pytest.MonkeyPatch) -> None:
    with_models(monkeypatch, {"domain": FakeLanguageModel(-1.0), "general": FakeLanguageModel(-1.5)})
    pairs = [("ab", "abcd"), ("ab", "far too long for it"), ("abc", "a")]
    assert LanguageModels(["domain"], "target").score(pairs) == [-1.0, -math.inf, -1.0]
    assert LanguageModels(["domain", "general"], "source").score(pairs) == pytest.approx([0.5, 0.5, 0.5])


def test_vectors_of_two_spaces_are_compared_after_a_map_between_them(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    meanings, turn = rng.normal(size=(200, 8)), np.linalg.qr(rng.normal(size=(8, 8)))[0]
    spaces = {"s": meanings + 5, "t": meanings @ turn - 3}

    def vectors(model: Any, texts: Sequence[str]) -> list[np.ndarray]:
        return [spaces[text[0]][int(text[1:])] for text in texts]

    model = SimpleNamespace(recipe=None, task=SimpleNamespace(read=None))
    with_models(monkeypatch, {"one": model})
    monkeypatch.setattr(criteria, "needs", lambda *_: None)
    monkeypatch.setattr(criteria, "_vectors", vectors)
    likeness = Vectors(["one"])
    pairs = [(f"s{number}", f"t{number}") for number in range(200)]
    likeness.fit(lambda: pairs, len(pairs))
    assert likeness.score(pairs) == pytest.approx([1.0] * 200, abs=1e-3)
    wrong = [(f"s{number}", f"t{(number + 1) % 200}") for number in range(200)]
    assert abs(float(np.mean(likeness.score(wrong)))) < 0.2


def test_pairs_are_written_with_their_scores_and_the_border_is_shown(tmp_path: Path) -> None:
    source, out = tmp_path / "pairs.tsv.gz", tmp_path / "out.tsv"
    source.write_bytes(gzip.compress(b"a\taaaa\n\tb\nc\tc  c\nd\tx\ne\tee\n"))
    result = filter_pairs(Corpus(pairs=str(source)), [Lengths()], Rule({"model": 3.0}), out, silent, True, 1)
    assert out.read_text() == "a\taaaa\t4\nc\tc c\t3\n"
    assert (result.read, result.kept) == (5, 2)
    assert result.dropped == {"empty": 1, "too long to score": 1, "model": 1, "rank": 0}
    assert [example.target for example in result.worst_kept] == ["c c"]
    assert [(example.target, example.reason) for example in result.best_dropped] == [("ee", "model")]


def test_the_command_filters_by_languages_and_a_model(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    english, portuguese = ((trained.parent / f"small.{code}").read_text().splitlines()[:20] for code in ("en", "pt"))
    lines = [f"{one}\t{other}\n" for one, other in zip(english, portuguese, strict=True)]
    pairs, out = tmp_path / "pairs.tsv", tmp_path / "out.tsv"
    pairs.write_text("".join([*lines, f"{GOOD[0]}\t{GOOD[0]}\n", f"{english[0]}\t{'muito ' * 400}\n"]))
    command = ["data", "filter", str(pairs), "-o", str(out), "--languages", "en-pt", "--model", str(trained)]
    assert main([*command, "--keep", "0.5", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["read"] == 22
    assert result["kept"] == 11 == len(out.read_text().splitlines())
    assert result["dropped"]["too long to score"] == 1
    assert result["dropped"]["languages"] >= 1
    assert set(out.read_text().splitlines(keepends=True)) <= set(lines)
    assert main([*command, "--scores", "--overwrite"]) == 0
    table = capsys.readouterr().out
    assert "dropped: languages" in table
    columns = [line.split("\t") for line in out.read_text().splitlines()]
    model = regard.load(trained)
    forced = model.translate_as([columns[0][0]], [columns[0][1]])[0]
    assert float(columns[0][3]) == pytest.approx(np.mean(forced.token_scores), rel=1e-3)


def test_the_command_compares_sentence_vectors(trained: Path, tmp_path: Path) -> None:
    pairs, out = tmp_path / "pairs.tsv", tmp_path / "out.tsv"
    english, portuguese = ((trained.parent / f"small.{code}").read_text().splitlines()[:30] for code in ("en", "pt"))
    pairs.write_text("".join(f"{one}\t{other}\n" for one, other in zip(english, portuguese, strict=True)))
    result = regard.filter_pairs(pairs, out, vectors=trained, at_least={"vectors": -1.1}, scores=True, quiet=True)
    cosines = [float(line.split("\t")[2]) for line in out.read_text().splitlines()]
    assert result.kept == len(cosines) == 30
    assert all(-1 <= cosine <= 1 for cosine in cosines)
    assert len(set(cosines)) > 20


def test_an_output_that_cannot_be_written_is_refused_before_scoring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("\t".join(GOOD) + "\n", encoding="utf-8")
    monkeypatch.setattr("regard.runs.filtering.filtering._score", lambda *arguments: pytest.fail("it was scored"))
    assert main(["data", "filter", str(pairs), "-o", "/proc/kept.tsv", "--languages", "en-pt"]) == 2
    assert "/proc" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["pairs.tsv"], "Say what to filter by"),
        (["none.tsv", "--languages", "en-pt"], "There is no file none.tsv"),
        (["pairs.tsv", "--languages", "en"], "expected two codes with a hyphen"),
        (["pairs.tsv", "--languages", "en-xx"], "'xx' cannot be identified"),
        (["pairs.tsv", "--languages", "en-pt", "--keep", "0.5"], "by scores, and --languages only drops; give --model"),
        (["pairs.tsv", "--model", "m"], "say which to keep with --keep 0.8 or --at-least"),
        (["pairs.tsv", "--model", "m", "--keep", "1.5"], "expected a share above 0 and up to 1"),
        (["pairs.tsv", "--model", "m", "--at-least", "much"], "expected a number"),
        (["pairs.tsv", "--model", "m", "--at-least", "vectors=1"], "names no score that is computed here: model"),
        (["pairs.tsv", "--model", "m", "--vectors", "m", "--at-least", "1"], "could mean several scores"),
        (["pairs.tsv", *["--model", "m"] * 3, "--keep", "0.5"], "--model is given 3 times"),
        (["pairs.tsv", "--languages", "en-pt", "--side", "source"], "--side has no effect"),
        (["pairs.tsv", "--model", "nowhere", "--keep", "0.5"], "nowhere"),
        (["empty.tsv", "--languages", "en-pt"], "has no pairs"),
        (["pairs.tsv", "--languages", "pt-en"], "so nothing is written (dropped: languages 1)"),
    ],
)
def test_what_cannot_be_filtered_is_refused_in_a_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pairs.tsv").write_text("\t".join(GOOD) + "\n", encoding="utf-8")
    Path("empty.tsv").write_text("")
    assert main(["data", "filter", *arguments, "-o", "out.tsv"]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert "Traceback" not in error
    assert not Path("out.tsv").exists()


def test_an_output_is_never_replaced_by_accident(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs, out = tmp_path / "pairs.tsv", tmp_path / "out.tsv"
    pairs.write_text("\t".join(GOOD) + "\n", encoding="utf-8")
    out.write_text("mine")
    for place, words in ((out, "exists already"), (pairs, "is the input too"), (tmp_path / "o.gz", "omit its .gz")):
        assert main(["data", "filter", str(pairs), "-o", str(place), "--languages", "en-pt"]) == 2
        assert words in capsys.readouterr().err
    assert out.read_text() == "mine"
