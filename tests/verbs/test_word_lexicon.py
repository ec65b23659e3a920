"""Neighbours and analogies: answers by hand, other spellings of a word, and unknown words."""

import numpy as np
import pytest

from regard.base.faults import Fault
from regard.data.vectors.word_vectors import WordVectors
from regard.verbs.words.lexicon import Lexicon, NeighboursOfWord, SolvedAnalogy, largest

COMPASS = WordVectors(
    ["east", "northeast", "north", "west", "Österreich", "nowhere"],
    np.array([[2, 0], [1, 1], [0, 3], [-1, 0], [0.5, 2], [0, 0]], dtype=np.float32),
)


@pytest.fixture
def remarks() -> list[str]:
    return []


@pytest.fixture
def lexicon() -> Lexicon:
    return Lexicon("compass.txt", COMPASS)


def test_neighbours_are_the_nearest_by_angle(lexicon, remarks):
    east, west = lexicon.neighbours(["east", "west"], 2, remarks.append)
    assert (east.query, east.word) == ("east", "east")
    assert [word for word, _ in east.neighbours] == ["northeast", "Österreich"]
    np.testing.assert_allclose([cosine for _, cosine in east.neighbours], [0.5**0.5, 0.5 / 4.25**0.5], rtol=1e-6)
    # Of two equally near words, the more frequent comes first.
    assert [word for word, _ in west.neighbours] == ["north", "nowhere"]
    assert not remarks


def test_more_neighbours_than_words_are_all_of_them(lexicon, remarks):
    (east,) = lexicon.neighbours(["east"], 100, remarks.append)
    assert len(east.neighbours) == len(COMPASS) - 1
    assert east.neighbours[-1] == ("west", -1.0)


@pytest.mark.parametrize("seed", range(5))
def test_the_largest_are_the_first_of_a_stable_sort(seed):
    values = np.random.default_rng(seed).integers(0, 6, 40).astype(np.float32)  # this many are equal
    values[:seed] = np.nan
    for count in (1, 2, 7, 39, 40, 100):
        np.testing.assert_array_equal(largest(values, count), np.argsort(-values, kind="stable")[:count])


def test_an_analogy_is_the_sum_and_difference_of_unit_vectors(lexicon, remarks):
    # north - east + west is (-2, 1): west and north are nearest, but are part of the question
    answers = lexicon.analogy(("east", "north", "west"), 2, remarks.append)
    assert answers.words == ("east", "north", "west")
    assert [word for word, _ in answers.neighbours] == ["Österreich", "nowhere"]
    assert answers.neighbours[0][1] == pytest.approx((-2 * 0.5 + 1 * 2) / (5 * 4.25) ** 0.5)
    assert answers.as_dict()["word"] == "Österreich"
    single = Lexicon("two.txt", WordVectors(["a", "b"], np.eye(2, dtype=np.float32)))
    with pytest.raises(Fault, match=r"two\.txt has no other words than these"):
        single.analogy(("a", "b", "a"), 3, remarks.append)


def test_a_word_is_found_in_another_form_of_unicode_and_in_another_case(lexicon, remarks):
    (entry,) = lexicon.neighbours(["O\u0308sterreich"], 1, remarks.append)
    assert entry == NeighboursOfWord("O\u0308sterreich", "Österreich", [("north", pytest.approx(2 / 4.25**0.5))])
    assert not remarks
    (entry,) = lexicon.neighbours(["ÖSTERREICH"], 1, remarks.append)
    assert (entry.query, entry.word) == ("ÖSTERREICH", "Österreich")
    assert remarks == ["'ÖSTERREICH' is not in the vocabulary; 'Österreich' is used instead"]


def test_an_unknown_word_is_refused_with_those_spelled_like_it(lexicon, remarks):
    with pytest.raises(Fault) as fault:
        lexicon.neighbours(["east", "northest"], 2, remarks.append)
    sentence = "The word 'northest' is not among the 6 of compass.txt; did you mean 'northeast', 'north'?"
    assert str(fault.value) == sentence
    with pytest.raises(Fault, match=r"The word '北' is not among the 6 of compass\.txt\.$"):
        lexicon.neighbours(["北"], 2, remarks.append)
    with pytest.raises(Fault, match="The word '' is not among"):
        lexicon.neighbours(["  "], 2, remarks.append)


def test_a_word_that_is_unknown_may_be_composed(remarks):
    lexicon = Lexicon("fast", COMPASS, lambda word: np.array([0, 5]) if word.startswith("North") else None)
    (entry,) = lexicon.neighbours(["Northern"], 2, remarks.append)
    assert entry.neighbours[0] == ("north", 1.0)
    assert remarks == ["'Northern' is not in the vocabulary; its vector is composed from its character n-grams"]
    assert lexicon.analogy(("east", "north", "Northern"), 1, remarks.append) == SolvedAnalogy(
        ("east", "north", "Northern"), [("Österreich", pytest.approx((-1 * 0.5 + 2 * 2) / (5 * 4.25) ** 0.5))]
    )
