"""Search the training data for the places whose states are nearest to those of an input.

This is the look-up of k-nearest-neighbour translation (Khandelwal et al. 2021, section 2): a state of the decoder is
compared with those before every token of the training targets. There it changes what is written; here it is shown.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import torch
from torch import Tensor

from regard.base.faults import Fault, TextFault
from regard.base.progress import Progress, silent
from regard.seeing.gazes import Foresees
from regard.seeing.nearest.places import Places, Prompts, WholeTexts, joined
from regard.seeing.nearest.translators import is_translator, translator_places
from regard.seeing.training_texts import TextSample, TrainingText, sample_texts
from regard.viewing.examples import AskedPlace, NearestExamples, TrainingExample

AT_ONCE = 64  # texts in a batch
FROM_LINES = 5_000  # texts to compare with, by default

Measure = Literal["cosine", "l2"]


def places_of(model: Any, text: str, states: str | None, target: str | None, at: int | None) -> Places:
    """Return the places of an input that a model is asked about; refuse options that it has no use for."""
    if not text.strip():
        raise Fault("There is no text to look at; give a sentence.")
    if is_translator(model.task):
        return translator_places(model, text.strip(), states, target, at)
    options = {"--states": states, "--target": target, "--at": at}
    if given := next((name for name, value in options.items() if value is not None), None):
        raise Fault(f"{given} is for translators; omit it for this model.")
    task = model.task
    return Prompts(task, text) if isinstance(task, Foresees) else WholeTexts(task, text)


def nearest_examples(
    model: Any,
    text: str,
    count: int,
    by: Measure = "cosine",
    from_lines: int = FROM_LINES,
    places: Places | None = None,
    progress: Progress = silent,
) -> NearestExamples:
    """Return the `count` training examples nearest to each place of a text, among a sample of the training texts."""
    places = places or places_of(model, text, None, None, None)
    sample = sample_texts(model, from_lines, text, progress)
    return search_sample(places, sample, text, count, by, progress)


@torch.no_grad()
def search_sample(
    places: Places, sample: TextSample, text: str, count: int, by: Measure = "cosine", progress: Progress = silent
) -> NearestExamples:
    """Return the nearest examples of each place among these texts."""
    try:
        asked = places.asked()
    except TextFault as fault:
        raise fault.without_number() from None
    queries = torch.stack([place.state for place in asked])
    best = _Nearest(len(asked), count)
    texts = [text for text in sample.texts if places.fits(text)]
    compared = 0
    for numbers, states in _states(places, texts, progress):
        table, real = joined(states)
        compared += int(real.sum())
        similarities = _similarities(queries, table.flatten(0, 1), by)
        best.add(similarities.masked_fill(~real.flatten(), -torch.inf), table.shape[1], numbers)
    if not compared:
        raise Fault("None of the training texts can be read by this model, so there is nothing to compare with.")
    found = [
        AskedPlace(place.name, [_example(places, texts, by, *hit) for hit in best.of(number)])
        for number, place in enumerate(asked)
    ]
    return NearestExamples(text, places.kind, by, compared, len(texts), sample.total, found)


def _example(
    places: Places, texts: Sequence[TrainingText], by: Measure, similarity: float, row: int, place: int
) -> TrainingExample:
    closeness = similarity if by == "cosine" else -similarity
    return TrainingExample(closeness, *places.mark(texts[row], place))


def _states(
    places: Places, texts: Sequence[TrainingText], progress: Progress
) -> Iterator[tuple[list[int], list[Tensor]]]:
    """Yield the numbers and states of texts in batches of similar length."""
    order = sorted(range(len(texts)), key=lambda number: len(texts[number].text) + len(texts[number].answer))
    for first in range(0, len(order), AT_ONCE):
        numbers = order[first : first + AT_ONCE]
        yield numbers, places.read([texts[number] for number in numbers])
        progress("comparing", first + len(numbers), len(order))


def _similarities(queries: Tensor, states: Tensor, by: Measure) -> Tensor:
    """Return (query, state): the cosine, or the distance with a minus, so that larger is always nearer."""
    if by == "l2":
        return -torch.cdist(queries, states, compute_mode="donot_use_mm_for_euclid_dist")
    directions = [torch.nn.functional.normalize(vectors, dim=-1) for vectors in (queries, states)]
    return directions[0] @ directions[1].T


class _Nearest:
    """The best hits of every query so far."""

    def __init__(self, queries: int, count: int) -> None:
        self.count = count
        self.hits: list[list[tuple[float, int, int]]] = [[] for _ in range(queries)]

    def add(self, similarities: Tensor, places: int, numbers: Sequence[int]) -> None:
        """Add the similarities of a batch of texts (query, text · place), each with room for so many places."""
        values, at = similarities.topk(min(self.count, similarities.shape[1]))
        for hits, row, where in zip(self.hits, values.tolist(), at.tolist(), strict=True):
            new = zip(row, where, strict=True)
            hits += [(value, numbers[spot // places], spot % places) for value, spot in new]
            hits.sort(key=lambda hit: (-hit[0], hit[1:]))
            del hits[self.count :]

    def of(self, query: int) -> list[tuple[float, int, int]]:
        """Return similarity, text and place of a query's hits, nearest first."""
        return [hit for hit in self.hits[query] if hit[0] > -torch.inf]
