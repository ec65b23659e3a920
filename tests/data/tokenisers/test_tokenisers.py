"""Tokenisers: nothing is lost needlessly, and impossible text is refused."""

import pickle
import subprocess
import sys
import unicodedata
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.data.tokenisers.tokeniser import Tokeniser, TokeniserOptions, load_tokeniser, train_tokeniser

LINES = [
    "I love books.",
    "Eu amo livros, e você?",
    "O guarda-chuva não está no avião.",
    "Я люблю книги и ещё раз книги.",
    "The teacher doesn't read the red newspaper.",
    "A professora não lê o jornal vermelho.",
] * 20
EXACT = {
    "unigram": TokeniserOptions(kind="unigram", vocabulary=400, sampling=0.3),
    "bpe": TokeniserOptions(kind="bpe", vocabulary=400, sampling=0.3),
    "characters": TokeniserOptions(kind="characters"),
    "bytes": TokeniserOptions(kind="bytes"),
}
OPTIONS = {**EXACT, "words": TokeniserOptions(kind="words")}
CASELESS = {
    f"caseless {kind}": options.model_copy(update={"shared": False, "ignore_case": True})
    for kind, options in OPTIONS.items()
}

# Letters of the lines, spaces and the tokenisers' own characters meet any other character.
texts = st.text(st.sampled_from("  abeoãñн.01▁▅\t\0\u0301\U0010ffff<s>") | st.characters(exclude_categories=["Cs"]))


@cache
def trained(kind: str) -> Tokeniser:
    return train_tokeniser((OPTIONS | CASELESS)[kind], LINES)


@pytest.mark.parametrize("kind", EXACT)
@settings(max_examples=200)
@given(texts)
def test_text_comes_back_exactly_however_it_was_cut(kind: str, text: str) -> None:
    tokeniser, normal = trained(kind), unicodedata.normalize("NFC", text)
    assert tokeniser.decode(tokeniser.encode(text)) == normal
    assert tokeniser.decode(tokeniser.sample(text, (1, 2, 3))) == normal


@pytest.mark.parametrize("kind", EXACT)
@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "  leading, double  and trailing ",
        "\0",
        "a\0b\x01\x7f",
        "line\nbreak\r\n\ttab",
        "▁ ▁▁ a▁b ▁",
        "\U0010ffff0\U0010ffff1▁0\U0010ffff",
        "▅ ⁇ \ufeff \u2028 \u00a0\u3000",
        "👩‍👩‍👧‍👦 👍🏽 🇧🇷",
        "a\u0323\u0301 q\u0307\u0323 각",
        "\u0378 \U000e1234 \ue000 \uffff \ufffd",
        "<s> </s> <unk> <pad> <0x41>",
        "日本語 العربية हिन्दी ไทย",
        "x" * 5000,
    ],
)
def test_odd_text_comes_back_exactly(kind: str, text: str) -> None:
    tokeniser = trained(kind)
    assert tokeniser.decode(tokeniser.encode(text)) == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize("kind", OPTIONS)
def test_equivalent_texts_have_the_same_tokens(kind: str) -> None:
    for line in LINES[:6]:
        assert trained(kind).encode(unicodedata.normalize("NFD", line)) == trained(kind).encode(line)


@pytest.mark.parametrize("kind", EXACT)
def test_lone_surrogates_become_the_replacement_character(kind: str) -> None:
    tokeniser = trained(kind)
    assert tokeniser.decode(tokeniser.encode("a\ud800 b\udfff")) == "a\ufffd b\ufffd"
    assert tokeniser.decode(tokeniser.sample("\udc80", (1,))) == "\ufffd"


@pytest.mark.parametrize("kind", OPTIONS)
def test_many_texts_are_encoded_as_each_is(kind: str) -> None:
    tokeniser, many = trained(kind), [*LINES, "", " ☃ ▁"]
    assert tokeniser.encode_all(many) == [tokeniser.encode(text) for text in many]
    assert tokeniser.encode_all([]) == []


