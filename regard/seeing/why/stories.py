"""Questions to memory networks and machines: which facts made it answer so, which input steps made it write this?"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.base.faults import Fault
from regard.data.algorithms.spelling import write_bits
from regard.loading import Loaded
from regard.models.stories.rows import StoryRows, weigh_words
from regard.seeing.gazes import see_answer
from regard.seeing.why.decision import Question, chosen_class, refuse_place, units_left
from regard.viewing.sides import Facts, Steps, Words


def ask_story(model: Loaded, item: Any, output: str | None, place: int | None, word: str | None = None) -> Question:
    """Return the question why a memory network answers so; units are the facts, as weighted bags of words."""
    task, network = model.task, model.task.model
    refuse_place(place, word, "one answer to a question")
    batch = task.read([item])
    rows, count = batch.stories, int(batch.stories.counts[0])
    if not count:
        raise Fault("The story has no facts before its question, so nothing can be traced.")
    bags = weigh_words(rows.facts, network.words.known, network.options.encoding, next(network.parameters()).dtype)

    def score(stories: StoryRows) -> Tensor:
        return network(stories).logits[network.chosen].log_softmax(-1)

    with torch.no_grad():
        best = int(score(rows)[0].argmax())
    number = chosen_class(task.vocabulary.classes, output, best)

    def log_probability(vectors: Tensor) -> Tensor:
        facts = F.pad(vectors, (0, 0, 0, bags.shape[1] - count))
        times, counts, questions = (tensor.expand(len(vectors), *tensor.shape[1:]) for tensor in rows[1:])
        return score(StoryRows(facts, times, counts, questions))[:, number]

    @torch.no_grad()
    def without(units: Sequence[int]) -> float:
        kept = units_left(units, count)
        times = torch.arange(len(kept) - 1, -1, -1, device=rows.times.device)[None]
        left = StoryRows(rows.facts[:, kept], times, torch.full_like(rows.counts, len(kept)), rows.questions)
        return float(score(left)[0, number])

    side, name = task.sides(batch, [])["facts"], task.vocabulary.classes[number]
    assert isinstance(side, Facts)
    return Question(
        side.lines,
        name,
        bags[0, :count],
        torch.zeros_like(bags[0, :count]),
        log_probability,
        without,
        side,
        side.question,
        name,
        partial(see_answer, task, item),
        range(task.model.hops),
    )


def ask_machine(model: Loaded, item: Any, output: str | None, place: int | None, word: str | None = None) -> Question:
    """Return the question why a machine answers an item as it does; units are the steps before the first answer.

    `place` counts the items of the answer; by default it is the last.
    """
    task = model.task
    if output is not None or word is not None:
        raise Fault("A machine answers in bits, and its own answer is explained; choose an item of it by its place.")
    batch = task.read([item])
    network, asked = task.model, batch.asked[0].nonzero()[:, 0].tolist()
    if place is not None and not 0 <= place < len(asked):
        raise Fault(f"The answer has {len(asked)} items, so there is no item number {place + 1}.")
    where, first = asked[-1 if place is None else place], asked[0]
    inputs = batch.inputs.to(network.dtype)

    def probabilities(rows: Tensor, shift: int = 0) -> Tensor:
        """Return the probability of a one for each bit of the item, by the mean of the members."""
        return network(rows, batch.slots)[:, :, where - shift].sigmoid().mean(0)

    with torch.no_grad():
        bits = probabilities(inputs)[0] > 0.5

    def log_probability(vectors: Tensor) -> Tensor:
        behind = inputs[0, :, first:].expand(len(vectors), -1, -1)
        rows = torch.cat([vectors, behind], dim=1).expand(len(inputs), -1, -1, -1)
        ones = probabilities(rows, first - vectors.shape[1])
        return torch.where(bits, ones, 1 - ones).log().sum(-1)

    @torch.no_grad()
    def without(units: Sequence[int]) -> float:
        """Return the log-probability if these steps are cut out: the answer begins earlier, and is as long."""
        return float(log_probability(given[None, units_left(units, first)]))

    given, data = inputs[0, 0, :first], task.data
    names = [write_bits(step[: data.bits]) for step in given.cpu().numpy()]
    chosen = write_bits(bits[: data.bits].cpu().numpy())
    see = partial(see_answer, task, item) if network.slots else None
    items = [f"item {number + 1}" for number in range(len(asked))]
    return Question(
        names,
        chosen,
        given,
        torch.zeros_like(given),
        log_probability,
        without,
        Steps(names, given.cpu().numpy()),
        str(item),
        task.answers(batch)[0].answer,
        see,
        (where,),
        choices=Words(items, items, range(len(items))),
        explained=(asked.index(where),),
    )
