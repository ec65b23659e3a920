"""The n-grams that a bag of words learns with: found in the training texts, and kept in the model folder."""

import io
from collections.abc import Mapping

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from regard.base.faults import Fault
from regard.data.arrays import array_in
from regard.data.labelled.prepare import LabelledTexts
from regard.data.prepared import damaged
from regard.models.text.bag import NO_NGRAM, BagOptions, NgramTable, count_runs, ngram_keys
from regard.tasks.classification.batches import text_batches

NGRAMS_FILE = "ngrams.npy"
_LARGEST_KEY = 2**63


def find_ngrams(texts: LabelledTexts, options: BagOptions, vocabulary: int, classes: int, pad: int) -> NgramTable:
    """The n-grams of training texts that are frequent enough, with the texts of each class that have them."""
    if (vocabulary + 1) ** options.ngrams >= _LARGEST_KEY:
        raise Fault(f"{vocabulary:,} tokens are too many for n-grams of {options.ngrams}; make model.ngrams smaller.")
    keys, labels = [], []
    for batch in text_batches(texts, pad, 100, None, 0):
        found = ngram_keys(batch.texts, options.ngrams, vocabulary).sort(dim=1).values
        is_new = (count_runs(found) > 0) & (found != NO_NGRAM)
        keys.append(found[is_new])
        labels.append(batch.labels[:, None].expand_as(found)[is_new])
    every, number = torch.cat(keys).unique(return_inverse=True)
    counts = torch.zeros(len(every) * classes).index_add_(
        0, number * classes + torch.cat(labels), torch.ones(len(number))
    )
    by_class = counts.view(len(every), classes)
    is_frequent = by_class.sum(dim=1) >= options.at_least
    if not is_frequent.any():
        raise Fault(f"No n-gram is in {options.at_least} training texts; make model.at_least smaller.")
    return NgramTable(every[is_frequent], by_class[is_frequent], len(texts))


def ngrams_as_bytes(keys: Int[Tensor, " ngram"]) -> bytes:
    """As they are kept in the model folder."""
    buffer = io.BytesIO()
    np.save(buffer, keys.numpy(), allow_pickle=False)
    return buffer.getvalue()


def open_ngrams(files: Mapping[str, bytes]) -> Int[Tensor, " ngram"]:
    """The n-grams in the files of a model folder, which need not be trusted."""
    try:
        keys = array_in(files[NGRAMS_FILE])
    except (KeyError, ValueError):
        keys = np.zeros(0)
    if keys.ndim != 1 or keys.dtype != np.int64 or not len(keys) or (np.diff(keys) <= 0).any():
        raise damaged(NGRAMS_FILE)
    return torch.from_numpy(keys)
