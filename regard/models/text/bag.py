"""A bag of words: counts of n-grams, whatever their order in the text, and logistic regression over them.

With `naive_bayes` every count is first multiplied by the n-gram's log-count ratio for a class (Wang and Manning 2012).
"""

from typing import Any, Literal, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from pydantic import Field
from torch import Tensor, nn

from regard.base.recipe import Options
from regard.models.text.classifier import Classifier
from regard.models.text.texts import TextRows

NO_NGRAM = -1


class BagOptions(Options):
    """Which n-grams are counted, their values, and the regularisation."""

    ngrams: int = Field(2, ge=1, le=3, description="Longest n-grams to count; 1: words only.")
    at_least: int = Field(1, ge=1, description="Ignore n-grams that are in fewer training texts than this.")
    values: Literal["counts", "binary", "tf-idf"] = Field(
        "binary",
        description="Value of an n-gram in a text: its count, 1, or its count times its inverse document frequency, "
        "with every text scaled to length 1.",
    )
    naive_bayes: bool = Field(
        False, description="Multiply by the log-ratio of an n-gram's frequency in texts of a class and in the others."
    )
    smoothing: float = Field(1.0, gt=0, description="Number that naive_bayes adds to every count.")
    l2: float = Field(
        1e-4, ge=0, description="L2 penalty: half of it times the sum of squared weights is added to each text's loss."
    )


class NgramTable(NamedTuple):
    """The n-grams of a bag as sorted keys, and the number of texts of each class that have them."""

    keys: Int[Tensor, " ngram"]
    texts: Float[Tensor, "ngram class"]
    all_texts: int


def ngram_keys(texts: TextRows, highest: int, vocabulary: int) -> Int[Tensor, "batch place"]:
    """Return a number for each n-gram of each text, up to order `highest`; NO_NGRAM for padding.

    Tokens are digits, from 1 on, of numbers in base `vocabulary` + 1, so numbers of different orders never collide.
    """
    digits, keys = texts.tokens + 1, []
    key = torch.zeros_like(digits)
    for order in range(1, min(highest, digits.shape[1]) + 1):
        places = digits.shape[1] - order + 1
        key = key[:, :places] * (vocabulary + 1) + digits[:, order - 1 :]
        is_real = torch.arange(places, device=key.device) + order <= texts.lengths[:, None]
        keys.append(key.masked_fill(~is_real, NO_NGRAM))
    return torch.cat(keys, dim=1)


def count_runs(sorted_keys: Int[Tensor, "batch place"]) -> Int[Tensor, "batch place"]:
    """Return the length of each run of equal keys at its first place, and zero elsewhere."""
    begins = torch.ones_like(sorted_keys, dtype=torch.bool)
    begins[:, 1:] = sorted_keys[:, 1:] != sorted_keys[:, :-1]
    run = begins.cumsum(dim=1) - 1
    lengths = torch.zeros_like(sorted_keys).scatter_add_(1, run, torch.ones_like(sorted_keys))
    return lengths.gather(1, run) * begins


class Bag(Classifier):
    """log softmax(Σ_f x_f (r_f ⊙ w_f) + b): x is the value of each n-gram f, and r is 1 or its log-count ratio.

    r_f = log((p_f / ‖p‖₁) / (q_f / ‖q‖₁)) for each class (Wang and Manning 2012, equation 1), with p_f − α the texts of
    the class that have f, and q_f − α those of all others. The paper interpolates w with its mean; here L2 limits it.
    """

    counts_ngrams = True
    rarity: Tensor
    ratios: Tensor

    def __init__(self, options: BagOptions, vocabulary: int, keys: Int[Tensor, " ngram"], classes: int) -> None:
        super().__init__()
        self.options, self.vocabulary, self._keys = options, vocabulary, keys
        self.weight = nn.Parameter(torch.empty(len(keys), classes))
        self.bias = nn.Parameter(torch.empty(classes))
        nn.init.zeros_(self.weight)
        nn.init.zeros_(self.bias)
        self.register_buffer("rarity", torch.ones(len(keys)))
        self.register_buffer("ratios", torch.ones(len(keys), classes))

    @torch.no_grad()
    def take_counts(self, table: NgramTable) -> None:
        """Compute from the training texts how rare each n-gram is, and its ratio for each class."""
        texts_with = table.texts.sum(dim=1)
        if self.options.values == "tf-idf":
            self.rarity.copy_(torch.log((1 + table.all_texts) / (1 + texts_with)) + 1)
        if self.options.naive_bayes:
            of_class = table.texts + self.options.smoothing
            of_others = texts_with[:, None] - table.texts + self.options.smoothing
            self.ratios.copy_((of_class / of_class.sum(dim=0) / (of_others / of_others.sum(dim=0))).log())

    def answer(self, texts: TextRows) -> Float[Tensor, "batch class"]:
        """Return the log-probabilities of the classes."""
        ngrams, values = self._worth(texts)
        scores = F.embedding_bag(ngrams, self.weight * self.ratios, per_sample_weights=values, mode="sum")
        return torch.log_softmax(scores + self.bias, dim=-1)

    def _worth(self, texts: TextRows) -> tuple[Int[Tensor, "batch place"], Float[Tensor, "batch place"]]:
        """Return the n-grams of each text and their values: zero for unknown and repeated ones."""
        keys = ngram_keys(texts, self.options.ngrams, self.vocabulary).sort(dim=1).values
        known_keys = self._keys.to(keys.device)
        ngrams = torch.searchsorted(known_keys, keys).clamp(max=len(known_keys) - 1)
        counts = (count_runs(keys) * (known_keys[ngrams] == keys)).to(self.weight.dtype)
        if self.options.values == "counts":
            return ngrams, counts
        if self.options.values == "binary":
            return ngrams, counts.clamp(max=1)
        values = counts * self.rarity[ngrams]
        return ngrams, values / values.norm(dim=1, keepdim=True).clamp(min=torch.finfo(values.dtype).tiny)

    def penalty(self) -> Float[Tensor, ""]:
        """Return the penalty on each text's loss: l2/2 Σ w², without the bias."""
        return self.options.l2 / 2 * self.weight.square().sum()

    def facts(self) -> dict[str, Any]:
        return {"n-grams": len(self.weight)}

    def multiplications(self, length: int) -> int:
        """Return the multiplications for a text of `length` words: one per n-gram and class."""
        return sum(max(length - order, 0) for order in range(self.options.ngrams)) * self.weight.shape[1]
