"""Sentences: where they end in several languages, with nothing lost between them."""

import unicodedata
from itertools import pairwise
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.base.faults import Fault
from regard.data.corpora.sentences import Sentence, rejoin, split_long, split_sentences

PIECES = [
    ". ",
    "! ",
    "? ",
    "。",
    "\n",
    "\r\n",
    "\u00a0",
    "\u3000",
    "; ",
    ", ",
    "\u0301",
    "\u200d",
    "Dr. ",
    "a",
    "B",
    "Я",
    "я",
    "我",
]
any_text = st.text(st.characters(exclude_categories=[]))  # halves of characters too
texts = st.one_of(any_text, st.lists(st.one_of(st.sampled_from(PIECES), any_text)).map("".join))
CONTROLS = ("Cc", "Cf", "Zl", "Zp")  # after which a mark is a separate character
languages = st.sampled_from(["en", "pt", "ru", "zh", "hi", "el", "tlh", ""])


def put_together(sentences: list[Sentence]) -> str:
    return "".join(sentence.before + sentence.text + sentence.after for sentence in sentences)


def words(text: str) -> int:
    return len(text.split())


def cut(text: str, longest: int, language: str = "en") -> list[str]:
    return [part.text for part in split_long(text, len, longest, language)]


# Where sentences end


@pytest.mark.parametrize(
    ("language", "marked"),
    [
        ("en", "Dr. Smith came at 3.15 p.m. on Monday.| He was late.| Why?| Nobody knows!"),
        ("en", "J. R. R. Tolkien lived in the U.S. for a week, i.e. not long.| It cost approx. 3 pounds."),
        ("en", 'He said: "Stop! Now."| Then he left.'),
        ("en", "Wait... what?| Mail a.b@example.org.| Thanks."),
        ("pt", "O Sr. Silva e a Sra. Souza chegaram.| A Profa. Ana, p. ex., não veio.| E o Dr. Lima?"),
        ("pt", "Moro na Av. Paulista, nº. 100.| Custa R$ 3.500,00 por mês."),
        ("pt", "— Você vem?| — Não sei..."),
        ("ru", "Это верно, т. е. почти верно.| Он живёт в г. Москве на ул. Ленина, д. 5."),
        ("ru", "А. С. Пушкин родился в 1799 г. в Москве.| Музей им. Пушкина закрыт."),
        ("ru", "— Ты идёшь? — спросил он.| — Да!"),
        ("de", "Das gilt z. B. für Hrn. Dr. Müller.| Er kommt am 3. Mai.| Gut!"),
        ("de", "„Kommst du?“ fragte sie.| Er schwieg."),
        ("fr", "M. Dupont et Me. Durand sont là.| Voilà !| Qui est-ce ?"),
        ("es", "La Dra. Pérez vive en EE. UU. desde las 3 p. m. de ayer.| ¿Quién es?| ¡Nadie!"),
        ("zh", "你好。|我叫李明！|你呢？"),
        ("ja", "今日は晴れです。|明日は雨でしょう。"),
        ("hi", "यह एक वाक्य है।| यह दूसरा है।"),
        ("ar", "هل أنت بخير؟| نعم، أنا بخير."),
        ("tlh", "Hello, Dr. Smith.| Goodbye!| 你好。|Yes?"),  # no rules are known for it
        ("", "Hello there.| Goodbye!"),
        ("en", "hello there.| how are you?| fine."),  # nothing begins with a capital
        ("en", "one line\n|and another"),
        ("en", "one paragraph\u2029|and another"),
    ],
)
def test_sentences_end_where_people_end_them(language: str, marked: str) -> None:
    sentences = split_sentences(marked.replace("|", ""), language)
    assert [sentence.text for sentence in sentences] == [text.strip() for text in marked.split("|")]


def test_the_language_decides() -> None:
    text = "Ποιος είναι; Ο Νίκος."
    assert [len(split_sentences(text, language)) for language in ("el", "en")] == [2, 1]


@pytest.mark.parametrize("language", ["pt-BR", "pt_BR", "PT", "pt-br"])
def test_the_first_half_of_a_code_is_the_language(language: str) -> None:
    text = "Fica na Pça. Central. Vamos."
    assert split_sentences(text, language) == split_sentences(text, "pt") != split_sentences(text, "en")


