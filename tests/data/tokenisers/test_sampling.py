"""Subword sampling: the right distributions, decided by the key alone."""

import json
import math
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import chain, pairwise, product, repeat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.tokenisers.random_pieces import Chance, DropoutSampler, Sampler, UnigramSampler, chances
from regard.data.tokenisers.subwords import SubwordTokeniser
from regard.data.tokenisers.tokeniser import TokeniserOptions, train_tokeniser

SUBJECTS = ["I", "The old teacher", "A menina", "O professor", "Мальчик"]
VERBS = ["reads", "loves", "não lê", "comprou", "читает", "recommended"]
OBJECTS = ["books", "the newspaper", "livros velhos", "um guarda-chuva", "книгу"]
LINES = [f"{subject} {verb} {thing}." for subject, verb, thing in product(SUBJECTS, VERBS, OBJECTS)]


def trained(kind: str, sampling: float) -> SubwordTokeniser:
    tokeniser = train_tokeniser(TokeniserOptions(kind=kind, vocabulary=420, sampling=sampling), LINES)
    assert isinstance(tokeniser, SubwordTokeniser)
    return tokeniser


@pytest.fixture(scope="module", params=[("unigram", 0.3), ("bpe", 0.2)], ids=["unigram", "bpe"])
def tokeniser(request: pytest.FixtureRequest) -> SubwordTokeniser:
    return trained(*request.param)


def frequencies(sampler: Sampler, word: str, draws: int) -> dict[str, float]:
    counts = Counter(" ".join(sampler.cut([word], chances((7, draw)))) for draw in range(draws))
    return {cutting: count / draws for cutting, count in counts.items()}


def agree(found: dict[str, float], expected: dict[str, float], draws: int) -> bool:
    """Check that each frequency is within five standard deviations of its probability."""
    assert math.isclose(sum(expected.values()), 1)
    return found.keys() <= expected.keys() and all(
        abs(found.get(cutting, 0) - chance) <= 5 * math.sqrt(chance * (1 - chance) / draws)
        for cutting, chance in expected.items()
    )


def test_the_key_alone_decides_the_chances() -> None:
    def first(*key: int) -> list[float]:
        chance = chances(key)
        return [chance() for _ in range(3)]

    assert first(1, 2, 3) == first(1, 2, 3)
    assert len({tuple(first(*key)) for key in [(1, 2, 3), (3, 2, 1), (1, 23), (12, 3), (123,), (1, 2, 3, 0), ()]}) == 7
    assert all(0 <= number < 1 for number in first(-5, 2**80))


@pytest.mark.parametrize(("alpha", "whole"), [(1.0, 0.2 / 0.35), (0.5, 0.2**0.5 / (0.2**0.5 + 0.15**0.5))])
def test_unigram_draws_a_cutting_by_its_probability_to_the_power_of_alpha(alpha: float, whole: float) -> None:
    scores = {"a": math.log(0.5), "b": math.log(0.3), "ab": math.log(0.2)}
    shares = frequencies(UnigramSampler(scores, alpha), "ab", 20_000)
    assert agree(shares, {"ab": whole, "a b": 1 - whole}, 20_000)
    assert not agree(shares, {"ab": whole + 0.05, "a b": 0.95 - whole}, 20_000)


def test_unigram_draws_from_all_cuttings_of_a_word() -> None:
    scores = {"a": -1.0, "b": -1.5, "n": -2.0, "an": -1.2, "ana": -2.1, "na": -1.7, "ban": -2.5, "banana": -4.0}
    masses = {}
    for bars in product([False, True], repeat=5):
        cutting = "b" + "".join(" " * bar + letter for bar, letter in zip(bars, "anana", strict=True))
        if all(piece in scores for piece in cutting.split()):
            masses[cutting] = math.exp(0.7 * sum(scores[piece] for piece in cutting.split()))
    expected = {cutting: mass / sum(masses.values()) for cutting, mass in masses.items()}
    assert len(expected) > 10
    assert agree(frequencies(UnigramSampler(scores, 0.7), "banana", 20_000), expected, 20_000)


