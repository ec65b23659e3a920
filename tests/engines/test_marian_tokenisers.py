"""Text tokenised as transformers does for a Marian model, and joined again."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marian_models import ENGLISH, PORTUGUESE, pieces, transformers, vocabulary, write_tokenisers

from regard.base.faults import Fault
from regard.data.tokenisers.marian import MarianTokeniser, MarianVocabulary
from regard.data.tokenisers.tokeniser import Tokeniser, TokeniserOptions, load_tokeniser, train_tokeniser

TEXTS = [
    *ENGLISH[:20],
    *PORTUGUESE[:20],
    "",
    "   ",
    "  spaces   before,\tbetween and behind  ",
    "ﬁne ½ Ⅳ ＡＢＣ",  # what NFKC changes
    "Привет, мир! 漢字 🦜",
    "▁low line",
    ">>por<< I love books.",
    ">>por<<I love books.",
    "I love >>por<< books.",
    ">> not a code <<",
    "line\u2028separator\u0000",
]


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("tokenisers")
    write_tokenisers(folder)
    with pytest.warns(UserWarning, match="sacremoses"):
        return transformers().MarianTokenizer.from_pretrained(folder)


def tokeniser(side: int, code: str = "") -> MarianTokeniser:
    names = list(vocabulary(pieces(0), pieces(1)))
    last = len(names) - 1
    return MarianTokeniser(pieces(side), MarianVocabulary(names, last, 1, last, 0, code))


@pytest.mark.parametrize("text", TEXTS)
def test_the_same_tokens_on_both_sides(theirs: Any, text: str) -> None:
    for side, name in enumerate(("text", "text_target")):
        mine = tokeniser(side)
        tokens, expected = [*mine.encode(text), mine.end], theirs(**{name: text}).input_ids
        if text.startswith(">> not"):  # an unknown code to transformers, text to us
            assert expected[0] == mine.unknown
            assert tokens[0] != mine.unknown
            expected = theirs(**{name: f" {text}"}).input_ids
        assert tokens == expected


@pytest.mark.parametrize("text", TEXTS)
def test_the_same_text_of_tokens(theirs: Any, text: str) -> None:
    tokens = [
        token for token in tokeniser(1).encode(text) if token != 1
    ]  # unknown pieces are shown here, dropped there
    shown = theirs.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    assert tokeniser(1).decode(tokens) == shown


def test_text_is_never_taken_for_a_special_token() -> None:
    mine = tokeniser(0)
    for text in ("</s>", "<pad>", "<unk>", "a</s>b"):
        assert not {mine.end, mine.pad} & set(mine.encode(text))
    silent = MarianVocabulary(["</s>", "<unk>", "<pad>"], 2, 1, 2, 0)
    assert set(MarianTokeniser(pieces(0), silent).encode("</s> <pad>")) == {1}


def test_a_code_is_one_token_and_may_be_given_once_for_all() -> None:
    plain, coded = tokeniser(0), tokeniser(0, ">>por<<")
    code, other = plain.encode(">>por<<")[0], plain.encode(">>rus<<")[0]
    assert plain.pieces([code, other]) == [">>por<<", ">>rus<<"]
    assert (
        coded.encode("I love books.") == [code, *plain.encode("I love books.")] == plain.encode(">>por<< I love books.")
    )
    assert coded.encode(">>rus<< I love books.")[0] == other  # a text's own code counts
    assert list(plain.vocabulary.codes) == [">>por<<", ">>rus<<"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, len(vocabulary(pieces(0), pieces(1))) - 1)))
def test_every_token_knows_its_word(tokens: list[int]) -> None:
    mine = tokeniser(1)
    words = mine.decode(tokens).split(" ")
    numbers = mine.words(tokens)
    assert all(
        number == -1 if token in (0, mine.pad) else 0 <= number < len(words)
        for token, number in zip(tokens, numbers, strict=True)
    )
    joined = [
        "".join(mine.decode([token]) for token, number in zip(tokens, numbers, strict=True) if number == place)
        for place in range(len(words))
    ]
    assert joined == words


def test_bytes_are_put_together(tmp_path: Path) -> None:
    """SentencePiece spells unknown characters as bytes here."""
    trained = train_tokeniser(TokeniserOptions(vocabulary=300), ["some text to cut"])
    model, names = trained.files("it")["it.model"], trained.pieces(range(trained.size))
    spelling = MarianTokeniser(model, MarianVocabulary(names, 0, 1, 2, 3))
    tokens = spelling.encode("some ção 漢")
    assert "<0xC3>" in spelling.pieces(tokens)
    assert spelling.decode(tokens) == "some ção 漢"
    assert spelling.decode([3]) == spelling.decode([]) == ""
    assert spelling.decode([1]) == "⁇"


def test_stored_and_loaded(tmp_path: Path) -> None:
    mine, options = tokeniser(0, ">>por<<"), TokeniserOptions(kind="marian", shared=False)
    assert isinstance(mine, Tokeniser)
    for name, content in mine.files("source").items():
        (tmp_path / name).write_bytes(content)
    again = load_tokeniser(tmp_path, "source", options)
    assert [again.encode(text) for text in TEXTS] == [mine.encode(text) for text in TEXTS]
    assert again.sample(ENGLISH[0], (1, 2)) == mine.encode(ENGLISH[0])
    last = mine.size - 1
    assert (again.pad, again.unknown, again.begin, again.end, again.size) == (last, 1, last, 0, last + 1)
    (tmp_path / "source.json").unlink()
    with pytest.raises(Fault, match=r"source\.json is missing"):
        load_tokeniser(tmp_path, "source", options)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[]", "it does not hold a vocabulary of a Marian model"),
        ("{", "damaged"),
        ("[" * 100_000, "damaged"),
        ('{"pieces": [], "pad": 0}', "it does not hold a vocabulary"),
        ('{"pieces": [1], "pad": 0, "unknown": 0, "begin": 0, "end": 0, "code": ""}', "it holds no list of pieces"),
        ('{"pieces": ["a", "a"], "pad": 0, "unknown": 0, "begin": 0, "end": 0, "code": ""}', "a piece twice"),
        ('{"pieces": ["a"], "pad": 0, "unknown": 1, "begin": 0, "end": 0, "code": ""}', "its unknown is 1, which is"),
        ('{"pieces": ["a"], "pad": 0, "unknown": 0, "begin": 0, "end": 0, "code": "b"}', "no language code 'b'"),
        ('{"pieces": ["a"], "pad": 0, "unknown": 0, "begin": 0, "end": 0, "code": []}', "no language code"),
        (
            '{"pieces": ["\\ud800"], "pad": 0, "unknown": 0, "begin": 0, "end": 0, "code": ""}',
            "a piece that is not a text",
        ),
    ],
)
def test_a_damaged_vocabulary_is_refused(tmp_path: Path, content: str, words: str) -> None:
    (tmp_path / "source.model").write_bytes(pieces(0))
    (tmp_path / "source.json").write_text(content)
    with pytest.raises(Fault, match=f"is damaged: .*{words}|is {words}"):
        load_tokeniser(tmp_path, "source", TokeniserOptions(kind="marian", shared=False))


def test_one_cannot_be_trained() -> None:
    with pytest.raises(Fault, match="A tokeniser of kind marian comes with an imported model and cannot be trained"):
        train_tokeniser(TokeniserOptions(kind="marian"), ["text"])
