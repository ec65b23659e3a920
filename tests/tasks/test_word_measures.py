"""Analogies and word similarity: answers by hand, and the same figures as gensim's."""

import numpy as np
import pytest

from regard.data.vectors.questions import JudgedPair, Section
from regard.data.vectors.word_vectors import WordVectors
from regard.tasks.words import measures
from regard.tasks.words.measures import (
    AnalogyScore,
    add_scores,
    compare_similarities,
    mean_ranks,
    solve_analogies,
    spearman,
)

ROYAL = WordVectors(
    ["king", "queen", "man", "woman", "KING", "apple"],
    np.array([[1, 0, 1], [1, 1, 0], [0, 0, 1], [0, 1, 0], [7, 10, -3], [-1, 0, 0]], dtype=np.float32),
)


def test_an_analogy_is_solved_by_the_nearest_word_that_was_not_asked_with():
    # king - man + woman is (0.7, 1, -0.3), nearest to KING, which is king in another case.
    section = Section("royal", [("man", "king", "woman", "queen"), ("man", "woman", "king", "apple")])
    assert solve_analogies(ROYAL, [section]) == [AnalogyScore("royal", solved=1, tried=2, asked=2)]
    strict = solve_analogies(ROYAL, [section], any_case=False)
    assert strict == [AnalogyScore("royal", solved=0, tried=2, asked=2)]


def test_unknown_words_are_left_out_and_counted():
    solvable, unknown = ("man", "king", "woman", "queen"), ("man", "king", "woman", "duchess")
    scores = solve_analogies(ROYAL, [Section("one", [solvable, unknown]), Section("none", [unknown])])
    assert scores == [AnalogyScore("one", 1, 1, 2), AnalogyScore("none", 0, 0, 1)]
    assert np.isnan(scores[1].accuracy)
    total = add_scores(scores, "total")
    assert total == AnalogyScore("total", solved=1, tried=1, asked=3)
    assert total.accuracy == 1
    assert total.coverage == 1 / 3
    few = solve_analogies(ROYAL, [Section("one", [solvable])], vocabulary=3)
    assert few == [AnalogyScore("one", 0, 0, 1)]


def test_ranks_of_equal_values_are_shared():
    assert mean_ranks(np.array([7, 1, 7, 9, 7])).tolist() == [3, 1, 3, 5, 3]


def test_spearman_is_that_on_paper():
    assert spearman(np.array([1, 2, 3]), np.array([1, 10, 100])) == pytest.approx(1)
    assert spearman(np.array([1, 2, 3]), np.array([3, 2, 1])) == pytest.approx(-1)
    # ranks 1, 2.5, 2.5, 4 and 1, 2, 3, 4: sums of products 4.5, of squares 4.5 and 5
    assert spearman(np.array([1, 5, 5, 9]), np.array([1, 2, 3, 4])) == pytest.approx(4.5 / (4.5 * 5) ** 0.5)
    assert np.isnan(spearman(np.array([1.0]), np.array([1.0])))
    assert np.isnan(spearman(np.array([1, 1, 1]), np.array([1, 2, 3])))


def test_likeness_is_compared_over_the_pairs_that_are_known():
    pairs = [
        JudgedPair("man", "king", 7),  # cosine 0.71
        JudgedPair("Woman", "man", 1),  # cosine 0
        JudgedPair("king", "apple", 0),  # cosine -0.71
        JudgedPair("man", "duchess", 9),
    ]
    score = compare_similarities(ROYAL, pairs)
    assert (score.spearman, score.compared, score.asked) == (pytest.approx(1), 3, 4)
    assert score.coverage == 0.75
    assert compare_similarities(ROYAL, pairs, any_case=False).compared == 2
    comparison = compare_similarities(
        ROYAL, pairs, compose=lambda word: np.array([0, 0, -1]) if word == "duchess" else None
    )
    # cosines 0.71, 0, -0.71, -1 against judgements 7, 1, 0, 9: ranks 4 3 2 1 against 3 2 1 4
    assert (comparison.spearman, comparison.compared) == (pytest.approx(-0.2), 4)


