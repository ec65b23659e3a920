"""METEOR: stages and scores computed by hand, with a WordNet of a few words."""

import gzip
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import snowballstemmer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from regard.base.faults import Fault
from regard.metrics.meteor import ENGLISH, STEMMERS, meteor
from regard.metrics.text import METRICS, language_remarks
from regard.metrics.wordnet import wordnet

sentences = st.lists(st.sampled_from(["red", "cars", "the", "ran", "."]), min_size=1, max_size=7).map(" ".join)

INDEX = {
    "noun": "  1 a licence, indented\nauto n 1 2 @ ~ 1 1 00000010\ncar n 2 2 @ ~ 2 1 00000010 00000020\n"
    "goose n 1 1 @ 1 0 00000030\nbird n 1 1 @ 1 0 00000040\n",
    "verb": "run v 1 1 @ 1 0 00000010\nhurry v 1 1 @ 1 0 00000050\nrush v 1 1 @ 1 0 00000050\n",
    "adj": "",
    "adv": "",
}
EXCEPTIONS = {"noun": "geese goose\n", "verb": "ran run\n", "adj": "", "adv": ""}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REGARD_DATA", str(tmp_path))
    return tmp_path / "wordnet"


@pytest.fixture
def small_wordnet(folder: Path) -> Path:
    folder.mkdir()
    for part, text in INDEX.items():
        (folder / f"index.{part}").write_text(text, encoding="utf-8")
        (folder / f"{part}.exc.gz").write_bytes(gzip.compress(EXCEPTIONS[part].encode()))
    return folder


def value(hypothesis: str, *references: str, language: str = "en") -> float:
    return meteor(language)([hypothesis], [[text] for text in references])[0]


def expected(precision: float, recall: float, torn: float) -> float:
    mean = precision * recall / (0.85 * precision + 0.15 * recall)
    return (1 - 0.6 * torn**0.2) * mean


# Answers computed by hand


def test_function_words_count_a_third_of_content_words() -> None:
    """Four words of `this is a good test` are paired, in two chunks; this, is and a are function words."""
    paired = 0.75 + 3 * 0.25
    assert value("this is a good test", "this is a test") == pytest.approx(expected(paired / (paired + 0.75), 1, 2 / 4))


def test_stems_are_paired_at_six_tenths() -> None:
    assert value("jumps", "jumping") == pytest.approx(0.6)


def test_synonyms_are_paired_at_eight_tenths_where_wordnet_is(small_wordnet: Path) -> None:
    assert value("car", "auto") == pytest.approx(0.8)
    assert value("rushing", "hurries") == pytest.approx(0.8)  # regular forms
    assert value("geese", "goose") == pytest.approx(0.8)  # an irregular one
    assert value("auto", "goose") == 0
    assert value("cars", "car") == pytest.approx(0.6)  # the stem comes first
    assert value("auto", "run") == 0  # one number, but another part of speech


def test_without_wordnet_there_are_no_synonyms() -> None:
    assert value("car", "auto") == 0


def test_every_sentence_in_one_chunk_and_nothing_alone_is_not_torn() -> None:
    mean, _ = meteor()(["red cars", "they ran ."], [["red cars", "they ran ."]])
    assert mean == 1
    assert value("red cars", "red cars") == 1
    assert value("cars red", "red cars") == pytest.approx(1 - 0.6)


def test_sums_run_over_the_test_set() -> None:
    mean, _ = meteor()(["red cars", "x"], [["red cars", "green"]])
    assert mean == pytest.approx(expected(2 / 3, 2 / 3, 1 / 2))


def test_the_reference_with_the_best_score_counts() -> None:
    alone = [value("red cars ran", text) for text in ("ran cars red", "red cars ran fast")]
    assert alone[0] < alone[1]
    assert value("red cars ran", "ran cars red", "red cars ran fast") == alone[1]
    assert meteor()(["red", "ran"], [["red", "ran"], ["x", None]])[1].startswith("nrefs:var|")


def test_nothing_paired_gives_nothing() -> None:
    assert value("red", "green") == value("", "green") == value("red", "") == value("", "") == 0


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sentences, sentences)
def test_it_is_one_for_the_reference_itself_and_stays_between(written: str, wanted: str) -> None:
    assert value(wanted, wanted) == pytest.approx(1)
    assert 0 <= value(written, wanted) <= 1


# Options


@pytest.mark.parametrize(
    ("change", "hypothesis", "reference"),
    [
        ({"alpha": 0.5}, "red cars", "red cars ran"),
        ({"beta": 1.0}, "red cars x ran", "red cars ran"),
        ({"gamma": 0.5}, "red x cars", "red cars"),
        ({"delta": 0.5}, "the x", "the y"),
        ({"stem": 0.5}, "jumps", "jumping"),
        ({"synonym": 0.5}, "car", "auto"),
    ],
)
def test_every_parameter_changes_something(
    small_wordnet: Path, change: dict[str, float], hypothesis: str, reference: str
) -> None:
    changed = meteor(parameters=replace(ENGLISH, **change))([hypothesis], [[reference]])[0]
    assert changed != pytest.approx(value(hypothesis, reference))


