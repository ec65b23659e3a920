"""Roles of a translator's heads, measured against the true links of its pairs."""

import string
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import torch
from torch import Tensor

from regard.attention.roles import RoleSums, is_causal, role_sums, weights_between_words
from regard.attention.watch import Gaze, watching
from regard.base.progress import Progress, silent
from regard.data.corpora.options import Corpus
from regard.data.demo import DEMO
from regard.data.demo.corpus import LinkedPair, linked_pairs
from regard.data.demo.wording import WordLinks
from regard.data.generated.corpora import generator_of
from regard.seeing.head_reports import refuse_headless
from regard.seeing.head_roles import ALIGNMENT, LINKS, ROLES, SAME_WORD, Sums, add_sums, choose_heads, position_sums
from regard.seeing.pair_reports import Pair, portions, token_words
from regard.tasks.translation.task import Translation
from regard.viewing.roles import HeadRoles


def linked_corpora(corpora: Sequence[Corpus]) -> list[LinkedPair] | None:
    """Return the pairs of these corpora with their true links, if all of them are generated with links."""
    pairs: list[LinkedPair] = []
    for corpus in corpora:
        generator = generator_of(corpus.pairs) if corpus.pairs else None
        if corpus.pairs is None or generator not in DEMO:
            return None
        pairs += linked_pairs(corpus.pairs.partition(":")[2], generator)
    return pairs or None


def without_links(pairs: Sequence[Pair]) -> list[LinkedPair]:
    """Return pairs whose links nobody knows."""
    return [LinkedPair(source, target, WordLinks([], []), {}, {}) for source, target in pairs]


@torch.no_grad()
def pair_roles(task: Translation, pairs: Sequence[LinkedPair], progress: Progress = silent) -> HeadRoles:
    """Return the roles of a translator's heads while it reads the sources and is forced to write the targets.

    Within the target, a place is named by the word it reads, and a head is asked only for links to earlier words. From
    target to source, it is named by the word it writes.
    """
    refuse_headless(task)
    task.eval()
    sums: Sums = {}
    texts = [(pair.source.strip(), pair.target.strip()) for pair in pairs]
    for portion in portions(task, texts):
        batch = task.pair_up(texts[portion])
        with watching(task.model) as gazes:
            task.measure(batch)
        halves = torch.arange(portion.start, portion.stop) % 2
        words = partial(_word_numbers, task, texts[portion])
        for gaze in gazes:
            add_sums(sums, gaze, position_sums(gaze, task.extents(batch), halves))
            add_sums(sums, gaze, _link_sums(gaze, pairs[portion], words, halves))
        progress("watching", portion.stop, len(pairs))
    return choose_heads(task, sums, len(pairs))


def _word_numbers(task: Translation, texts: Sequence[Pair], side: str, opposite: str) -> list[list[int]]:
    """Return the word number of each place, row by row; within the target, of the token read there."""
    if side == "source":
        return [token_words(task.source_for(source), source) for source, _ in texts]
    rows = [token_words(task.target_for(source), target) for source, target in texts]
    return [[-1, *row] for row in rows] if opposite == "target" else rows


def _link_sums(
    gaze: Gaze, pairs: Sequence[LinkedPair], words: Callable[[str, str], list[list[int]]], halves: Tensor
) -> Iterator[tuple[str, RoleSums]]:
    """Yield the roles between words that these pairs have links for."""
    sides = gaze.looks_from, gaze.looks_at
    if sides not in (("source", "source"), ("target", "target"), ("target", "source")):
        return
    query_words, key_words = words(*sides), words(sides[1], sides[0])
    weights = weights_between_words(gaze.weights.detach().double(), query_words, key_words)
    ahead = sides[0] == sides[1] and is_causal(gaze.weights)
    links = [_links(pair, *sides) for pair in pairs]
    for role in ROLES:
        targets = torch.zeros(len(pairs), weights.shape[2], weights.shape[3], dtype=torch.bool)
        for row, pair_links in enumerate(links):
            for query, key in pair_links.get(role, ()):
                targets[row, query, key] = not ahead or key <= query
        if targets.any():
            yield role, role_sums(weights, targets, halves)


def _links(pair: LinkedPair, looks_from: str, looks_at: str) -> dict[str, list[tuple[int, int]]]:
    """Return the links of each role from a word of one side to a word of the other."""
    queries, keys = ((pair.source if side == "source" else pair.target).split() for side in (looks_from, looks_at))
    links = {SAME_WORD: _same_words(queries, keys, looks_from == looks_at)}
    if looks_from == looks_at:
        roles = pair.source_roles if looks_from == "source" else pair.target_roles
        return links | {role: roles.get(kind, []) for role, kind in LINKS.items()}
    sure = {target for _, target in pair.links.sure}
    links[ALIGNMENT] = [(j, i) for i, j in (*pair.links.sure, *pair.links.possible) if j in sure]
    antecedents = [noun for _, noun in pair.source_roles.get("antecedent", [])]
    pronouns = [pronoun for pronoun, _ in pair.target_roles.get("antecedent", [])]
    links["pronoun to antecedent"] = [(pronoun, noun) for pronoun in pronouns for noun in antecedents]
    return links


def _same_words(queries: Sequence[str], keys: Sequence[str], within: bool) -> list[tuple[int, int]]:
    """Return each pair of places with the same word, apart from a place and itself within one side."""
    read, seen = ([word.strip(string.punctuation).casefold() for word in words] for words in (queries, keys))
    return [
        (i, j) for i, one in enumerate(read) for j, other in enumerate(seen) if one == other and not (within and i == j)
    ]


@torch.no_grad()
def right_words(task: Translation, pairs: Sequence[LinkedPair]) -> dict[str, float]:
    """Return, for each role with links in the targets, the percentage of its words whose tokens are all most likely.

    The word is the one that a link starts from: the pronoun of a pronoun and its antecedent, the verb of a verb and its
    subject. Everything before it is that of the reference.
    """
    task.eval()
    right: dict[str, list[bool]] = defaultdict(list)
    texts = [(pair.source.strip(), pair.target.strip()) for pair in pairs]
    for portion in portions(task, texts):
        batch = task.pair_up(texts[portion])
        log_probabilities, wanted = task.forced_log_probabilities(batch)
        hits = (log_probabilities.argmax(-1) == wanted).split(task.extents(batch)["target"].tolist())
        for pair, (source, target), row in zip(pairs[portion], texts[portion], hits, strict=True):
            words = token_words(task.target_for(source), target)
            is_right = [True] * (max(words, default=-1) + 1)
            for word, hit in zip(words, row.tolist(), strict=False):
                is_right[word] = is_right[word] and hit
            for role, kind in LINKS.items():
                right[role] += [is_right[word] for word in {word for word, _ in pair.target_roles.get(kind, [])}]
    return {role: 100 * sum(hits) / len(hits) for role, hits in right.items() if hits}