@pytest.mark.parametrize("kind", OPTIONS | CASELESS)
def test_the_special_tokens_come_first_and_stand_for_no_text(kind: str) -> None:
    tokeniser = trained(kind)
    assert (tokeniser.pad, tokeniser.unknown, tokeniser.begin, tokeniser.end) == (0, 1, 2, 3)
    tokens = tokeniser.encode(LINES[0])
    assert min(tokens) >= 4
    assert max(tokens) < tokeniser.size
    framed = [tokeniser.begin, *tokens, tokeniser.end, tokeniser.pad]
    assert tokeniser.decode(framed) == (LINES[0].lower() if kind in CASELESS else LINES[0])
    assert tokeniser.words(framed) == [-1, *tokeniser.words(tokens), -1, -1]
    assert [tokeniser.pieces(framed)[place] for place in (0, -2, -1)] == ["<s>", "</s>", "<pad>"]


@pytest.mark.parametrize("kind", OPTIONS)
@given(texts)
def test_tokens_know_their_words(kind: str, text: str) -> None:
    tokeniser = trained(kind)
    tokens = tokeniser.encode(text)
    numbers, words = tokeniser.words(tokens), [word for word in tokeniser.decode(tokens).split(" ") if word]
    assert numbers == sorted(numbers)
    assert all(0 <= number < max(len(words), 1) for number in numbers)
    if kind != "words" and "▁" not in text and "\U0010ffff" not in text:
        for number, word in enumerate(words):
            word_tokens = [token for token, of in zip(tokens, numbers, strict=True) if of == number]
            assert tokeniser.decode(word_tokens).strip(" ") == word


def test_pieces_are_readable() -> None:
    def pieces(kind: str, text: str) -> list[str]:
        return trained(kind).pieces(trained(kind).encode(text))

    assert pieces("bytes", "A é") == ["A", "▁", "<0xC3>", "<0xA9>"]
    assert pieces("characters", "o ☃") == ["▁", "o", "▁", "<0xE2>", "<0x98>", "<0x83>"]
    assert pieces("words", "I love books.") == ["I", "love", "books", "."]
    for kind in ("unigram", "bpe"):
        assert "".join(pieces(kind, "I love books.")) == "▁I▁love▁books."


def test_a_space_belongs_to_the_word_after_it() -> None:
    def words(kind: str, text: str) -> list[int]:
        return trained(kind).words(trained(kind).encode(text))

    assert words("characters", "ab c  d ") == [0, 0, 0, 1, 1, 2, 2, 2, 2]
    assert words("bytes", "ab c  d ") == [0, 0, 1, 1, 2, 2, 2, 2]
    assert words("words", "I love books.") == [0, 1, 2, 2]


def test_bytes_are_the_tokens_from_4_on() -> None:
    assert trained("bytes").size == 260
    assert trained("bytes").encode("A\0é") == [4 + 65, 4, 4 + 0xC3, 4 + 0xA9]
    assert trained("bytes").decode([4 + 0xC3]) == "\ufffd"


@pytest.mark.parametrize("kind", OPTIONS)
def test_without_sampling_there_is_one_way_to_cut(kind: str) -> None:
    tokeniser = train_tokeniser(OPTIONS[kind].model_copy(update={"sampling": 0.0}), LINES)
    assert tokeniser.sample(LINES[0], (1,)) == tokeniser.sample(LINES[0], (2,)) == tokeniser.encode(LINES[0])


# Words


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("I don't love books, do I?", ["I", "don't", "love", "books", ",", "do", "I", "?"]),
        (
            "O guarda-chuva custa 10,50 (ou 1.000)!",
            ["O", "guarda-chuva", "custa", "10,50", "(", "ou", "1.000", ")", "!"],
        ),
        ("Ещё «раз»... snake_case", ["Ещё", "«", "раз", "»", "...", "snake_case"]),
        ('¿Qué? He said "no" – twice.', ["¿", "Qué", "?", "He", "said", '"', "no", '"', "–", "twice", "."]),
        ("हिन्दी में 👍👍 a/b", ["हिन्दी", "में", "👍👍", "a", "/", "b"]),
    ],
)
def test_words_and_punctuation_are_told_apart_and_put_back(text: str, tokens: list[str]) -> None:
    tokeniser = train_tokeniser(OPTIONS["words"], [text])
    assert tokeniser.pieces(tokeniser.encode(text)) == tokens
    assert tokeniser.decode(tokeniser.encode(text)) == text


