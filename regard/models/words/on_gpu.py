"""Learn from batches of text on a GPU: subsampling, window sizes and negative samples are drawn there."""

import numpy as np
import torch
from jaxtyping import Float, Int, Int64
from torch import Tensor

from regard.models.words.ngrams import Parts
from regard.models.words.options import Word2VecOptions
from regard.models.words.sampling import alias_table, keep_probabilities, shares
from regard.models.words.text import TextBatch

MOST_PROGRAMS = 512
WORDS_FOR_EACH = 40


def side_by_side(vocabulary: int) -> int:
    """Return how many programs may learn at once: with fewer words, more of them would update the same row."""
    return max(1, min(MOST_PROGRAMS, vocabulary // WORDS_FOR_EACH))


class GpuLearner:
    """Learns from batches by negative sampling, with parts of each batch in parallel."""

    def __init__(
        self, options: Word2VecOptions, counts: Int64[np.ndarray, " word"], parts: Parts, device: torch.device
    ) -> None:
        self.options, self.device = options, device
        noise = alias_table(shares(counts, options.noise_exponent))
        arrays = (keep_probabilities(counts, options.subsampling), *noise, *parts)
        self.keep, self.own, self.alias, *self.parts = (torch.from_numpy(array).to(device) for array in arrays)

    def learn(
        self,
        batch: TextBatch,
        rates: tuple[float, float],
        programs: int,
        centres: Float[Tensor, "row width"],
        contexts: Float[Tensor, "word width"],
    ) -> tuple[float, int]:
        """Learn from a batch while the rate goes from one to the other; return the total loss and its count."""
        from regard.kernels.word_vectors import learn_places  # needs Triton

        options, device = self.options, self.device
        is_cbow = options.method == "cbow"
        chance = torch.Generator(device).manual_seed(batch.key)
        words, starts = (torch.from_numpy(array).to(device) for array in (batch.words, batch.starts))
        sentence = torch.searchsorted(starts, torch.arange(len(words), device=device), right=True)
        is_kept = torch.rand(len(words), generator=chance, device=device) < self.keep[words]
        words, sentence = words[is_kept], sentence[is_kept]
        if not len(words):
            return 0.0, 0
        places = torch.arange(len(words), device=device)
        reach = torch.randint(1, options.window + 1, (len(words),), generator=chance, device=device)
        lows = torch.maximum(torch.searchsorted(sentence, sentence), places - reach)
        highs = torch.minimum(torch.searchsorted(sentence, sentence, right=True), places + reach + 1)
        # Skip-gram needs room for a prediction at each distance, before and after.
        negatives = self._draw((len(words), 1 if is_cbow else 2 * options.window, options.negatives), chance)
        losses = learn_places(
            words, lows.int(), highs.int(), torch.linspace(*rates, len(words), device=device), negatives,
            (self.parts[0], self.parts[1]), centres, contexts, is_cbow, options.divide_mean, options.window,
            programs,
        )  # fmt: skip
        others = highs - lows - 1
        return float(losses.sum()), int((others > 0).sum() if is_cbow else others.sum())

    def _draw(self, shape: tuple[int, ...], chance: torch.Generator) -> Int[Tensor, "..."]:
        """Draw noise words by the alias method."""
        place = torch.randint(len(self.own), shape, generator=chance, device=self.device, dtype=torch.int32)
        coin = torch.rand(shape, generator=chance, device=self.device)
        return torch.where(coin < self.own[place], place, self.alias[place])