def test_words_with_themselves_share_their_rank():
    random = np.random.default_rng(9)
    vectors = WordVectors([f"w{number}" for number in range(50)], random.standard_normal((50, 30)).astype(np.float32))
    pairs = [JudgedPair(word, word, number) for number, word in enumerate(vectors.words)]
    assert np.isnan(compare_similarities(vectors, pairs).spearman)


@pytest.fixture(scope="module")
def drawn() -> WordVectors:
    """Return three hundred random words around a few directions, some twice in different case."""
    random = np.random.default_rng(5)
    words = [f"w{number}" for number in range(280)] + [f"W{number}" for number in range(0, 60, 3)]
    centres = random.standard_normal((12, 10))
    matrix = centres[random.integers(0, 12, 300)] + 0.4 * random.standard_normal((300, 10))
    return WordVectors(words, matrix.astype(np.float32))


def draw_analogies(vectors: WordVectors, count: int) -> list[tuple[str, str, str, str]]:
    """Return analogies of which about half are solved: the fourth word is often the nearest, found one by one."""
    random, units = np.random.default_rng(6), vectors.units(slice(None))
    analogies = []
    for _ in range(count):
        a, b, c, d = random.integers(0, 280, 4).tolist()
        scores = units @ (units[b] - units[a] + units[c])
        order = [row for row in np.argsort(-scores).tolist() if row not in (a, b, c)]
        d = order[0] if random.random() < 0.6 else d
        analogies.append(tuple(vectors.words[row] for row in (a, b, c, d)))
    return [*analogies, ("w1", "w2", "w3", "nowhere")]


def test_the_size_of_the_pieces_changes_nothing(drawn, monkeypatch):
    sections = [Section("all", draw_analogies(drawn, 40))]
    whole = solve_analogies(drawn, sections)
    monkeypatch.setattr(measures, "_SCORES_AT_ONCE", 1000)
    assert solve_analogies(drawn, sections) == whole


# gensim leaves its files for the collector to close, and Python warns about that.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("any_case", [True, False])
@pytest.mark.parametrize("vocabulary", [300_000, 250])
def test_figures_are_those_of_gensim(tmp_path, drawn, any_case, vocabulary):
    from gensim.models import KeyedVectors

    keyed = KeyedVectors(drawn.width)
    keyed.add_vectors(drawn.words, drawn.matrix)
    sections = [Section("one", draw_analogies(drawn, 60)), Section("two", draw_analogies(drawn, 90)[60:])]
    lines = [
        f": {section.name}\n" + "".join(f"{' '.join(analogy)}\n" for analogy in section.analogies)
        for section in sections
    ]
    (tmp_path / "analogies.txt").write_text("".join(lines))
    _, theirs = keyed.evaluate_word_analogies(
        str(tmp_path / "analogies.txt"), restrict_vocab=vocabulary, case_insensitive=any_case
    )
    ours = solve_analogies(drawn, sections, vocabulary, any_case)
    counted = [
        (len(section["correct"]), len(section["correct"]) + len(section["incorrect"])) for section in theirs[:-1]
    ]
    assert [(section.solved, section.tried) for section in ours] == counted
    assert 0 < ours[0].solved < ours[0].tried

    random = np.random.default_rng(8)
    pairs = [
        JudgedPair(*(drawn.words[row] for row in random.integers(0, 300, 2)), float(random.integers(0, 10)))
        for _ in range(80)
    ]
    (tmp_path / "pairs.tsv").write_text("".join(f"{pair.first}\t{pair.second}\t{pair.judgement}\n" for pair in pairs))
    _, correlation, unknown = keyed.evaluate_word_pairs(
        str(tmp_path / "pairs.tsv"), restrict_vocab=vocabulary, case_insensitive=any_case
    )
    comparison = compare_similarities(drawn, pairs, vocabulary, any_case)
    assert comparison.spearman == pytest.approx(correlation[0], abs=1e-12)
    assert 100 * (1 - comparison.coverage) == pytest.approx(unknown)