@pytest.mark.parametrize(
    ("language", "one", "other", "weight"),
    [
        ("pt", "Cantamos", "cantar", 0.6),
        ("pt", "na\u0303o", "NÃO", 1),
        ("ru", "книги", "книгу", 0.6),
        ("de", "Häuser", "Hauses", 0.8),
        ("es", "libros", "libro", 0.8),
        ("fr", "livres", "livre", 0.2),
        ("cs", "knihy", "knihu", 0.6),
    ],
)
def test_other_languages_have_stems(language: str, one: str, other: str, weight: float) -> None:
    assert value(one, other, language=language) == pytest.approx(weight)


@pytest.mark.parametrize(
    ("language", "numbers"),
    [
        ("cs", "alpha:0.95|beta:0.2|gamma:0.6|delta:0.8"),
        ("de", "alpha:0.95|beta:1|gamma:0.55|delta:0.55"),
        ("es", "alpha:0.65|beta:1.3|gamma:0.5|delta:0.8"),
        ("fr", "alpha:0.9|beta:1.4|gamma:0.6|delta:0.65"),
        ("pt", "alpha:0.7|beta:1.4|gamma:0.3|delta:0.7"),
        ("ru", "alpha:0.7|beta:1.4|gamma:0.3|delta:0.7"),
    ],
)
def test_languages_have_the_published_parameters(language: str, numbers: str) -> None:
    assert numbers in meteor(language)(["a"], [["a"]])[1]


def test_a_language_that_snowball_does_not_know_has_equal_words() -> None:
    mean, signature = meteor("eo")(["libro libroj"], [["libro libron"]])
    assert mean == pytest.approx((1 - 0.3) * 1 / 2)
    assert "lang:eo|stem:off|" in signature


def test_synonyms_are_english(small_wordnet: Path) -> None:
    assert value("car", "auto", language="de") == 0


def test_snowball_knows_every_language_of_the_table() -> None:
    assert set(STEMMERS.values()) <= set(snowballstemmer.algorithms())


# Signatures and refusals


def test_signatures_say_whether_synonyms_took_part(small_wordnet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = "alpha:0.85|beta:0.2|gamma:0.6|delta:0.75|range:0-1"
    how = f"nrefs:1|case:lc|norm:NFC|tok:13a|ref:best|lang:en|stem:english*0.6|synonym:{{}}|paraphrase:off|{numbers}"
    measure: Callable[..., tuple[float, str]] = meteor()
    assert measure(["a"], [["a"]])[1] == how.format("wordnet*0.8")
    monkeypatch.setenv("REGARD_DATA", str(small_wordnet / "elsewhere"))
    assert measure(["a"], [["a"]])[1] == how.format("off")
    assert "|lang:pt|stem:portuguese*0.6|synonym:off|paraphrase:off|alpha:0.7|" in meteor("pt")(["a"], [["a"]])[1]


def test_a_part_of_wordnet_is_none(small_wordnet: Path) -> None:
    (small_wordnet / "index.verb").unlink()
    assert wordnet() is None


def test_a_damaged_index_is_refused(small_wordnet: Path) -> None:
    (small_wordnet / "index.adj").write_text("good a many\n", encoding="utf-8")
    with pytest.raises(
        Fault, match=r"^index\.adj of the data set wordnet is damaged; delete it and get the set again\.$"
    ):
        value("car", "auto")


def test_half_a_character_is_a_word_as_it_is() -> None:
    assert value("ab\ud800s", "ab\ud800s") == 1
    assert value("ab\ud800s", "ab\ud800") == 0


@pytest.mark.parametrize(
    ("language", "advice"),
    [
        ("pt", "for pt give --metric meteor-pt."),
        ("de-AT", "for de-AT give --metric meteor-de."),
        ("sv", "for sv use regard.metrics.meteor.meteor('sv') in Python."),
    ],
)
def test_english_stems_of_another_language_are_remarked_on(language: str, advice: str) -> None:
    (remark,) = language_remarks(language, ["chrf", "meteor"], None)
    assert remark == f"METEOR stems words as in English here; {advice}"
    assert language_remarks(language, ["chrf", "meteor-pt"], None) == []


def test_languages_that_are_english_or_have_no_stems_are_not_remarked_on() -> None:
    assert [language_remarks(language, ["meteor"], None) for language in ("en", "en_GB", "", "arpabet")] == [[]] * 4


def test_what_is_no_code_of_a_language_is_refused() -> None:
    with pytest.raises(Fault, match="METEOR needs a language code such as en or pt, but 'pt-BR' is not one"):
        meteor("pt-BR")


def test_the_f1_counts_every_word_alike_and_takes_nothing_off() -> None:
    """Three of five output words match three of four reference words, whether function words or separated pairs."""
    written, references = ["the cat sat there quietly"], [["there sat the dog"]]
    precision, recall = 3 / 5, 3 / 4
    value, signature = METRICS["meteor-f1"](written, references)
    assert value == pytest.approx(2 * precision * recall / (precision + recall))
    assert "alpha:0.5|beta:0.2|gamma:0|delta:0.5" in signature
    assert METRICS["meteor"](written, references)[0] < value


def test_the_f1_of_a_language_pairs_its_stems() -> None:
    assert METRICS["meteor-f1-ru"](["кошки"], [["кошка"]])[0] == pytest.approx(0.6)
    assert METRICS["meteor-f1-pt"](["meninos"], [["menino"]])[0] == pytest.approx(0.6)
