"""Probe the layers of a model: train classifiers on the states of some sentences, and test them on others."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from regard.base.faults import Fault
from regard.base.progress import Progress, Remark, ignore_remark, silent
from regard.data.word_labels import LINKS
from regard.seeing.probes.classifiers import (
    LEARNING_RATE,
    NOTHING,
    PAIR_RATE,
    LinearProbes,
    PairProbes,
    fit_probes,
    standardise,
)
from regard.seeing.probes.examples import (
    WordTask,
    control_labels,
    control_links,
    linked_words,
    word_task,
    word_types,
)
from regard.seeing.probes.word_states import WordStates
from regard.viewing.probes import ProbeScore

TESTED = 0.25  # share of the sentences
FEWEST_SENTENCES = 8


@dataclass(frozen=True)
class Trial:
    """The result of one seed: accuracies of a probe and of its control, the majority's rate, and hits by class."""

    accuracy: float
    control: float
    majority: float
    classes: dict[str, tuple[int, int]]  # right and all, for each class


def probe_layers(
    states: WordStates,
    whats: Sequence[str],
    seeds: int = 3,
    progress: Progress = silent,
    remark: Remark = ignore_remark,
) -> list[ProbeScore]:
    """Return the scores of probes for each label and layer of the states, over several seeds.

    Every seed divides the sentences anew, and draws the order of the examples and the labels of the control task.
    """
    if len(states.sentences) < FEWEST_SENTENCES:
        raise Fault(f"Probes need {FEWEST_SENTENCES} sentences, and there are {len(states.sentences)}.")
    tasks = [word_task(states, what, remark) for what in whats if what != LINKS]
    trials: dict[tuple[str, int], list[Trial]] = {(what, layer): [] for what in whats for layer in states.layers}
    for seed in range(seeds):
        split = _split(states, seed)
        for place, layer in enumerate(states.layers):
            for what, trial in _probe_words(states, tasks, layer, split, seed).items():
                trials[what, layer].append(trial)
            if LINKS in whats:
                trials[LINKS, layer].append(_probe_links(states, layer, split, seed))
            progress("probing", seed * len(states.layers) + place + 1, seeds * len(states.layers))
    return [_score(what, layer, found) for (what, layer), found in trials.items()]


def _split(states: WordStates, seed: int) -> Tensor:
    """Return for each word whether its sentence is for the test."""
    numbers = list(range(len(states.sentences)))
    random.Random(seed).shuffle(numbers)
    tested = set(numbers[: max(1, round(TESTED * len(numbers)))])
    return torch.tensor([number in tested for number, sentence in enumerate(states.sentences) for _ in sentence.words])


def _probe_words(
    states: WordStates, tasks: Sequence[WordTask], layer: int, is_test: Tensor, seed: int
) -> dict[str, Trial]:
    """Train and test the probes of all labels of words, and those of their control tasks."""
    if not tasks:
        return {}
    types = word_types(states.sentences)
    true = torch.stack([task.labels for task in tasks], dim=1)
    control = torch.stack([control_labels(task, types, seed) for task in tasks], dim=1)
    labels, (train, test) = torch.cat([true, control], dim=1), ((~is_test).nonzero()[:, 0], is_test.nonzero()[:, 0])
    inputs = standardise(states.layers[layer], train)
    probes = LinearProbes(inputs.shape[1], [len(task.classes) for task in tasks] * 2)
    learnt = inputs[train]
    fit_probes(probes, learnt.__getitem__, labels[train], _generator(seed), LEARNING_RATE)
    is_right = probes.predict(inputs[test]) == labels[test]
    trials = {}
    for number, task in enumerate(tasks):
        asked = true[test, number] != NOTHING
        right, wanted = is_right[asked], true[test, number][asked]
        classes = {
            name: (int(right[wanted == place, number].sum()), int((wanted == place).sum()))
            for place, name in enumerate(task.classes)
        }
        majority = _majority(true[train, number], wanted)
        trials[task.what] = Trial(_mean(right[:, number]), _mean(right[:, number + len(tasks)]), majority, classes)
    return trials


def _probe_links(states: WordStates, layer: int, is_test: Tensor, seed: int) -> Trial:
    """Train and test a probe of pairs of words, and that of its control task."""
    pairs = linked_words(states, seed)
    labels = torch.stack([pairs.labels, control_links(pairs, word_types(states.sentences), seed)], dim=1)
    of_test = is_test[pairs.words[:, 0]]
    train, test = (~of_test).nonzero()[:, 0], of_test.nonzero()[:, 0]
    inputs = standardise(states.layers[layer], (~is_test).nonzero()[:, 0])
    generator = _generator(seed)
    probes = PairProbes(inputs.shape[1], 2, generator)
    learnt = pairs.words[train]
    fit_probes(probes, lambda rows: inputs[learnt[rows]], labels[train], generator, PAIR_RATE)
    right = probes.predict(inputs[pairs.words[test]]) == labels[test]
    kinds = [pairs.kinds[place] for place in test.tolist()]
    classes = {
        kind: (sum(hit for hit, own in zip(right[:, 0].tolist(), kinds, strict=True) if own == kind), kinds.count(kind))
        for kind in dict.fromkeys(kinds)
    }
    return Trial(_mean(right[:, 0]), _mean(right[:, 1]), _majority(labels[train, 0], labels[test, 0]), classes)


def _generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def _majority(learnt: Tensor, wanted: Tensor) -> float:
    """Return how often the most frequent class of the training words is right."""
    return _mean(wanted == learnt[learnt != NOTHING].mode().values)


def _mean(hits: Tensor) -> float:
    return float(hits.double().mean()) if len(hits) else 0.0


def _score(what: str, layer: int, trials: Sequence[Trial]) -> ProbeScore:
    classes = {
        name: sum(trial.classes[name][0] for trial in trials) / max(1, sum(trial.classes[name][1] for trial in trials))
        for name in dict.fromkeys(name for trial in trials for name in trial.classes)
        if all(name in trial.classes for trial in trials)
    }
    return ProbeScore(
        what,
        layer,
        [trial.accuracy for trial in trials],
        [trial.control for trial in trials],
        [trial.majority for trial in trials],
        classes,
    )
