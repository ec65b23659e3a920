"""Lines assembled from their sentences."""

import pytest

from regard.base.faults import Fault
from regard.data.corpora.sentences import Sentence
from regard.engines.translated import Cutting, Translated, join_sentences, line_key


def words(text: str) -> int:
    return len(text.split())


def translated(text: str, score: float, links: list[tuple[int, int]]) -> Translated:
    scores = [score] * len(text.split()) + [score - 0.5]
    return Translated(text, score, text.split(), scores, [(text, score), (text.upper(), score - 1)], lambda: links)


def test_a_line_is_cut_only_as_asked() -> None:
    line = " One two. Three four five!  Six "
    assert Cutting("en", words, 2)(line) == [Sentence("", line, "")]
    by_sentence = Cutting("en", words, 2, sentences=True)(line)
    assert [part.text for part in by_sentence] == ["One two.", "Three four five!", "Six"]
    fitting = Cutting("en", words, 2, sentences=True, long_ones="split")(line)
    assert all(words(part.text) <= 2 for part in fitting)
    for parts in (by_sentence, fitting, Cutting("en", words, 2, long_ones="split")(line)):
        assert "".join(part.before + part.text + part.after for part in parts) == line


def test_a_long_line_is_truncated_to_the_words_that_fit() -> None:
    cutting = Cutting("en", words, 2, long_ones="truncate")
    assert cutting("One two three. Four.") == [Sentence("", "One two", "")]
    assert cutting("One two") == [Sentence("", "One two", "")]
    with pytest.raises(Fault, match="cannot be truncated to 2 tokens: 'Onetwo three' begins with a longer word"):
        Cutting("en", len, 2, long_ones="truncate")("Onetwo three")


def test_a_short_line_stays_whole_where_only_long_ones_are_cut() -> None:
    assert Cutting("en", words, 8, long_ones="split")("One. Two. Three.") == [Sentence("", "One. Two. Three.", "")]


@pytest.mark.parametrize(("text", "long"), [("a b c", False), ("a b c d", True), ("é " * 3, False), ("é " * 4, True)])
def test_a_text_is_long_if_it_has_more_tokens_than_the_model_has_met(text: str, long: bool) -> None:
    assert Cutting("en", words, 3).is_long(text) is long
    assert not Cutting("en", words, 100).is_long(text)


def test_the_parts_become_one_translation() -> None:
    sentences = [Sentence("", "a b", "  "), Sentence("", "c", "\n")]
    whole = join_sentences(sentences, [translated("x y z", -1.0, [(0, 1), (1, 2)]), translated("w", -2.0, [(0, 0)])])
    assert whole.text == "x y z  w\n"
    assert (whole.score, whole.token_scores) == (-3.0, [-1.0, -1.0, -2.5, -2.0, -2.5])
    assert whole.tokens == ["x", "y", "z", "w"]
    assert whole.n_best == [("x y z  w\n", -3.0), ("X Y Z  W\n", -5.0)]
    assert whole.alignment == [(0, 1), (1, 2), (2, 3)]


@pytest.mark.parametrize(
    ("sentences", "texts", "line", "alignment"),
    [
        ([("a b", " "), ("c d", "")], ("w x", "y z"), "w x y z", [(0, 0), (1, 1), (2, 2), (3, 3)]),
        ([("a b", "  "), ("c d", "")], ("w x", "y z"), "w x  y z", [(0, 0), (1, 1), (2, 2), (3, 3)]),
        ([("a b", "\n"), ("c d", "")], ("w x", "y z"), "w x\ny z", [(0, 0), (1, 1), (2, 2), (3, 3)]),
        ([("a b", "\n\t "), ("c d", " ")], ("w x", "y z"), "w x\n\t y z ", [(0, 0), (1, 1), (2, 2), (3, 3)]),
        # Text joined without white space is one word: 本。猫。 of two sentences, and 猫 is its second half.
        ([("a b", " "), ("c d", "")], ("本。", "猫。"), "本。猫。", [(0, 0), (2, 0)]),
        ([("本。", ""), ("猫。", "")], ("w x", "y z"), "w x y z", [(0, 0), (0, 2)]),
        ([("本。", ""), ("猫。", "")], ("读。", "猫。"), "读。猫。", [(0, 0)]),
        ([("本 a。", ""), ("猫。", " "), ("犬。", "")], ("w x", "y", "z"), "w x y z", [(0, 0), (1, 1), (1, 2), (2, 3)]),
    ],
)
def test_an_alignment_counts_the_words_of_the_whole_line(
    sentences: list[tuple[str, str]], texts: tuple[str, ...], line: str, alignment: list[tuple[int, int]]
) -> None:
    parts = [
        translated(text, -1.0, [(word, word) for word in range(min(words(read), words(text)))])
        for (read, _), text in zip(sentences, texts, strict=True)
    ]
    whole = join_sentences([Sentence("", text, after) for text, after in sentences], parts)
    assert whole.text == line
    assert whole.alignment == alignment
    assert all(target < words(line) for _, target in whole.alignment)


def test_a_single_part_keeps_the_white_space_around_it() -> None:
    part = translated("x", -1.0, [])
    assert join_sentences([Sentence("", "a", "")], [part]) == part
    assert join_sentences([Sentence(" ", "a", "\t")], [part]).text == " x\t"


def test_a_sentence_without_tokens_loses_no_probability() -> None:
    nothing = Translated("", -3.0, [], [-3.0], [("", -3.0)], list)
    whole = join_sentences([Sentence("", "a", " "), Sentence("", "b", "")], [nothing, translated("x", -1.0, [])])
    assert whole.token_scores == [-1.0, -4.5]
    unscored = Translated("", -3.0, [], [], [("", -3.0)], list)
    assert join_sentences([Sentence("", "a", " "), Sentence("", "b", "")], [unscored, nothing]).token_scores == []


def test_no_two_parts_share_a_key() -> None:
    assert len({line_key(line, part) for line in range(50) for part in range(50)}) == 2500
    with pytest.raises(Fault, match="Sampling supports at most"):
        line_key(2**40, 0)