def test_white_space_stands_beside_the_sentences() -> None:
    assert split_sentences("\t Oi.  Tudo\u00a0bem?\r\nSim! ", "pt") == [
        Sentence("\t ", "Oi.", "  "),
        Sentence("", "Tudo\u00a0bem?", "\r\n"),
        Sentence("", "Sim!", " "),
    ]


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_a_text_of_nothing_is_one_empty_sentence(text: str) -> None:
    assert split_sentences(text, "en") == split_long(text, len, 5) == [Sentence(text, "", "")]


def test_odd_spaces_and_lone_surrogates_are_no_trouble() -> None:
    """A capital, a non-ASCII space and a full stop make sentencex fail, and so do surrogate halves."""
    text = "Plan B\u00a0. Ok\ud800. Then C\u3000."
    assert put_together(split_sentences(text, "en")) == text


# Laws


@given(texts, languages)
def test_sentences_put_together_are_the_text(text: str, language: str) -> None:
    sentences = split_sentences(text, language)
    assert put_together(sentences) == rejoin(sentences, [sentence.text for sentence in sentences]) == text
    check_parts(sentences, text)


@given(texts, st.integers(1, 12), languages)
def test_parts_of_what_is_too_long_fit_and_put_together_are_the_text(text: str, longest: int, language: str) -> None:
    try:
        parts = split_long(text, len, longest, language)
    except Fault:
        return  # one character of more code points than that
    assert put_together(parts) == text
    assert all(len(part.text) <= longest for part in parts)
    check_parts(parts, text)


def check_parts(sentences: list[Sentence], text: str) -> None:
    """Check that no part is empty unless the text is, has spaces at its ends, or begins inside a character."""
    assert all(sentence.text for sentence in sentences) or (len(sentences) == 1 and not text.strip())
    for sentence in sentences:
        assert not sentence.before.strip()
        assert not sentence.after.strip()
        assert not sentence.text[-1:].isspace()
    for one, two in pairwise(sentences):
        assert not two.before
        first, last = two.text[0], (one.text + one.after)[-1]
        assert not (unicodedata.combining(first) or first == "\u200d") or unicodedata.category(last) in CONTROLS


# Overlong text


def test_what_fits_is_left_whole() -> None:
    assert split_long(" One. Two. ", words, 2) == [Sentence(" ", "One. Two.", " ")]


@pytest.mark.parametrize(
    ("text", "longest", "parts"),
    [
        ("One, two; three. Four five, six.", 20, ["One, two; three.", "Four five, six."]),  # sentences first
        ("One, two three; four five, six seven.", 25, ["One, two three;", "four five, six seven."]),  # then clauses
        ("One two three, four five six seven.", 25, ["One two three,", "four five six seven."]),  # then commas
        ("One two three four five six seven.", 25, ["One two three four", "five six seven."]),  # then white space
        ("Wait till 10:30 or for 1,000 years.", 22, ["Wait till 10:30", "or for 1,000 years."]),
        ("Dr. Ana Silva and Dr. Eva Lima", 20, ["Dr. Ana Silva", "and Dr. Eva Lima"]),  # no sentence ends here
        ("abcdefgh", 4, ["abcd", "efgh"]),  # inside a word only if nothing else can be cut
        ("a bcdefghi", 4, ["a", "bcde", "fghi"]),
        ("今天天气很好，我们去公园玩", 8, ["今天天气很好，", "我们去公园玩"]),
        ("我们的iPhone很好用啊", 9, ["我们的iPhone", "很好用啊"]),  # not within the word in Latin letters
        ("我们今天好。」我们明天好", 8, ["我们今天好。」", "我们明天好"]),  # no part begins with closing marks
        ("ខ្មែរ\u200bខ្មែរ", 6, ["ខ្មែរ\u200b", "ខ្មែរ"]),
    ],
)
def test_the_best_place_is_cut_at(text: str, longest: int, parts: list[str]) -> None:
    assert cut(text, longest) == parts


