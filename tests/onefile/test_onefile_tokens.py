"""Tokenisers of the one-file page: token for token those of Python, on text of several languages and on odd text."""

import random
import unicodedata
from typing import Any

import pytest
from page_modules import PARTS, run_modules, some_of

from regard.base.faults import Fault
from regard.data.demo.corpus import pairs
from regard.data.tokenisers.labels import is_spelled_word, labels
from regard.data.tokenisers.tokeniser import Tokeniser, TokeniserOptions, train_tokeniser
from regard.onefile.tokens import tokeniser_data

ODD = [
    "",
    " ",
    "  two  spaces  ",
    "a\ttab and\nlines\r\n",
    "▁ is a sign, and \U0010ffff too, \U0010ffff0 and \U0010ffff1",
    "ﬁne ＡＢＣ ① ½ ™ ㎏ Å",  # characters that NFKC would change
    "e\u0301 A\u030a \u1e9b\u0323 \ud55c\uae00 \u1112\u1161\u11ab",  # and that NFC composes
    "🙂 👩‍👩‍👧 🇧🇷 ☕️ 𝔄 𐍈",
    "\ufeffmark \u200b zero\u200dwidth \u00a0 \u3000 wide",
    "中文 日本語 ไทย עברית العربية",
    "<s> </s> <unk> <pad> <0x41> ⁇",
    "\x00\x01\x1f\x7f\x85",
    "[MASK] [mask] a[SEP]b [CLS] [PAD][UNK] [",
    "1.234,5 3:15h don't rock-’n’-roll ... __x__ \"so\" 'so' («a» $5 50 %) ??!!",
    "x" * 101 + " " + "ab" * 50,
]
_CHARACTERS = "abcdeé ãçõ Привет ё,.!?-'\"(«»)’:$%_▁12٣🙂中İΣς\u0301\u00a0\t"


def corpus() -> list[str]:
    russian = [text for pair in pairs("train", "demo-ru", 400) for text in pair]
    return [*(text for pair in pairs("train", count=400) for text in pair), *russian]


def texts(part: str) -> list[str]:
    """Return odd texts, and some or the other sentences in three languages and strings of random characters."""
    draw = random.Random(1)
    sentences = [text for name in ("demo", "demo-ru") for pair in pairs("valid", name, 600) for text in pair]
    noise = ["".join(draw.choices(_CHARACTERS, k=draw.randint(1, 30))) for _ in range(1500)]
    return [*ODD, *some_of([*sentences, *noise], part)]


def in_page(tokeniser: Tokeniser, options: TokeniserOptions, lines: list[str]) -> list[dict[str, Any]]:
    body = """
    const tokeniser = makeTokeniser(given.data);
    return given.lines.map((line) => {
      const tokens = tokeniser.encode(line);
      const labels = wordLabels(tokeniser, [...tokens, tokeniser.end]);
      return { tokens, text: tokeniser.decode(tokens), words: tokeniser.words(tokens), labels };
    });"""
    given = {"data": tokeniser_data(tokeniser, options), "lines": lines}
    found: list[dict[str, Any]] = run_modules(body, given, tokeniser="makeTokeniser", words="wordLabels")
    return found


@pytest.mark.one_in(2)
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("kind", ["unigram", "bpe", "characters", "bytes", "words", "spaces", "wordpiece"])
@pytest.mark.parametrize("bytewise", [True, False], ids=["spelled", "unknown"])
def test_a_page_splits_and_joins_text_as_python_does(kind: str, bytewise: bool, part: str) -> None:
    options = TokeniserOptions(kind=kind, vocabulary=700, byte_fallback=bytewise)  # type: ignore[arg-type]
    tokeniser, lines = train_tokeniser(options, corpus()), texts(part)
    assert len(lines) > 300
    for line, found in zip(lines, in_page(tokeniser, options, lines), strict=True):
        tokens = tokeniser.encode(line)
        assert found["tokens"] == tokens, line
        assert found["text"] == tokeniser.decode(tokens), line
        assert found["words"] == tokeniser.words(tokens), line
        if any(unicodedata.category(character) in ("Cn", "Co") for character in line):
            continue
        whole = [*tokens, tokeniser.end]
        expected = labels(tokeniser, whole, by_word=not is_spelled_word(tokeniser, whole))
        assert found["labels"] == {"texts": expected.texts, "places": expected.places}, line


def test_a_tokeniser_that_ignores_case_does_so_in_the_page() -> None:
    options = TokeniserOptions(kind="bpe", vocabulary=500, shared=False, ignore_case=True)
    tokeniser = train_tokeniser(options, corpus())
    (found,) = in_page(tokeniser, options, ["ANA Ama ÉLAN ПРИВЕТ"])
    assert found["tokens"] == tokeniser.encode("ANA Ama ÉLAN ПРИВЕТ")
    assert found["text"] == "ana ama élan привет"


@pytest.mark.parametrize("spelling", [{"lower_case": False}, {"strip_accents": False}], ids=str)
def test_wordpieces_keep_case_or_accents_as_in_python(spelling: dict[str, bool]) -> None:
    options = TokeniserOptions(kind="wordpiece", vocabulary=400, **spelling)  # type: ignore[arg-type]
    tokeniser = train_tokeniser(options, corpus())
    lines = [*ODD, "ANA Ama ÉLAN Привет Ёлка ação", "İstanbul ΣΑΣ"]
    assert [found["tokens"] for found in in_page(tokeniser, options, lines)] == tokeniser.encode_all(lines)


def test_white_space_around_a_text_is_that_of_python() -> None:
    candidates = [chr(code) for code in range(0x3100) if chr(code).isspace()] + ["\ufeff", "\u200b"]
    lines = [f"{space}a b{space}{space}" for space in candidates]
    found = run_modules("return given.map(stripped)", lines, tokeniser="stripped")
    assert found == [line.strip() for line in lines]


def test_a_kind_that_pages_lack_is_refused() -> None:
    options = TokeniserOptions(kind="features")
    with pytest.raises(Fault, match="Pages have no tokeniser of kind 'features'"):
        tokeniser_data(train_tokeniser(options, ["a b"]), options)
