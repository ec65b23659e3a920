"""Roles of a translator's heads, against loops written out by hand."""

from pathlib import Path

import pytest
import torch

import regard
from regard.attention.watch import watching
from regard.base.faults import Fault
from regard.data.corpora.options import Corpus
from regard.data.demo.corpus import LinkedPair, linked_pairs
from regard.data.demo.wording import WordLinks
from regard.seeing.pair_roles import linked_corpora, pair_roles, right_words, without_links
from regard.viewing.roles import HeadRole

PAIR = LinkedPair(
    "I love red books.",
    "Eu amo livros vermelhos.",
    WordLinks([(0, 0), (1, 1), (2, 3), (3, 2)], []),
    {"verb-subject": [(1, 0)], "adjective-noun": [(2, 3)]},
    {"verb-subject": [(1, 0)], "adjective-noun": [(3, 2)], "verb-object": [(1, 2)]},
)


def role_of(roles: list[HeadRole], side: str, name: str) -> HeadRole:
    return next(role for role in roles if (role.side, role.role) == (side, name))


@torch.no_grad()
def test_links_against_loops(trained: Path) -> None:
    """The weight from an adjective to its noun, token by token, in the encoder, and where the strongest weight is."""
    task = regard.load(trained).task
    roles = list(pair_roles(task, [PAIR, PAIR]).roles)
    words = task.source.words(task.source.encode(PAIR.source))
    with watching(task.model) as gazes:
        task.measure(task.pair_up([(PAIR.source, PAIR.target)]))
    (gaze,) = [gaze for gaze in gazes if gaze.looks_from == gaze.looks_at == "source"]
    for head in role_of(roles, "encoder", "adjective to noun").heads:
        weights = gaze.weights[0, head.head - 1].double()
        by_word = [0.0] * 5
        tokens = [place for place, word in enumerate(words) if word == 2]
        for token in tokens:
            for key, weight in enumerate(weights[token].tolist()):
                by_word[words[key] if key < len(words) else 4] += weight / len(tokens)
        assert head.weight == pytest.approx(by_word[3])
        assert head.strongest == float(by_word.index(max(by_word)) == 3)


@torch.no_grad()
def test_a_decoder_looks_back_from_the_word_it_reads(trained: Path) -> None:
    """The first place reads no word, and a link to a later word is not asked for."""
    task = regard.load(trained).task
    roles = list(pair_roles(task, [PAIR, PAIR]).roles)
    names = {role.role for role in roles if role.side == "decoder"}
    assert "adjective to noun" in names
    assert not names & {"verb to object", "next token"}
    words = [-1, *task.target.words(task.target.encode(PAIR.target))]
    with watching(task.model, where="decoder.0") as gazes:
        task.measure(task.pair_up([(PAIR.source, PAIR.target)]))
    gaze = next(gaze for gaze in gazes if gaze.looks_at == "target")
    verb = [place for place, word in enumerate(words) if word == 1]
    subject = [place for place, word in enumerate(words) if word == 0]
    head = role_of(roles, "decoder", "verb to subject").heads[0]
    weights = gaze.weights[0, 0].double()
    assert head.weight == pytest.approx(sum(float(weights[i, j]) for i in verb for j in subject) / len(verb))


def test_position_alone_has_its_offset(trained: Path) -> None:
    roles = list(pair_roles(regard.load(trained).task, [PAIR, PAIR]).roles)
    adjective = role_of(roles, "encoder", "adjective to noun")
    assert (adjective.offset, adjective.alone, adjective.looks, adjective.scored) == (1, 1.0, 2, 1)
    alignment = role_of(roles, "cross", "alignment")
    assert (alignment.offset, alignment.alone, alignment.looks) == (0, 0.5, 8)  # the last two words cross
    assert role_of(roles, "encoder", "previous token").alone is None


def test_every_share_is_a_share_and_halves_are_needed(trained: Path) -> None:
    task = regard.load(trained).task
    for role in pair_roles(task, [PAIR, PAIR]).roles:
        if not role.is_distance:
            assert all(0 <= value <= 1.000001 for head in role.heads for value in (head.strongest, head.weight))
    with pytest.raises(Fault, match="at least two sentences"):
        pair_roles(task, [PAIR])


def test_pairs_without_links_have_positions_and_same_words_alone(trained: Path) -> None:
    roles = pair_roles(regard.load(trained).task, without_links([("Ana sees Ana.", "Ana ana.")] * 2)).roles
    assert {role.role for role in roles if role.side == "cross"} == {"same word"}
    encoder = {role.role for role in roles if role.side == "encoder"}
    assert encoder == {"previous token", "itself", "next token", "same word", "long range"}


def test_right_words_are_those_whose_tokens_are_all_most_likely(trained: Path) -> None:
    task = regard.load(trained).task
    batch = task.pair_up([(PAIR.source, PAIR.target)])
    log_probabilities, targets = task.forced_log_probabilities(batch)
    words = task.target.words(task.target.encode(PAIR.target))
    hits = (log_probabilities.argmax(-1) == targets).tolist()
    adjective = all(hit for hit, word in zip(hits, words, strict=False) if word == 3)
    assert right_words(task, [PAIR])["adjective to noun"] == 100 * adjective


def test_generated_corpora_have_links_and_files_have_none() -> None:
    assert linked_corpora([Corpus(pairs="demo:valid")]) == linked_pairs("valid")
    assert linked_corpora([Corpus(pairs="demo:valid"), Corpus(pairs="pairs.tsv")]) is None
    assert linked_corpora([Corpus(source="a", target="b")]) is None
    assert linked_corpora([]) is None