def test_unigram_leaves_unknown_characters_alone_and_bears_long_words() -> None:
    sampler = UnigramSampler({"a": -50.0, "aa": -90.0}, 1.0)
    pieces = sampler.cut(["☃a☃" + "a" * 5000], chances((1,)))
    assert pieces[:3] == ["☃", "a", "☃"]
    assert {*pieces[3:]} == {"a", "aa"}
    assert "".join(pieces[3:]) == "a" * 5000


def test_unigram_with_a_large_alpha_finds_what_sentencepiece_finds() -> None:
    tokeniser = trained("unigram", 1.0)
    tokeniser._sampler = UnigramSampler(scores(tokeniser), 1e6)
    assert [tokeniser.sample(line, (1,)) for line in LINES] == tokeniser.encode_all(LINES)


def scores(tokeniser: SubwordTokeniser) -> dict[str, float]:
    return {piece: tokeniser._processor.get_score(token) for piece, token in tokeniser._tokens.items()}


def dropout_as_published(ranks: dict[str, float], dropout: float, word: str, chance: Chance) -> list[str]:
    """Apply algorithm 1 of the paper, drawing for the merges in the order of their rank."""
    pieces = list(word)
    while True:
        pairs = enumerate(pairwise(pieces))
        merges = sorted((ranks[left + right], place) for place, (left, right) in pairs if left + right in ranks)
        place = next((place for _, place in merges if chance() >= dropout), None)
        if place is None:
            return pieces
        pieces[place : place + 2] = [pieces[place] + pieces[place + 1]]


@given(st.text("aab☃", max_size=12), st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]), st.integers())
def test_dropout_is_the_published_algorithm(word: str, dropout: float, key: int) -> None:
    ranks = {"ab": 0, "aa": 1, "ba": 2, "aaaa": 3, "aba": 4, "aaa": 5, "a": 6, "b": 7}
    expected = dropout_as_published(ranks, dropout, word, chances((key,)))
    assert DropoutSampler(ranks, dropout).cut([word], chances((key,))) == expected


