"""WordPiece: tokenised by hand, compared with transformers' BertTokenizer if installed, and learnt from text."""

from pathlib import Path

import pytest

from regard.base.faults import Fault
from regard.data.tokenisers.labels import labels
from regard.data.tokenisers.tokeniser import TokeniserOptions, load_tokeniser, train_tokeniser
from regard.data.tokenisers.wordpiece import (
    MARKS,
    WordPieceOptions,
    WordPieceTokeniser,
    learn_wordpieces,
    read_wordpieces,
    split_text,
)

WORDS = [
    "un",
    "##aff",
    "##able",
    "run",
    "##ning",
    "cafe",
    "café",
    "a",
    "##a",
    "!",
    "'",
    "中",
    "文",
    "σ",
    "##σ",
    "[",
    "]",
]
PIECES = [*MARKS, *WORDS]
HARD = [
    "unaffable running, Running!",
    "Café NAÏVE Ångström İstanbul ΣΑΣ straße ﬁ",
    "中文 and 日本語テスト",
    "a\u200bb\u00adc \0x\ufffdy\t z\u2028w \u3000q",
    "don't stop-it $5.00 a_b ~x^2 <tag> `q`",
    "[MASK] x[MASK]y [mask] [CLS] hi [SEP][PAD] [UNK] [[MASK]] [MASK",
    "a" * 101 + " " + "a" * 100,
    "👩‍👩‍👧 🇧🇷 e\u0301 é",
    "",
    " \n ",
    "हिन्दी العربية עברית ไทย Ⅷ ½ ²³ ǅ ﬀ",
]


def tokeniser(**options: bool) -> WordPieceTokeniser:
    return WordPieceTokeniser(PIECES, WordPieceOptions(**options))


def pieces(text: str, **options: bool) -> list[str]:
    cutter = tokeniser(**options)
    return cutter.pieces(cutter.encode(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("unaffable", ["un", "##aff", "##able"]),  # the example of the authors' code
        ("Running!", ["run", "##ning", "!"]),
        ("runner", ["[UNK]"]),  # a word that cannot be spelled to its end is unknown as a whole
        ("Café", ["cafe"]),
        ("中文", ["中", "文"]),
        ("ΣΣ", ["σ", "##σ"]),  # also at the end of a word
        ("a\u00ada", ["a", "##a"]),  # a soft hyphen is not read
        ("a[MASK]a", ["a", "[MASK]", "a"]),
        ("[mask]", ["[", "[UNK]", "]"]),
        ("a" * 100, ["a", *["##a"] * 99]),
        ("a" * 101, ["[UNK]"]),
        ("", []),
    ],
)
def test_texts_cut_by_hand(text: str, expected: list[str]) -> None:
    assert pieces(text) == expected


def test_case_accents_and_ideographs_are_kept_where_they_are_asked_for() -> None:
    assert pieces("Café") == ["cafe"]
    assert pieces("café", lower_case=False) == ["café"]
    assert pieces("Café", strip_accents=False) == ["café"]
    assert pieces("café", lower_case=False, strip_accents=True) == ["cafe"]
    assert pieces("中文", part_ideographs=False) == ["[UNK]"]
    assert split_text("don't $5!", WordPieceOptions()) == ["don", "'", "t", "$", "5", "!"]


def test_tokens_become_text_and_words_again() -> None:
    cutter = tokeniser()
    tokens = [cutter.begin, *cutter.encode("unaffable running!"), cutter.end]
    assert cutter.decode(tokens) == "unaffable running !"
    assert cutter.words(tokens) == [-1, 0, 0, 0, 1, 1, 2, -1]
    assert labels(cutter, tokens, by_word=True).texts == ["[CLS]", "unaffable", "running", "!", "[SEP]"]


@pytest.mark.parametrize("lower_case", [True, False])
@pytest.mark.parametrize("strip_accents", [None, True, False])
def test_ids_are_those_of_transformers(lower_case: bool, strip_accents: bool | None) -> None:
    import transformers

    learnt = learn_wordpieces([*HARD, "the cat sat on the mat"], 200, WordPieceOptions(lower_case=False))
    every = learnt.pieces(range(learnt.size))
    for part_ideographs in (True, False):
        options = WordPieceOptions(lower_case=lower_case, strip_accents=strip_accents, part_ideographs=part_ideographs)
        theirs = transformers.BertTokenizer(
            vocab={piece: token for token, piece in enumerate(every)},
            do_lower_case=lower_case,
            strip_accents=strip_accents,
            tokenize_chinese_chars=part_ideographs,
        )
        ours = WordPieceTokeniser(every, options)
        for text in HARD:
            assert ours.encode(text) == theirs(text, add_special_tokens=False)["input_ids"], text


def test_a_vocabulary_is_learnt_and_kept(tmp_path: Path) -> None:
    options = TokeniserOptions(kind="wordpiece", vocabulary=60)
    lines = ["the lowest newest widest", "low lower new newer wide wider the the"] * 3
    cutter = train_tokeniser(options, lines)
    assert cutter.size <= 60
    assert cutter.pieces(range(5)) == list(MARKS)
    assert cutter.decode(cutter.encode("The NEWEST lowest")) == "the newest lowest"
    assert len(cutter.encode("the")) == 1
    for name, content in cutter.files("tokeniser").items():
        (tmp_path / name).write_bytes(content)
    again = load_tokeniser(tmp_path, "tokeniser", options)
    assert again.files("tokeniser") == cutter.files("tokeniser")
    assert train_tokeniser(options, lines).files("x") == cutter.files("x")


def test_what_is_no_vocabulary_is_refused() -> None:
    with pytest.raises(ValueError, match=r"it has no \[MASK\]"):
        WordPieceTokeniser(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a"], WordPieceOptions())
    with pytest.raises(ValueError, match="it holds the piece 'a' twice"):
        WordPieceTokeniser([*MARKS, "a", "a"], WordPieceOptions())
    with pytest.raises(ValueError, match="it does not hold a list of pieces"):
        read_wordpieces(b"{}")
    with pytest.raises(Fault, match="no text to train the tokeniser on"):
        train_tokeniser(TokeniserOptions(kind="wordpiece", vocabulary=60), [""])
