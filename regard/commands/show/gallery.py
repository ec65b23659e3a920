"""The best and worst captions of a model on a split of its own data, by CIDEr."""

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
    """Return the best and the worst captions, `shown` of each, with their pictures if those are available."""
    if not has_part(model.recipe.data, split):
        raise Fault(f"The recipe of {folder} names no {split} data to caption.")
    with own_data(model, folder, progress, remark):
        scored = _score_captions(model.task, split, progress)
        gallery = gallery_of(f"{folder.name}, {split}", "CIDEr", scored, shown)
        return gallery.with_pictures(lambda name: model.task.own_picture(split, name))


def _score_captions(task: Any, split: str, progress: Progress) -> list[ScoredCaption]:
    """Caption every picture of a split and score it against its references."""
    source, names, captions = task.source(split), list[str](), list[Caption]()
    references = source.references()
    on_places = task.reader.format.frames is None  # weights over frames cannot be drawn on one picture
    for batch in source.pictures(MEASURED_ROWS):
        progress("writing captions", len(names), len(references))
        names += batch.names
        captions += caption_batch(task, batch.to(task.device), task.decoding, attention=on_places)
    scores = [total / count for total, count in cider().rows([caption.text for caption in captions], references)]
    rows = zip(names, scores, captions, references, strict=True)
    return [
        ScoredCaption(name, score, words := caption.text.split(), human, weights=_looks(caption, len(words)))
        for name, score, caption, human in rows
    ]


def _looks(caption: Caption, words: int) -> np.ndarray | None:
    """Return the attention of the words, without that of the end token."""
    return None if caption.attention is None else caption.attention[:words]