@pytest.mark.parametrize("dropout", [0.0, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("room", [0, 5, 10_000])
def test_what_is_remembered_changes_nothing(monkeypatch: pytest.MonkeyPatch, dropout: float, room: int) -> None:
    """One text with words of all kinds, drawn from one stream: cached, new, without room, too long for the cache."""
    monkeypatch.setattr("regard.data.tokenisers.random_pieces._REMEMBERED_WAYS", room)
    ranks = {"ab": 0, "aa": 1, "ba": 2, "aaaa": 3, "aba": 4, "aaa": 5, "a": 6, "b": 7}
    words = ["abaab", "", "a", "aaaaaa", "bab☃", "ab" * 30, "abaab", "aaaaaa"]
    sampler = DropoutSampler(ranks, dropout)
    for key in range(30):
        chance = chances((key,))
        expected = [*chain.from_iterable(dropout_as_published(ranks, dropout, word, chance) for word in words)]
        assert sampler.cut(words, chances((key,))) == expected
    assert room == 0 or 0 <= sampler._room < room


def test_a_merge_whose_left_piece_is_gone_is_never_offered_again() -> None:
    """The first aa is skipped, the second made, and ba absorbs the first a; the first aa is no longer possible."""
    ranks = {"ba": 0, "aa": 1, "baaa": 2}
    chances = [0.0, 0.0, 0.9, 0.9, 0.0, 0.9, 0.9]  # left out: ba, first aa; made: second aa, ba; left out: baaa
    assert dropout_as_published(ranks, 0.5, "baaa", iter(chances).__next__) == ["ba", "aa"]
    assert DropoutSampler(ranks, 0.5).cut(["baaa"], chain(chances, repeat(0.9)).__next__) == ["ba", "aa"]


def test_dropout_has_the_probabilities_counted_on_paper() -> None:
    """In a b c either ab survives, or bc survives without ab, or neither."""
    shares = frequencies(DropoutSampler({"ab": 0, "bc": 1}, 0.3), "abc", 20_000)
    assert agree(shares, {"ab c": 0.7, "a bc": 0.3 * 0.7, "a b c": 0.3 * 0.3}, 20_000)


def test_dropout_of_one_leaves_characters() -> None:
    assert DropoutSampler({"ab": 0}, 1.0).cut(["abab"], chances((1,))) == ["a", "b", "a", "b"]


def test_dropout_bears_long_words() -> None:
    pieces = DropoutSampler({"ab": 0, "abab": 1}, 0.9).cut(["ab" * 5000], chances((1,)))
    assert "".join(pieces) == "ab" * 5000
    assert {*pieces} == {"ab", "abab"}  # among so many merges one always survives, so every ab is found in time


@cache
def merging_everything() -> SubwordTokeniser:
    tokeniser = trained("bpe", 0.5)
    tokeniser._sampler = DropoutSampler({piece: -score for piece, score in scores(tokeniser).items()}, 0.0)
    return tokeniser


@given(st.text("Iabehikloprstvw áãçéнигучт.-☃ ", max_size=40) | st.sampled_from(LINES))
def test_without_dropout_merging_gives_what_sentencepiece_gives(text: str) -> None:
    assert merging_everything().sample(text, (1,)) == merging_everything().encode(text)


def test_a_text_is_cut_as_its_words_are(tokeniser: SubwordTokeniser) -> None:
    """This allows sampling word by word."""
    for text in [*LINES, " ", "a  b ", "  O   professor  ", "\tum\n livro", "☃ ☃☃"]:
        words = [tokeniser.encode(word) if word else tokeniser.encode(" ")[:1] for word in text.split(" ")]
        assert tokeniser.encode(text) == [*chain(*words)]


def test_the_same_key_gives_the_same_tokens_and_another_others(tokeniser: SubwordTokeniser) -> None:
    first, again = ([tokeniser.sample(line, (3, 1, n)) for n, line in enumerate(LINES)] for _ in range(2))
    later = [tokeniser.sample(line, (3, 2, n)) for n, line in enumerate(LINES)]
    assert first == again
    assert first != later
    assert first != tokeniser.encode_all(LINES)
    assert [*map(tokeniser.decode, first)] == [*map(tokeniser.decode, later)] == LINES


def test_threads_and_other_processes_sample_the_same(tokeniser: SubwordTokeniser, tmp_path: Path) -> None:
    def sample(number: int) -> list[int]:
        return tokeniser.sample(LINES[number], (5, 0, number))

    expected = [sample(number) for number in range(len(LINES))]
    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(sample, reversed(range(len(LINES))))] == expected[::-1]

    for name, contents in tokeniser.files("source").items():
        (tmp_path / name).write_bytes(contents)
    (tmp_path / "lines.json").write_text(json.dumps(LINES))
    there = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, tmp_path, tokeniser._kind, str(tokeniser._sampling)],
        capture_output=True,
        check=True,
    )
    assert json.loads(there.stdout) == expected


ELSEWHERE = """
import json, sys
from pathlib import Path
from regard.data.tokenisers.tokeniser import TokeniserOptions, load_tokeniser
folder, kind, sampling = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
tokeniser = load_tokeniser(folder, "source", TokeniserOptions(kind=kind, sampling=sampling))
lines = json.loads((folder / "lines.json").read_text())
print(json.dumps([tokeniser.sample(line, (5, 0, number)) for number, line in enumerate(lines)]))
"""


@pytest.mark.parametrize(("kind", "mild", "wild"), [("bpe", 0.1, 0.5), ("unigram", 0.9, 0.1)])
def test_the_option_says_how_wildly_text_is_cut(kind: str, mild: float, wild: float) -> None:
    def tokens(sampling: float) -> int:
        tokeniser = trained(kind, sampling)
        return sum(len(tokeniser.sample(line, (number,))) for number, line in enumerate(LINES))

    assert tokens(0.0) < tokens(mild) < tokens(wild)


def test_sampling_without_byte_fallback_makes_the_unknown_tokens_of_encode() -> None:
    for kind in ("unigram", "bpe"):
        options = TokeniserOptions(kind=kind, vocabulary=200, byte_fallback=False, sampling=0.5)
        tokeniser = train_tokeniser(options, LINES)
        sampled, plain = tokeniser.sample("☃☃a☃ ☃", (1,)), tokeniser.encode("☃☃a☃ ☃")
        assert sampled.count(tokeniser.unknown) == plain.count(tokeniser.unknown) == 3
