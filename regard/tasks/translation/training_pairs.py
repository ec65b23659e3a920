"""Training pairs of a translator: a prepared corpus in batches with a budget of tokens."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import torch

from regard.base.faults import Fault
from regard.base.progress import Progress, Remark
from regard.data.corpora.batching import BatchPlan
from regard.data.corpora.prepare import prepare
from regard.data.corpora.prepared import PreparedPairs, is_prepared, purpose_of
from regard.data.corpora.resampling import PairCutter, SampledPairs, workers_beside_gpu
from regard.data.corpora.text import file_of
from regard.data.tokenisers.tokeniser import tokenisers_in
from regard.tasks.base import Files
from regard.tasks.translation.batches import PairBatch
from regard.tasks.translation.options import TranslationRecipe
from regard.tasks.translation.packs import PackedBatch, pack

PackingFit = Callable[[int], bool]  # returns True if sentences of up to this many tokens can be packed
TokenRows = tuple[list[np.ndarray], list[np.ndarray]]  # of sources, and of their targets


def check_files(recipe: TranslationRecipe, folder: Path | None) -> None:
    """Refuse a recipe whose files are missing, unless its data is already prepared."""
    if folder is not None and is_prepared(folder):
        return
    purpose_of(recipe.data)
    if recipe.data.vectors is not None and not file_of(recipe.data.vectors).exists():
        raise Fault(f"There are no vectors at {recipe.data.vectors}.")


def prepare_pairs(
    recipe: TranslationRecipe, folder: Path, progress: Progress, remark: Remark, start: Files | None
) -> PreparedPairs:
    """Prepare the pairs of a recipe, with the tokenisers of the model it starts from, if any."""
    tokenisers = tokenisers_in(start, recipe.data.tokeniser) if start else None
    corpus = prepare(recipe.data, folder, progress, tokenisers, remark, recipe.tells_unknown)
    _check_validation(corpus, recipe.model.longest)
    return corpus


def _check_validation(corpus: PreparedPairs, longest: int) -> None:
    """Refuse validation sentences that are too long for the model now, rather than at the first validation."""
    sources = corpus.source.encode_all([source for source, _ in corpus.valid])
    targets = corpus.target.encode_all([target for _, target in corpus.valid])
    most = max((len(tokens) + 1 for tokens in [*sources, *targets]), default=0)
    if most > longest:
        raise Fault(f"The longest validation sentence has {most} tokens, but model.longest is {longest}.")


class TrainingPairs:
    """The pairs of a corpus in batches of at most `batch_tokens` tokens of the longer side.

    With a `cutter` the text is tokenised again in every epoch; otherwise it stays as prepared. With a `capacity`, the
    number of tokens that fit into a pack, batches are packed if possible.
    """

    def __init__(
        self,
        corpus: PreparedPairs,
        batch_tokens: int,
        device: torch.device,
        cutter: PairCutter | None = None,
        capacity: int = 0,
    ) -> None:
        pairs = corpus.train
        self.corpus, self.device, self.capacity = corpus, device, capacity
        self.plan = BatchPlan(pairs.source_lengths, pairs.target_lengths, batch_tokens, pairs.corpora)
        workers = workers_beside_gpu() if device.type == "cuda" else 0
        self._sampled = SampledPairs(cutter, workers) if cutter else None

    @property
    def workers(self) -> int:
        """Number of worker processes that sample subwords; 0 if this process does it, or none is needed."""
        return self._sampled.workers if self._sampled else 0

    def rows(self, seed: int, epoch: int, start: int) -> Iterator[TokenRows]:
        """Yield the tokens of both sides, batch by batch."""
        batches: Iterable[np.ndarray] = self.plan.batches(seed, epoch, start)
        if self._sampled is not None:
            yield from self._sampled.batches(batches, seed, epoch)
            return
        pairs = self.corpus.train
        for rows in batches:
            pairs.check_lengths()
            yield [pairs.tokens("source", row) for row in rows], [pairs.tokens("target", row) for row in rows]

    def placed(self, batch: PairBatch, fits: PackingFit) -> PairBatch | PackedBatch:
        """Move a batch from the host to the device, packed if possible."""
        longest = max(batch.source.shape[1], batch.target.shape[1])
        packed = pack(batch, self.capacity, self.device) if fits(longest) else None
        return packed or batch.to(self.device)