def test_words_lose_spacing_and_unknown_words() -> None:
    tokeniser = trained("words")
    assert tokeniser.decode(tokeniser.encode("  I  love\nbooks .")) == "I love books."
    assert tokeniser.decode(tokeniser.encode("I love snow.")) == "I love ⁇."
    assert tokeniser.words(tokeniser.encode("I love snow.")) == [0, 1, 2, 2]


def test_the_most_frequent_words_are_kept() -> None:
    tokeniser = train_tokeniser(TokeniserOptions(kind="words", vocabulary=16), ["b a b c", *"defghijklmnop"])
    assert tokeniser.size == 16
    assert tokeniser.pieces(range(4, 16)) == ["b", *"acdefghijkl"]


# Case


@pytest.mark.parametrize("kind", CASELESS)
@given(texts)
def test_case_makes_no_difference_to_who_ignores_it(kind: str, text: str) -> None:
    tokeniser = trained(kind)
    tokens = tokeniser.encode(text)
    assert tokens == tokeniser.encode(text.lower()) == tokeniser.encode_all([text])[0]
    assert tokeniser.sample(text, (1, 2)) == tokeniser.sample(text.lower(), (1, 2))
    if kind != "caseless words":
        assert tokeniser.decode(tokens) == unicodedata.normalize("NFC", text.lower())


@pytest.mark.parametrize("kind", CASELESS)
def test_upper_case_is_known_to_who_ignores_it(kind: str) -> None:
    text = "EU NÃO LEIO OS LIVROS. ЕЩЁ РАЗ."
    caseless, strict = trained(kind), trained(kind.removeprefix("caseless "))
    assert caseless.encode(text) == caseless.encode(text.lower())
    assert strict.encode(text) != strict.encode(text.lower())
    if kind not in ("caseless bytes", "caseless words"):
        assert not any(piece.isupper() for piece in caseless.pieces(range(260, caseless.size)))


# Training


@pytest.mark.parametrize("kind", OPTIONS)
@pytest.mark.parametrize(
    "lines", [["I love books.", "Eu amo livros.", "Да."], ["a"], ["日本語"], ["\0\t▁▅\n."], ["<s>"]]
)
def test_a_tiny_corpus_is_enough(kind: str, lines: list[str]) -> None:
    tokeniser = train_tokeniser(TokeniserOptions(kind=kind), lines)
    assert tokeniser.size < 400
    if kind in EXACT:
        assert [tokeniser.decode(tokeniser.encode(text)) for text in [*lines, "☃ x"]] == [*lines, "☃ x"]


@pytest.mark.parametrize("kind", ["unigram", "bpe", "characters"])
@pytest.mark.parametrize(("vocabulary", "byte_fallback"), [(300, True), (16, False)])
def test_the_vocabulary_keeps_its_bound_however_many_characters_there_are(
    kind: str, vocabulary: int, byte_fallback: bool
) -> None:
    lines = ["".join(chr(0x4E00 + (7 * line + place) % 2000) for place in range(30)) for line in range(200)]
    options = TokeniserOptions(kind=kind, vocabulary=vocabulary, byte_fallback=byte_fallback)
    tokeniser = train_tokeniser(options, lines)
    assert 0.7 * vocabulary < tokeniser.size <= vocabulary
    assert (tokeniser.decode(tokeniser.encode(lines[0])) == lines[0]) == byte_fallback


@pytest.mark.parametrize("kind", ["unigram", "bpe", "characters"])
def test_a_line_without_end_does_not_end_the_training(kind: str) -> None:
    """SentencePiece's BPE ends the process at a word of 65,536 characters, and its unigram takes a minute."""
    assert train_tokeniser(TokeniserOptions(kind=kind), ["abcd" * 20_000]).size < 400


