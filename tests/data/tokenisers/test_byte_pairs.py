"""Byte pairs: tokenised by hand, compared with transformers' GPT2Tokenizer, and decoded exactly."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.base.faults import Fault
from regard.data.tokenisers.byte_pairs import BytePairTokeniser, byte_symbols, read_byte_pairs
from regard.data.tokenisers.labels import labels
from regard.data.tokenisers.tokeniser import TokeniserOptions, train_tokeniser

PAIRS = [
    ("h", "e"),
    ("l", "l"),
    ("he", "ll"),
    ("l", "o"),  # learnt after l l, so that hello is hell o
    ("Ġ", "w"),
    ("Ċ", "Ċ"),
    ("Ġ", "Ã"),
    ("Ã", "©"),
    ("'", "s"),
    ("1", "2"),
    ("Ġ", "Ġ"),
    ("ðŁ", "ĳ"),
    ("ð", "Ł"),
]
PAIRS = [PAIRS[-1], *PAIRS[:-1]]
END = "<|endoftext|>"
WORDS = [*byte_symbols(), *("".join(pair) for pair in PAIRS), END]
TOKENISER = BytePairTokeniser(WORDS, PAIRS, len(WORDS) - 1)
HARD = [
    "hello  world's   end\n\n\n  hello",
    "Café cafe\u0301 ﬁ Ångström İstanbul ΣΑΣ straße",
    "中文 日本語テスト ไทย हिन्दी العربية עברית",
    "👩‍👩‍👧 🇧🇷 👍🏽 \U0001f9ff",
    "a\u200bb\u00adc \0x\ufffdy\t z\u2028w \u3000q \u00a0 \u0085 \x1c\x1d.",
    "don't DON'T we'll I'd 'tis ''s 12 3½ ²³ Ⅷ ①",
    "<|endoftext|> < |endoftext|>",
    " ",
    "",
    "\r\n\r\n\t\v\f",
    "x" * 300,
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hello", ["hell", "o"]),
        ("hello's 12", ["hell", "o", "'s", "▁", "12"]),
        (" world", ["▁w", "o", "r", "l", "d"]),
        ("é é", ["é", "▁<0xC3>", "<0xA9>"]),
        ("a  w", ["a", "▁", "▁w"]),  # of two spaces the second belongs to the word
        ("\n\n", ["<0x0A><0x0A>"]),
        ("", []),
    ],
)
def test_texts_cut_by_hand(text: str, expected: list[str]) -> None:
    assert TOKENISER.pieces(TOKENISER.encode(text)) == expected


@given(st.text(max_size=40))
def test_a_text_comes_back_as_it_was(text: str) -> None:
    tokens = TOKENISER.encode(text)
    assert TOKENISER.decode([TOKENISER.end, *tokens, TOKENISER.end]) == text
    assert TOKENISER.end not in tokens
    assert len(labels(TOKENISER, tokens, by_word=True).places) == len(tokens)


def test_a_lone_surrogate_is_no_text_and_becomes_a_mark() -> None:
    assert TOKENISER.decode(TOKENISER.encode("a\ud800")) == "a\ufffd"


def test_words_on_paper() -> None:
    tokens = [TOKENISER.end, *TOKENISER.encode("hello world é é")]
    assert TOKENISER.words(tokens) == [-1, 0, 0, 1, 1, 1, 1, 1, 2, 2, 3, 3]
    assert labels(TOKENISER, tokens, by_word=True).texts == [END, "hello", "world", "é", "é"]


def test_stored_and_read_it_is_the_same() -> None:
    files = TOKENISER.files("tokeniser")
    again = read_byte_pairs(files["tokeniser.json"])
    assert [again.encode(text) for text in HARD] == [TOKENISER.encode(text) for text in HARD]
    assert again.files("tokeniser") == files


def test_tokens_are_those_of_transformers(tmp_path: Path) -> None:
    import transformers

    (tmp_path / "vocab.json").write_text(json.dumps(TOKENISER.vocabulary()), encoding="utf-8")
    merges = "\n".join(["#version: 0.2", *(" ".join(pair) for pair in PAIRS), ""])
    (tmp_path / "merges.txt").write_text(merges, encoding="utf-8")
    theirs = transformers.GPT2Tokenizer.from_pretrained(tmp_path)
    for text in HARD:
        assert TOKENISER.encode(text) == theirs(text, split_special_tokens=True)["input_ids"], text


@pytest.mark.parametrize(
    ("words", "pairs", "end", "sentence"),
    [
        ([*WORDS, "h"], PAIRS, 3, "its vocabulary holds a word twice"),
        (WORDS[1:], PAIRS, 3, "its vocabulary has no word for the byte 0x00"),
        (WORDS, [*PAIRS, ("w", "x")], 3, "it joins 'w' and 'x', but its vocabulary has no 'wx'"),
        (WORDS, PAIRS, 999, "its end is 999, which is not among its 270 words"),
    ],
)
def test_what_does_not_belong_together_is_refused(
    words: list[str], pairs: list[tuple[str, str]], end: int, sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        BytePairTokeniser(words, pairs, end)


def test_damage_is_told_and_it_cannot_be_trained() -> None:
    for contents in (b"{}", b"[", b'{"words": [], "pairs": [["a"]], "end": 0}'):
        with pytest.raises(ValueError, match=r"it (holds|does not hold)"):
            read_byte_pairs(contents)
    with pytest.raises(Fault, match="A tokeniser of kind gpt2 comes with an imported model and cannot be trained"):
        train_tokeniser(TokeniserOptions(kind="gpt2"), ["text"])
