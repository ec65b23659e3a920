"""Tokenised text is detected, and plain text is not."""

import pytest

from regard.metrics.tokenised import looks_tokenised, tokenised_remark


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        (["I see .", "You see .", "Who ?"], "2 of 3 lines end in a full stop that stands alone"),
        (["the la@@ dy sees", "bo@@ oks"], "2 of 2 lines hold pieces of words"),
        (["▁I ▁see ▁bo oks"], "1 of 1 lines hold pieces of words"),
    ],
)
def test_tokens_are_noticed(texts: list[str], why: str) -> None:
    assert looks_tokenised(texts) == why


@pytest.mark.parametrize(
    "texts",
    [
        ["I see.", "You see.", "One slip ."],
        ["Qui est là ?", "Moi !"],  # French typography has these spaces
        ["K AE T", "D AO G"],
        ["Eu vi o homem ..."],
        ["mail me@@home", ""],
        [],
    ],
)
def test_plain_text_is_not(texts: list[str]) -> None:
    assert looks_tokenised(texts) is None


def test_the_remark_is_for_metrics_that_want_plain_text() -> None:
    texts = ["I see ."]
    remark = tokenised_remark("out.en", texts, ["bleu-tokenised", "bleu"])
    assert remark is not None
    assert remark.startswith("out.en: this looks tokenised, because 1 of 1 lines end in a full stop")
    assert tokenised_remark("out.en", texts, ["bleu-tokenised"]) is None
    assert tokenised_remark("out.en", ["I see."], ["bleu"]) is None