def test_the_language_tells_sentences_from_abbreviations() -> None:
    text = "Fica na Pça. Central e bem longe daqui"
    assert cut(text, 30, "en") == ["Fica na Pça.", "Central e bem longe daqui"]
    assert cut(text, 30, "pt") == ["Fica na Pça. Central", "e bem longe daqui"]


def test_the_measure_decides() -> None:
    assert [part.text for part in split_long("a bb ccc dddd", words, 2)] == ["a bb", "ccc dddd"]
    assert [part.text for part in split_long("a bb ccc dddd", len, 4)] == ["a bb", "ccc", "dddd"]


@given(st.lists(st.integers(1, 6), min_size=1, max_size=300), st.integers(20, 60))
def test_parts_are_even(lengths: list[int], longest: int) -> None:
    """There is no tiny remainder, and at most twice as many parts as necessary."""
    text = " ".join("x" * length for length in lengths)
    parts = cut(text, longest)
    assert len(parts) == 1 or min(map(len, parts)) >= longest / 4
    assert len(parts) <= 2 * ceil(len(text) / longest)


@pytest.mark.parametrize(
    "character", ["e\u0301\u0302", "🇧🇷", "👨\u200d👩\u200d👧", "क्षि", "각", "ខ្មែ", "กำ"], ids=ascii
)
def test_characters_are_never_cut(character: str) -> None:
    assert cut(character * 4, len(character)) == [character] * 4


@pytest.mark.one_in(4)
@pytest.mark.parametrize("letters", ["abcdefghij", "абвгдежзик", "日本語中文字漢界人大", "a\u0301\u0302e\u0301"])
@pytest.mark.parametrize("length", [5_000, 50_000])
def test_a_word_without_end_is_cut_into_parts_as_long_as_words(letters: str, length: int) -> None:
    text = (letters * length)[:length]
    sizes = [len(part.text.encode()) for part in split_long(text, lambda part: len(part.encode()), 257)]
    assert max(sizes) <= 32
    assert len(sizes) < len(text.encode()) / 8  # and no shorter than need be


def test_letters_that_the_model_knows_are_read_in_long_parts() -> None:
    assert max(map(len, cut("日本語" * 500, 257))) > 128
    assert max(map(len, cut("one two " * 500, 257))) > 128


@pytest.mark.parametrize(("longest", "what"), [(2, "'e\u0301\u0302' alone has 3"), (0, "'a' alone has 1")])
def test_what_cannot_fit_is_refused(longest: int, what: str) -> None:
    with pytest.raises(Fault, match=rf"^A text cannot be cut into parts of at most {longest} tokens: {what}\.$"):
        cut("abc e\u0301\u0302", longest)


# Translations


@pytest.mark.parametrize(
    ("language", "text", "translations", "whole"),
    [
        ("en", " Hi.  How are you?\n", ["Oi.", "Tudo bem?"], " Oi.  Tudo bem?\n"),
        ("zh", "你好。我叫李明！", ["Hello.", "I am Li!"], "Hello. I am Li!"),
        ("zh", "“好！”“不好！”", ["“Good!”", "“Bad!”"], "“Good!” “Bad!”"),
        ("en", "Hello. I am Li!", ["你好。", "我叫李明！"], "你好。我叫李明！"),
        ("en", "Hello.\nI am Li!", ["你好。", "我叫李明！"], "你好。\n我叫李明！"),
        ("en", "Hello. I am Li!", ["안녕하세요.", "저는 리입니다!"], "안녕하세요. 저는 리입니다!"),
        ("en", "Hello. I am Li!", ["สวัสดี", "ฉันชื่อหลี่"], "สวัสดี ฉันชื่อหลี่"),
        ("en", "", [""], ""),
    ],
)
def test_translations_take_the_white_space_of_the_sentences(
    language: str, text: str, translations: list[str], whole: str
) -> None:
    assert rejoin(split_sentences(text, language), translations) == whole


def test_parts_of_a_word_are_joined_as_they_were() -> None:
    parts = split_long("abcdefgh", len, 4)
    assert rejoin(parts, [part.text.upper() for part in parts]) == "ABCDEFGH"


def test_every_sentence_needs_a_translation() -> None:
    with pytest.raises(ValueError):
        rejoin(split_sentences("One. Two.", "en"), ["Um."])
