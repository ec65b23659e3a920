"""BLEU with sacreBLEU's tokenisers: identical digits, and refusals where a tokeniser is missing."""

import io
import urllib.request
from pathlib import Path

import pytest
import sacrebleu
import sacrebleu.utils
import sentencepiece
from sacrebleu.tokenizers import tokenizer_ja_mecab, tokenizer_ko_mecab, tokenizer_spm

from regard.base.faults import Fault
from regard.metrics import score
from regard.metrics.bleu import SMOOTHINGS, Smoothing, tokeniser_remark
from regard.metrics.explain import explain_corpus, explain_sentence, matches
from regard.metrics.significance import summing
from regard.metrics.text import Choices
from regard.metrics.tokenised import tokenised_remark

REFERENCES = [
    "我喜欢读书。",
    "他们昨天在家里看电视。",
    "Die Bücher (3,5 €) sind neu!",
    "今天的天气很好，我们去公园吧。",
]
WRITTEN = ["我爱读书。", "他们昨天在家看了电视。", "Die Bücher (3,5€) sind neu.", "今天天气很好，我们去公园。"]


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the empty folder where sacreBLEU looks for piece models; looking elsewhere is an error."""

    def fail(*_: object) -> None:
        raise AssertionError("nothing is downloaded")

    monkeypatch.setattr(urllib.request, "urlopen", fail)
    for module in (sacrebleu.utils, tokenizer_spm):
        monkeypatch.setattr(module, "SACREBLEU_DIR", str(tmp_path))
    (tmp_path / "models").mkdir()
    return tmp_path / "models"


def pieces() -> bytes:
    trained = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(REFERENCES * 5),
        model_writer=trained,
        vocab_size=60,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return trained.getvalue()


@pytest.mark.parametrize("tokenise", ["13a", "none", "zh", "intl", "char"])
def test_the_score_is_sacrebleus(tokenise: str) -> None:
    result = score(WRITTEN, REFERENCES, "bleu", tokenise=tokenise)
    assert result.value == sacrebleu.corpus_bleu(WRITTEN, [REFERENCES], tokenize=tokenise, force=True).score
    assert f"|tok:{tokenise}|" in result.signature


def test_the_usual_tokeniser_is_13a() -> None:
    assert score(WRITTEN, REFERENCES) == score(WRITTEN, REFERENCES, tokenise="13a")
    assert score(WRITTEN, REFERENCES).value != score(WRITTEN, REFERENCES, tokenise="zh").value


def test_the_sums_and_the_explanation_are_of_the_same_tokens() -> None:
    expected = score(WRITTEN, REFERENCES, tokenise="zh")
    sums = summing("bleu", Choices(tokenise="zh"))(WRITTEN, [REFERENCES])
    assert (sums.value(), sums.signature) == (expected.value, expected.signature)
    explained = explain_corpus(WRITTEN, [REFERENCES], tokenise="zh")
    assert (explained.value, explained.signature) == (expected.value, expected.signature)


def test_a_sentence_is_explained_in_the_tokens_asked_for() -> None:
    explained = explain_sentence(WRITTEN[0], REFERENCES[:1], tokenise="zh")
    assert (explained.orders[0].matches, explained.orders[0].total) == (4, 5)
    result = matches(WRITTEN[0], REFERENCES[:1], 1, tokenise="zh")
    assert [match.words[0] for match in result if match.clipped] == ["我", "读", "书", "。"]


def test_other_metrics_have_no_tokeniser_to_choose() -> None:
    with pytest.raises(Fault, match="A tokeniser can only be chosen for bleu, not for chrf; omit it"):
        score(WRITTEN, REFERENCES, "chrf", tokenise="zh")
    assert (
        summing("chrf", Choices(tokenise="zh"))(WRITTEN, [REFERENCES]).value()
        == score(WRITTEN, REFERENCES, "chrf").value
    )


@pytest.mark.parametrize("tokenise", ["moses", "spm", ""])
def test_an_unknown_tokeniser_is_refused_with_those_there_are(tokenise: str) -> None:
    with pytest.raises(Fault, match=rf"sacreBLEU has no tokeniser '{tokenise}'; it has none, zh, 13a, .*flores200"):
        score(WRITTEN, REFERENCES, tokenise=tokenise)


@pytest.mark.parametrize(("language", "module"), [("ja", tokenizer_ja_mecab), ("ko", tokenizer_ko_mecab)])
def test_a_tokeniser_whose_packages_are_missing_says_what_to_install(
    language: str, module: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MeCab", None)  # as sacreBLEU leaves it where the packages are missing
    with pytest.raises(
        Fault, match=rf"{language}-mecab does not work here; install it with `pip install 'sacrebleu\[{language}\]'`"
    ):
        score(WRITTEN, REFERENCES, tokenise=f"{language}-mecab")


@pytest.mark.parametrize(
    ("tokenise", "file"),
    [
        ("flores101", "sacrebleu_tokenizer_spm.model"),
        ("flores200", "flores200sacrebleuspm"),
        ("spBLEU-1K", "spbleu-1k_tokenizer_spm.model"),
    ],
)
def test_a_tokeniser_of_pieces_reads_its_file_and_downloads_none(models: Path, tokenise: str, file: str) -> None:
    with pytest.raises(Fault, match=f"{tokenise} needs a model that is missing; get https://.*{file} and put it at"):
        score(WRITTEN, REFERENCES, tokenise=tokenise)
    assert list(models.iterdir()) == []
    (models / file).write_bytes(pieces())
    result = score(WRITTEN, REFERENCES, tokenise=tokenise)
    assert result.value == sacrebleu.corpus_bleu(WRITTEN, [REFERENCES], tokenize=tokenise).score
    assert f"|tok:{tokenise}|" in result.signature


def test_a_file_that_holds_no_pieces_is_refused_by_name(models: Path) -> None:
    (models / "flores200sacrebleuspm").write_bytes(b"not found")
    with pytest.raises(Fault, match="flores200sacrebleuspm is not a SentencePiece model"):
        score(WRITTEN, REFERENCES, tokenise="flores200")


@pytest.mark.parametrize(
    ("language", "usual"), [("zh", "zh"), ("zh-CN", "zh"), ("cmn_Hans", "zh"), ("JA", "ja-mecab"), ("kor", "ko-mecab")]
)
def test_the_usual_tokeniser_of_a_language_is_remarked_on(language: str, usual: str) -> None:
    remark = tokeniser_remark(language, ["chrf", "bleu"], None) or ""
    assert remark.endswith(f"for {language}, results are usually reported with --tokenise {usual}.")
    assert tokeniser_remark(language, ["chrf"], None) is None
    assert tokeniser_remark(language, ["bleu"], "char") is None


def test_languages_that_13a_suits_are_not_remarked_on() -> None:
    assert [tokeniser_remark(language, ["bleu"], None) for language in ("de", "", "arpabet")] == [None] * 3


def test_tokens_that_are_left_as_they_are_may_look_like_tokens() -> None:
    tokens = ["This is cut ."] * 3
    assert tokenised_remark("It", tokens, ["bleu"], "none") is None
    assert tokenised_remark("It", tokens, ["bleu"], "intl") is not None
    assert tokenised_remark("It", tokens, ["bleu", "chrf"], "none") is not None


@pytest.mark.parametrize(
    ("method", "value"), [("none", None), ("floor", 0.3), ("floor", None), ("add-k", 2), ("exp", None)]
)
def test_a_smoothing_is_sacrebleus_to_the_last_digit(method: str, value: float | None) -> None:
    written, references = ["a b x d", "the cat"], ["a b c d e", "a dog"]
    theirs = sacrebleu.BLEU(smooth_method=method, smooth_value=value)
    result = score(written, references, smoothing=Smoothing(method, value))
    assert (result.value, result.signature) == (
        theirs.corpus_score(written, [references]).score,
        str(theirs.get_signature()),
    )
    chosen = Choices(smoothing=Smoothing(method, value))
    assert summing("bleu", chosen)(written, [references]).value() == result.value
    assert explain_corpus(written, [references], smoothing=Smoothing(method, value)).value == pytest.approx(
        result.value
    )


def test_one_output_has_another_score_by_each_smoothing() -> None:
    """Two of four words and one of three pairs match; no triple does."""
    values = {method: score(["a b x y"], ["a b c d"], smoothing=Smoothing(method)).value for method in SMOOTHINGS}
    assert values["none"] == 0
    assert values["floor"] == pytest.approx(100 * (2 / 4 * 1 / 3 * 0.1 / 2 * 0.1 / 1) ** 0.25)
    assert values["add-k"] == pytest.approx(100 * (2 / 4 * 2 / 4 * 1 / 3 * 1 / 2) ** 0.25)
    assert values["exp"] == pytest.approx(100 * (2 / 4 * 1 / 3 * 1 / 4 * 1 / 4) ** 0.25)


def test_the_orders_that_add_k_changes_are_marked_as_smoothed() -> None:
    explained = explain_sentence("a b x y", ["a b c d"], smoothing=Smoothing("add-k"))
    assert [order.smoothed for order in explained.orders] == [False, True, True, True]


@pytest.mark.parametrize(
    ("method", "value", "words"),
    [
        ("half", None, "BLEU has no smoothing 'half'; there are none, floor, add-k, exp"),
        ("exp", 0.5, "The smoothing 'exp' takes no value; floor and add-k do"),
        ("floor", 0, "The value of a smoothing is 0, but it must be more than 0"),
        ("add-k", float("nan"), "The value of a smoothing is nan"),
    ],
)
def test_what_is_no_smoothing_is_refused(method: str, value: float | None, words: str) -> None:
    with pytest.raises(Fault, match=words):
        Smoothing(method, value)
    with pytest.raises(Fault, match="Smoothing can only be chosen for bleu, not for chrf; omit it"):
        score(WRITTEN, REFERENCES, "chrf", smoothing=Smoothing("none"))