@pytest.mark.parametrize("kind", ["unigram", "bpe", "characters"])
def test_equal_lines_cost_no_time(kind: str) -> None:
    """SentencePiece's unigram takes hours over these."""
    assert train_tokeniser(TokeniserOptions(kind=kind), ["common words here"] * 50_000 + ["other words"]).size < 400


@pytest.mark.parametrize("kind", ["unigram", "bpe", "characters"])
def test_control_characters_and_the_rarest_become_no_pieces(kind: str) -> None:
    lines = ["common words here"] * 1000 + ["one☃snowman", "a\0b\tc▁d▅e\x85f"]
    tokeniser = train_tokeniser(TokeniserOptions(kind=kind), lines)
    pieces = tokeniser.pieces(range(260, tokeniser.size))
    assert not {*"\0\t▅☃\x85"} & {*"".join(pieces)}
    assert all("▁" not in piece[1:] for piece in pieces)


@pytest.mark.parametrize("kind", OPTIONS)
def test_training_twice_gives_the_same_bytes(kind: str) -> None:
    assert train_tokeniser(OPTIONS[kind], iter(LINES)).files("source") == trained(kind).files("source")


@pytest.mark.parametrize("kind", ["unigram", "bpe", "characters"])
def test_without_byte_fallback_unknown_characters_are_lost(kind: str) -> None:
    tokeniser = train_tokeniser(TokeniserOptions(kind=kind, vocabulary=200, byte_fallback=False), LINES)
    assert tokeniser.size <= 200
    assert tokeniser.decode(tokeniser.encode("I love ☃☃.")) == "I love ⁇."
    assert tokeniser.decode(tokeniser.encode("I ▁ I")) == "I ⁇ I"


@pytest.mark.parametrize("kind", ["unigram", "bpe", "characters", "words"])
@pytest.mark.parametrize("lines", [[], [""], ["", " \t "]])
def test_nothing_to_learn_from_is_refused(kind: str, lines: list[str]) -> None:
    with pytest.raises(Fault, match=r"^There is no text to train the tokeniser on; it needs at least one line"):
        train_tokeniser(TokeniserOptions(kind=kind), lines)


def test_training_says_where_it_stands() -> None:
    heard = []
    train_tokeniser(OPTIONS["characters"], ["a b"] * 20_000, lambda *what: heard.append(what))
    assert heard == [
        ("reading text for the tokeniser", 10_000, None),
        ("reading text for the tokeniser", 20_000, None),
        ("training the tokeniser", 0, 20_000),
        ("training the tokeniser", 20_000, 20_000),
    ]


# Storing


def stored(kind: str, folder: Path) -> None:
    for name, contents in trained(kind).files("source").items():
        (folder / name).write_bytes(contents)


@pytest.mark.parametrize("kind", OPTIONS | CASELESS)
def test_a_stored_tokeniser_is_the_same(kind: str, tmp_path: Path) -> None:
    stored(kind, tmp_path)
    loaded = load_tokeniser(tmp_path, "source", (OPTIONS | CASELESS)[kind])
    travelled = pickle.loads(pickle.dumps(trained(kind)))  # as to a worker process
    for tokeniser in (loaded, travelled):
        assert tokeniser.size == trained(kind).size
        assert isinstance(tokeniser, Tokeniser)
        assert tokeniser.encode_all(LINES) == trained(kind).encode_all(LINES)
        assert tokeniser.sample(LINES[2], (1, 2)) == trained(kind).sample(LINES[2], (1, 2))
        assert tokeniser.files("source") == trained(kind).files("source")


