"""GPT-2's tokeniser in the one-file page: token for token that of Python, on several languages and on odd text."""

import random
import unicodedata
from collections import Counter
from itertools import pairwise

import pytest
from page_modules import PARTS, run_modules, some_of
from test_onefile_tokens import ODD, corpus, in_page

from regard.data.demo.corpus import pairs
from regard.data.tokenisers.byte_pairs import _PART, BytePairTokeniser, _join_pair, byte_symbols
from regard.data.tokenisers.labels import labels
from regard.data.tokenisers.tokeniser import TokeniserOptions
from regard.onefile.tokens import tokeniser_data

END, ADDED = "<|endoftext|>", "née plain"
OPTIONS = TokeniserOptions(kind="gpt2")
CONTRACTIONS = ["I'm you're we've he'll she'd it's can't 'S 'RE ''s x's 's' 'lling", "’s I’m", "'", "''re''ve"]
SPACES = [f"a{space}{space}b {space}c{space}" for space in map(chr, range(0x3100)) if space.isspace()]
SHAPES = [
    "\ufeffa \ufeff b\u200b\u2060c \u180e d", "a \n\n b\r\n\tc   d\n", "   ", "\n\n\n", " \n", "x \x1c\x1d y",
    "é e\u0301 \u0301 \u0301\u0302x क्षि \u093f மொழி ก็ \u0e31", "Ёлка ёлка Йод йод ещё I̯ ӣ", "1²½Ⅷ٣३一〇 12ab3 ৪x",
    "👩‍👩‍👧‍👦👍🏽🇧🇷☕️ #️⃣ 1️⃣ a🙂b 🙂 🙂🙂", "𝔄𝟙 𐍈 𒐫 \U0001f1e6\U0001f1e6",
    "\ufffd \ufffe \U0010ffff \ue000", END, f"a{END}b {END}", "ß ŉ İ ı Σς ﬁ",
    "don't/won't—it's…(«a»)", "\x00\x01\x7f\x80\x9f\xad", "a" * 300, "ab " * 200, "!?" * 150,
    "\u2028\u2029\u0085 \u00a0x",
]  # fmt: skip


@pytest.fixture(scope="module")
def tokeniser() -> BytePairTokeniser:
    """Return a tokeniser with 300 pairs, learnt from the demo's texts and from the shapes below."""
    symbols = byte_symbols()
    parts = Counter(part for text in [*corpus(), *SHAPES] for part in _PART.findall(text))
    spelled = [([symbols[byte] for byte in part.encode()], count) for part, count in parts.items()]
    joined: list[tuple[str, str]] = []
    while len(joined) < 300:
        counts = Counter[tuple[str, str]]()
        for pieces, count in spelled:
            for pair in pairwise(pieces):
                counts[pair] += count
        best = max(counts, key=lambda pair: (counts[pair], pair))
        joined.append(best)
        known = [(pieces, count) for pieces, count in spelled if best[0] in pieces and best[1] in pieces]
        for pieces, _ in known:
            pieces[:] = _join_pair(pieces, best)
    words = [*dict.fromkeys([*symbols, *("".join(pair) for pair in joined), ADDED]), END, "<|silent|>"]
    return BytePairTokeniser(words, joined, words.index(END), [words.index("<|silent|>")])


def texts(part: str) -> list[str]:
    """Return odd texts, and some or the other sentences in three languages and random strings of their characters."""
    draw = random.Random(2)
    sentences = [text for name in ("demo", "demo-ru") for pair in pairs("valid", name, 300) for text in pair]
    pools = [*SHAPES, "абвгдеёж ИЙКЛ'st've ll", "\u0300\u0301\u0308ao e'", "0٣²½ \t\n\r\x85\xa0\u2003\ufeffab"]
    noise = ["".join(draw.choices(draw.choice(pools), k=draw.randint(1, 40))) for _ in range(1500)]
    return [*ODD, *CONTRACTIONS, *SPACES, *SHAPES, *some_of([*sentences, *noise], part)]


@pytest.mark.parametrize("part", PARTS)
def test_a_page_splits_and_joins_text_as_gpt2_does(tokeniser: BytePairTokeniser, part: str) -> None:
    lines = texts(part)
    assert len(lines) > 300
    for line, found in zip(lines, in_page(tokeniser, OPTIONS, lines), strict=True):
        tokens = tokeniser.encode(line)
        assert found["tokens"] == tokens, line
        assert found["text"] == tokeniser.decode(tokens) == line
        assert found["words"] == tokeniser.words(tokens), line
        if any(unicodedata.category(character) in ("Cn", "Co") for character in line):
            continue
        expected = labels(tokeniser, [*tokens, tokeniser.end], by_word=True)
        assert found["labels"] == {"texts": expected.texts, "places": expected.places}, line


def test_characters_of_every_block_are_split_as_in_python(tokeniser: BytePairTokeniser) -> None:
    draw = random.Random(4)
    known = [chr(code) for code in range(0x20000) if unicodedata.category(chr(code)) not in ("Cn", "Cs")]
    lines = ["".join(draw.choices([*known, " ", "'"], k=draw.randint(1, 30))) for _ in range(1500)]
    for line, found in zip(lines, in_page(tokeniser, OPTIONS, lines), strict=True):
        assert found["tokens"] == tokeniser.encode(line), line
        assert found["text"] == line


def test_any_tokens_are_joined_as_in_python(tokeniser: BytePairTokeniser) -> None:
    draw = random.Random(3)
    rows = [draw.choices(range(tokeniser.size), k=draw.randint(0, 25)) for _ in range(1000)]
    body = """
    const tokeniser = makeTokeniser(given.data);
    return given.rows.map((row) => ({ text: tokeniser.decode(row), words: tokeniser.words(row) }));"""
    found = run_modules(body, {"data": tokeniser_data(tokeniser, OPTIONS), "rows": rows}, tokeniser="makeTokeniser")
    assert found == [{"text": tokeniser.decode(row), "words": tokeniser.words(row)} for row in rows]


def test_a_line_break_in_a_prompt_is_an_ordinary_token(tokeniser: BytePairTokeniser) -> None:
    given = {"data": tokeniser_data(tokeniser, OPTIONS), "text": "One line.\n\nAnother"}
    body = "return tokensOfPrompt(makeTokeniser(given.data), given.text)"
    found = run_modules(body, given, tokeniser="makeTokeniser", writing="tokensOfPrompt")
    assert found == tokeniser.encode("One line.\n\nAnother")
    assert tokeniser.end not in found
