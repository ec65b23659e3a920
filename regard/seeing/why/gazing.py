"""Maps from attention: the weights of one block, rollout and flow through all blocks."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from regard.base.faults import Fault
from regard.seeing.gazes import Sight
from regard.seeing.why.decision import Question
from regard.seeing.why.flow import AttentionGraph, decoder_graph, pooled_graph, self_graph
from regard.viewing.looks import LooksBetween
from regard.viewing.seen import joined_weights
from regard.viewing.sides import Slots

LABELLED = "source to labels"  # from the frames of a sound to its labels
_NO_ATTENTION = "This model has no attention to the units of its input; use a gradient or occlusion."
_NO_BLOCKS = "Rollout and flow need blocks of self-attention, which this model does not have; use attention."


@dataclass(frozen=True)
class WhichAttention:
    """Which attention a map is made from: a block and a head, counted from 1; by default those that `look` shows."""

    layer: int | None = None
    head: int | None = None


USUAL = WhichAttention()


def attention_scores(question: Question, which: WhichAttention) -> np.ndarray:
    """Return the attention of the deciding places to each unit."""
    sight = _sight(question)
    if labels := _labels(sight):
        _, weights = joined_weights(labels.blocks, which.layer, which.head)
        return _of_units(_rows(weights.T, question.queries), question)
    direct = [looks for looks in map(sight.between, sight.looks) if _looks_at_units(looks, question)]
    if direct:
        looks = min(direct, key=_is_within)  # from an output or answer, if it looks itself
        _, weights = joined_weights(looks.blocks, which.layer, which.head)
        return _of_units(_rows(weights, question.queries), question)
    return _indirect(sight, question, which)


def rollout_scores(question: Question) -> np.ndarray:
    """Return what reaches the deciding places from each unit through all blocks."""
    return _of_units(_rows(_graph(question).rollout(), question.queries), question)


def flow_scores(question: Question) -> np.ndarray:
    """Return the maximum flow from the deciding places to each unit, as a mean over these places."""
    graph = _graph(question)
    places = range(graph.sizes[-1]) if question.queries is None or graph.sizes[-1] == 1 else question.queries
    return _of_units(np.mean([graph.flow(place) for place in places], axis=0), question)


def _sight(question: Question) -> Sight:
    if question.see is None:
        raise Fault(_NO_ATTENTION)
    sight = question.see()
    if not sight.looks:
        raise Fault(_NO_ATTENTION)
    return sight


def _count(question: Question) -> int:
    """Return the least number of places that a side with all units has."""
    return len(question.names) if question.keys is None else max(question.keys) + 1


def _looks_at_units(looks: LooksBetween, question: Question) -> bool:
    if looks.manner != "weights" or isinstance(looks.looks_at, Slots):
        return False
    rows, columns = looks.blocks[0].weights.shape[1:]
    needed = max(question.queries, default=0) + 1 if question.queries is not None else 1
    return columns >= _count(question) and (rows >= needed or rows == 1)


def _rows(weights: np.ndarray, queries: Sequence[int] | None) -> np.ndarray:
    """Return the mean over the places that decide; all of them if none is singled out."""
    chosen = weights if queries is None or len(weights) == 1 else weights[list(queries)]
    return np.asarray(chosen.mean(axis=0))


def _of_units(scores: np.ndarray, question: Question) -> np.ndarray:
    return scores[: len(question.names)] if question.keys is None else scores[list(question.keys)]


def _indirect(sight: Sight, question: Question, which: WhichAttention) -> np.ndarray:
    """Return attention that is noted in other forms: along edges, or through the slots of a memory."""
    for looks in map(sight.between, sight.looks):
        if looks.manner == "edges":
            return _along_edges(looks, question, which)
        if looks.manner == "weights" and isinstance(looks.looks_at, Slots):
            return _through_slots(looks, looks.looks_at, question)
    raise Fault(_NO_ATTENTION)


def _along_edges(looks: LooksBetween, question: Question, which: WhichAttention) -> np.ndarray:
    assert looks.edges is not None
    assert question.queries is not None
    _, weights = joined_weights(looks.blocks, which.layer, which.head)
    scores = np.zeros(int(looks.edges.max()) + 1)
    chosen = np.isin(looks.edges[0], list(question.queries))
    np.add.at(scores, looks.edges[1][chosen], weights[chosen])
    return _of_units(scores, question)


def _through_slots(looks: LooksBetween, slots: Slots, question: Question) -> np.ndarray:
    """Return Σ read(slot) · write(slot): how much of what a step wrote is where the answer reads.

    The output of a machine gets two reads, y_t = W [h(x_t, r_{t−1}), r_t]: that of its step, and through the controller
    that of the step before. Both count alike.
    """
    weights = looks.blocks[0].weights
    reads, writes = (
        [number for number, name in enumerate(slots.heads) if name.startswith(kind)] for kind in ("read", "write")
    )
    if not reads or not writes:
        raise Fault(_NO_ATTENTION)
    assert question.queries is not None
    steps = sorted({step for query in question.queries for step in (query - 1, query) if step >= 0})
    read = weights[reads][:, steps].mean(axis=(0, 1))
    return _of_units(weights[writes].mean(axis=0) @ read, question)


def _graph(question: Question) -> AttentionGraph:
    """Return the graph of all attention of a model."""
    sight = _sight(question)
    names = set(sight.looks)

    def blocks(name: str) -> list[np.ndarray]:
        return [block.weights.mean(axis=0) for block in sight.between(name).blocks] if name in names else []

    if "cross" in names:
        if not blocks("decoder") or len(blocks("decoder")) != len(blocks("cross")):
            raise Fault(_NO_BLOCKS)
        return decoder_graph(blocks("encoder"), blocks("decoder"), blocks("cross"))
    within = next((name for name in sight.looks if _is_within(sight.between(name))), None)
    if within is None or sight.between(within).blocks[0].weights.shape[-1] < _count(question):
        raise Fault(_NO_BLOCKS)
    if labels := _labels(sight):  # a label looks at its frames by the share of each
        shares = labels.blocks[0].weights.mean(axis=0).T
        return pooled_graph(blocks(within), shares / shares.sum(axis=1, keepdims=True))
    if pooling := blocks("pooling"):
        return pooled_graph(blocks(within), pooling[-1])
    return self_graph(blocks(within))


def _labels(sight: Sight) -> LooksBetween | None:
    """Return where the labels of a transcript lie among its frames, if the model sums over alignments."""
    return next((looks for looks in map(sight.between, sight.looks) if looks.name == LABELLED), None)


def _is_within(looks: LooksBetween) -> bool:
    """Return True if places of one side attend to each other."""
    return looks.manner == "weights" and looks.looks_from is looks.looks_at
