"""Examples for probes: words with a label, pairs of words that are linked or not, and labels drawn at random."""

import random
import string
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from regard.base.faults import Fault
from regard.base.progress import Remark, ignore_remark
from regard.data.word_labels import LabelledSentence
from regard.seeing.probes.classifiers import NOTHING
from regard.seeing.probes.word_states import WordStates

FEWEST = 20  # examples of a class, without which nothing can be said about it


@dataclass(frozen=True)
class WordTask:
    """A label to be read off the states of words: its name, its classes, and each word's class or NOTHING."""

    what: str
    classes: Sequence[str]
    labels: Tensor

    @property
    def count(self) -> int:
        return int((self.labels != NOTHING).sum())


@dataclass(frozen=True)
class WordPairs:
    """Pairs of words (pair, 2) by their numbers, whether they are linked (1 or 0), and the kind of link in question.

    Each linked pair is followed by one that is not: the same first word with another of its sentence.
    """

    words: Tensor
    labels: Tensor
    kinds: Sequence[str]


def word_task(states: WordStates, what: str, remark: Remark = ignore_remark) -> WordTask:
    """Return the labels of one kind; words of classes with too few examples have none."""
    labels = [label for sentence in states.sentences for label in sentence.labels[what]]
    counts = Counter(label for label in labels if label is not None)
    classes = sorted(label for label, count in counts.items() if count >= FEWEST)
    if len(classes) < 2:
        raise Fault(
            f"A probe for {what} needs two classes with {FEWEST} examples each, and these sentences have "
            f"{len(classes) or 'none'}; give more sentences, or leave {what} out of --what."
        )
    if rare := len(counts) - len(classes):
        have, are = ("has", "is") if rare == 1 else ("have", "are")
        remark(f"{what}: {rare} of {len(counts)} classes {have} fewer than {FEWEST} examples and {are} left out.")
    numbers = {label: number for number, label in enumerate(classes)}
    return WordTask(what, classes, torch.tensor([numbers.get(label or "", NOTHING) for label in labels]))


def word_types(sentences: Sequence[LabelledSentence]) -> list[str]:
    """Return the type of each word: in lower case, without punctuation around it."""
    return [word.strip(string.punctuation).casefold() for sentence in sentences for word in sentence.words]


def control_labels(task: WordTask, types: Sequence[str], seed: int) -> Tensor:
    """Return labels of a control task (Hewitt and Liang 2019): each type of word has one, drawn at random.

    They are drawn as often as the true labels occur. Words without a true label have none here either.
    """
    dice, drawn = random.Random(seed), dict[str, int]()
    true = [label for label in task.labels.tolist() if label != NOTHING]
    labels = [
        NOTHING if label == NOTHING else drawn.setdefault(type_, dice.choice(true))
        for type_, label in zip(types, task.labels.tolist(), strict=True)
    ]
    return torch.tensor(labels)


def linked_words(states: WordStates, seed: int) -> WordPairs:
    """Return the linked pairs of words in these sentences, each followed by one that is not linked."""
    dice = random.Random(seed)
    words: list[tuple[int, int]] = []
    kinds: list[str] = []
    for sentence, first in zip(states.sentences, states.firsts, strict=True):
        linked = {link for links in sentence.links.values() for link in links}
        for kind, links in sentence.links.items():
            for one, other in links:
                others = [place for place in range(len(sentence.words)) if place != one and (one, place) not in linked]
                if others:
                    words += [(first + one, first + other), (first + one, first + dice.choice(others))]
                    kinds += [kind, kind]
    if len(words) < 2 * FEWEST:
        raise Fault(
            f"A probe for links needs {FEWEST} linked pairs of words, and these sentences have {len(words) // 2}; "
            "leave links out of --what."
        )
    return WordPairs(torch.tensor(words), torch.tensor([1, 0]).repeat(len(words) // 2), kinds)


def control_links(pairs: WordPairs, types: Sequence[str], seed: int) -> Tensor:
    """Return labels of a control task for pairs: each pair of types is linked or not, at random."""
    dice, drawn = random.Random(seed), dict[tuple[str, str], int]()
    return torch.tensor(
        [drawn.setdefault((types[one], types[other]), dice.getrandbits(1)) for one, other in pairs.words.tolist()]
    )
