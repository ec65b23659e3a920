"""The best and the worst captions that a model writes of a split of its own data, by CIDEr."""

from pathlib import Path
from typing import Any

import numpy as np

from regard.base.faults import Fault
from regard.base.progress import Progress, Remark
from regard.loading import Loaded
from regard.metrics.cider import cider
from regard.protocols import Caption
from regard.runs.evaluate import has_part, own_data
from regard.tasks.captioning.batches import MEASURED_ROWS
from regard.verbs.caption.run import caption_batch
from regard.viewing.gallery import Gallery, ScoredCaption, gallery_of


def caption_gallery(model: Loaded, folder: Path, split: str, shown: int, progress: Progress, remark: Remark) -> Gallery:
    """As many of the best captions as are to be shown, and of the worst, with their pictures where these are here."""
    if not has_part(model.recipe.data, split):
        raise Fault(f"The recipe of {folder} names no {split} data to write captions of.")
    with own_data(model, folder, progress, remark):
        scored = _score_captions(model.task, split, progress)
        gallery = gallery_of(f"{folder.name}, {split}", "CIDEr", scored, shown)
        return gallery.with_pictures(lambda name: model.task.own_picture(split, name))


def _score_captions(task: Any, split: str, progress: Progress) -> list[ScoredCaption]:
    """The caption of every picture of a split, beside what people wrote."""
    source, names, captions = task.source(split), list[str](), list[Caption]()
    references = source.references()
    on_places = task.reader.format.frames is None  # the frames of a video are no places of the one that is shown
    for batch in source.pictures(MEASURED_ROWS):
        progress("writing captions", len(names), len(references))
        names += batch.names
        captions += caption_batch(task, batch.to(task.device), task.decoding, attention=on_places)
    scores = [total / count for total, count in cider().rows([each.text for each in captions], references)]
    found = zip(names, scores, captions, references, strict=True)
    return [
        ScoredCaption(name, score, words := caption.text.split(), own, weights=_looks(caption, len(words)))
        for name, score, caption, own in found
    ]


def _looks(caption: Caption, words: int) -> np.ndarray | None:
    """Return where the words looked, without the end behind them."""
    return None if caption.attention is None else caption.attention[:words]