@pytest.mark.parametrize(("kind", "name"), [("bpe", "source.model"), ("words", "source.json")])
def test_a_missing_or_damaged_file_is_named(kind: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / name

    def refusal() -> str:
        with pytest.raises(Fault) as fault:
            load_tokeniser(tmp_path, "source", OPTIONS[kind])
        return str(fault.value)

    assert refusal() == f"The tokeniser {path} is missing; the model folder is incomplete."
    stored(kind, tmp_path)
    path.write_bytes(path.read_bytes()[:-10])
    assert refusal().startswith(f"The tokeniser {path} is damaged: ")
    path.write_bytes(b"")
    assert refusal().startswith(f"The tokeniser {path} is damaged: ")
    path.unlink()
    path.mkdir()
    assert refusal() == f"The tokeniser {path} cannot be read: Is a directory."


def test_a_foreign_sentencepiece_model_is_refused(tmp_path: Path) -> None:
    from sentencepiece import SentencePieceTrainer

    with (tmp_path / "source.model").open("wb") as file:
        SentencePieceTrainer.train(
            sentence_iterator=iter(LINES), model_writer=file, vocab_size=60, minloglevel=2, hard_vocab_limit=False
        )
    with pytest.raises(Fault, match=r"source\.model is damaged: it is not a model that regard trained\.$"):
        load_tokeniser(tmp_path, "source", TokeniserOptions())


@pytest.mark.parametrize("contents", ['["a"]', '{"words": "a"}', '{"words": ["a", 1]}', '{"words": ["a", "a"]}', "{"])
def test_a_list_of_words_that_is_none_is_refused(contents: str, tmp_path: Path) -> None:
    (tmp_path / "source.json").write_text(contents)
    with pytest.raises(Fault, match=r"source\.json is damaged: "):
        load_tokeniser(tmp_path, "source", OPTIONS["words"])


# Options


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"kind": "wrods"}, "kind is 'wrods', expected one of 'unigram', 'bpe', 'characters', 'bytes', 'words'"),
        (
            {"kind": "words", "sampling": 0.1},
            "sampling needs kind unigram or bpe, since words has only one way to split a text",
        ),
        ({"sampling": 1.5}, "sampling is 1.5, expected 1.0 or less"),
        ({"vocabulary": 8}, "vocabulary is 8, expected 16 or more"),
        ({"vocabulary": 299}, "vocabulary is 299, expected 300 or more with byte_fallback, whose bytes alone are 256"),
        ({"target_kind": "words"}, "target_kind needs shared = false, since one vocabulary has one kind"),
        ({"ignore_case": True}, "ignore_case needs shared = false, since the target keeps its case"),
        ({"target_kind": "word", "shared": False}, "target_kind is 'word', expected one of 'unigram', 'bpe', 'char"),
        (
            {"kind": "bytes", "target_kind": "words", "shared": False, "sampling": 0.1},
            "sampling needs kind unigram or bpe, since bytes has only one way to split a text",
        ),
        (
            {"kind": "words", "target_kind": "characters", "shared": False, "vocabulary": 100},
            "vocabulary is 100, expected 300 or more with byte_fallback",
        ),
    ],
)
def test_impossible_options_are_refused(table: dict[str, object], words: str) -> None:
    with pytest.raises(Fault) as fault:
        check(TokeniserOptions, table)
    assert words in str(fault.value)


def test_sides_have_their_own_options() -> None:
    one = TokeniserOptions(kind="bpe")
    assert one.by_side() == [one]
    two = TokeniserOptions(kind="characters", target_kind="words", shared=False, ignore_case=True, byte_fallback=False)
    source, target = two.by_side()
    assert (source.kind, source.ignore_case) == ("characters", True)
    assert (target.kind, target.ignore_case) == ("words", False)
    assert source.byte_fallback is target.byte_fallback is False
    assert [side.kind for side in TokeniserOptions(kind="bpe", shared=False).by_side()] == ["bpe", "bpe"]


def test_every_option_is_explained() -> None:
    for name, field in TokeniserOptions.model_fields.items():
        assert field.description, name
        assert field.description.endswith("."), name


def test_importing_the_tokenisers_loads_neither_torch_nor_sentencepiece() -> None:
    code = "import sys, regard.data.tokenisers.tokeniser; print({'torch', 'sentencepiece'} & {*sys.modules})"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "set()\n"
