"""Writing captions: from pictures as people have them to the search, which knows tokens."""

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
    """Return the captions that a request asks for; what is drawn depends on their numbers, from the first on."""
    pictures = [each.content for each in request.pictures]
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

    With `sample`, options of sampling, they are drawn at random; what is drawn for a picture depends on its number,
    which of the first is `first`.
    Without `attention` captions do not say where their words looked, which takes a pass of its own over each.
    """
    options = change_options(task.decoding, {"beam": beam, "length_penalty": length_penalty}, sample)
    waiting, done = iter(pictures), first
    while given := list(islice(waiting, AT_ONCE)):
        drawn_from = None if sample is None else done
        yield from caption_batch(task, task.read(given, remark), options, drawn_from, attention)
        done += len(given)


def caption_batch(
    task: Any, batch: Any, options: DecodingOptions, drawn_from: int | None = None, attention: bool = True
) -> list[Caption]:
    """Return the captions of a batch of pictures; a watcher sees one pass over them, which writes them again.

    They are drawn, if `drawn_from` says which number the first picture has, and searched for otherwise. For their
    `attention` they are written once more.
    """
    with without_watching():
        if drawn_from is None:
            written = [found[0] for found in search_captions(task, batch, options)]
        else:
            written = draw_captions(task, batch, options, drawn_from)
    if is_watched():
        since = count_gazes()
        rewrite(task, batch, written)
        rows = [task.sides(batch.of_rows([row]), [each.tokens]) for row, each in enumerate(written)]
        name_rows(since, rows)
    looks = _looks(task, batch, written) if attention else None
    return [_caption(task, each, None if looks is None else looks[row]) for row, each in enumerate(written)]


def search_captions(task: Any, batch: Any, options: DecodingOptions) -> list[list[Hypothesis]]:
    """The best captions of each picture, best first; none has an unknown word in it."""
    return search_in_parts(task, batch, options, Demands(forbidden=[[task.tokeniser.unknown]]))


@torch.no_grad()
def draw_captions(task: Any, batch: Any, options: DecodingOptions, first: int) -> list[Hypothesis]:
    """A caption of each picture, drawn by its number, of which the first is given; none has an unknown word in it."""
    numbers, demands = range(first, first + batch.rows), Demands(forbidden=[[task.tokeniser.unknown]])
    return [found[0] for found in draw(task, batch, task.limits(batch, options), options, numbers, demands)]


@torch.no_grad()
def rewrite(task: Any, batch: Any, written: Sequence[Hypothesis]) -> None:
    """Let the network write just these captions, for whoever watches it."""
    task.token_scores(batch.writing([each.tokens for each in written]))


def _looks(task: Any, batch: Any, written: Sequence[Hypothesis]) -> np.ndarray | None:
    """Return where each word of each caption looked (row, word, place), the mean over blocks and heads."""
    with watching(task.model) as gazes:
        rewrite(task, batch, written)
    crossing = [gaze.weights.float().mean(dim=1) for gaze in gazes if gaze.looks_from != gaze.looks_at]
    return torch.stack(crossing).mean(dim=0).cpu().numpy() if crossing else None


def _caption(task: Any, written: Hypothesis, looks: np.ndarray | None) -> Caption:
    words = task.tokeniser.pieces([*written.tokens, task.end])
    attention = None if looks is None else looks[: len(words)].reshape(-1, *task.grid)
    return Caption(task.write(written.tokens), written.score, words, attention)
