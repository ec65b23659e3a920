"""Write captions: from picture files to the search over tokens."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
import torch

from regard.attention.watch import count_gazes, is_watched, watching, without_watching
from regard.base.progress import Remark, ignore_remark
from regard.decoding.beam import search_in_parts
from regard.decoding.options import DecodingOptions, change_options
from regard.decoding.output import Demands, Hypothesis
from regard.decoding.sampling import sample as draw
from regard.loading import Loaded
from regard.protocols import Caption
from regard.verbs.caption.request import CaptionRequest
from regard.verbs.place_names import name_rows

AT_ONCE = 64  # pictures that are captioned together


def run(model: Loaded, request: CaptionRequest, remark: Remark = ignore_remark, first: int = 0) -> Iterator[Caption]:
    """Return the captions for a request; samples depend on the pictures' numbers, which start at `first`."""
    pictures = [picture.content for picture in request.pictures]
    sample = None if request.sample is None else request.sample.model_dump(exclude_unset=True)
    return caption_each(
        model.task, pictures, request.beam, request.length_penalty, remark, sample, request.attention, first
    )


def caption_each(
    task: Any,
    pictures: Iterable[Any],
    beam: int | None = None,
    length_penalty: float | None = None,
    remark: Remark = ignore_remark,
    sample: Mapping[str, Any] | None = None,
    attention: bool = True,
    first: int = 0,
) -> Iterator[Caption]:
    """Yield the captions of pictures in their order, as soon as each batch of them is done.

    With `sample`, a table of sampling options, captions are sampled; the sample for a picture depends on its number,
    and the first picture has the number `first`. Without `attention`, captions have no attention weights, which saves
    one pass over each.
    """
    options = change_options(task.decoding, {"beam": beam, "length_penalty": length_penalty}, sample)
    waiting, done = iter(pictures), first
    while portion := list(islice(waiting, AT_ONCE)):
        number = None if sample is None else done
        yield from caption_batch(task, task.read(portion, remark), options, number, attention)
        done += len(portion)


def caption_batch(
    task: Any, batch: Any, options: DecodingOptions, drawn_from: int | None = None, attention: bool = True
) -> list[Caption]:
    """Return the captions of a batch of pictures; a watcher sees one forced pass over them.

    They are sampled if `drawn_from` gives the number of the first picture, and searched for otherwise. `attention`
    takes one more pass.
    """
    with without_watching():
        if drawn_from is None:
            captions = [hypotheses[0] for hypotheses in search_captions(task, batch, options)]
        else:
            captions = draw_captions(task, batch, options, drawn_from)
    if is_watched():
        since = count_gazes()
        rewrite(task, batch, captions)
        rows = [task.sides(batch.of_rows([row]), [caption.tokens]) for row, caption in enumerate(captions)]
        name_rows(since, rows)
    looks = _looks(task, batch, captions) if attention else None
    return [_caption(task, caption, None if looks is None else looks[row]) for row, caption in enumerate(captions)]


def search_captions(task: Any, batch: Any, options: DecodingOptions) -> list[list[Hypothesis]]:
    """Return the best captions of each picture, best first, without unknown words."""
    return search_in_parts(task, batch, options, Demands.without(task.unwritten))


@torch.no_grad()
def draw_captions(task: Any, batch: Any, options: DecodingOptions, first: int) -> list[Hypothesis]:
    """Sample a caption of each picture by its number, starting at `first`, without unknown words."""
    numbers, demands = range(first, first + batch.rows), Demands.without(task.unwritten)
    return [samples[0] for samples in draw(task, batch, task.limits(batch, options), options, numbers, demands)]


@torch.no_grad()
def rewrite(task: Any, batch: Any, captions: Sequence[Hypothesis]) -> None:
    """Force the network to write these captions while it is watched."""
    task.token_scores(batch.writing([caption.tokens for caption in captions]))


def _looks(task: Any, batch: Any, captions: Sequence[Hypothesis]) -> np.ndarray | None:
    """Return the attention of each word of each caption (row, word, place), averaged over blocks and heads."""
    with watching(task.model) as gazes:
        rewrite(task, batch, captions)
    cross_weights = [gaze.weights.float().mean(dim=1) for gaze in gazes if gaze.looks_from != gaze.looks_at]
    return torch.stack(cross_weights).mean(dim=0).cpu().numpy() if cross_weights else None


def _caption(task: Any, hypothesis: Hypothesis, looks: np.ndarray | None) -> Caption:
    words = task.tokeniser.pieces([*hypothesis.tokens, task.end])
    attention = None if looks is None else looks[: len(words)].reshape(-1, *task.grid)
    return Caption(task.write(hypothesis.tokens), hypothesis.score, words, attention)
