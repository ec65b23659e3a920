"""A bag of words: n-grams counted, whatever their order in the text, and logistic regression over the counts.

With `naive_bayes` every count is first multiplied by how much the n-gram speaks for a class (Wang and Manning 2012).
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
    """Which n-grams are counted, what a count is worth, and how far the weights are held back."""

    ngrams: int = Field(2, ge=1, le=3, description="The longest n-grams that are counted; 1 is words alone.")
    at_least: int = Field(1, ge=1, description="N-grams in fewer training texts than this are passed over.")
    values: Literal["counts", "binary", "tf-idf"] = Field(
        "binary",
        description="What an n-gram of a text is worth: how often it occurs, 1, or its count times how rare it is, "
        "every text scaled to length 1.",
    )
    naive_bayes: bool = Field(
        False, description="Multiply by the log-ratio of how often an n-gram is in texts of a class and of the others."
    )
    smoothing: float = Field(1.0, gt=0, description="What naive_bayes adds to the count of every n-gram.")
    l2: float = Field(
        1e-4, ge=0, description="Half of it, times the sum of the squared weights, is added to the loss of a text."
    )


class NgramTable(NamedTuple):
    """The n-grams that a bag knows, by their sorted keys, and in how many texts of each class they occur."""

    keys: Int[Tensor, " ngram"]
    texts: Float[Tensor, "ngram class"]
    all_texts: int


def ngram_keys(texts: TextRows, highest: int, vocabulary: int) -> Int[Tensor, "batch place"]:
    """A number for each n-gram of each text, up to order `highest`; NO_NGRAM at the places of padding.

    Tokens are digits from 1 on of numbers to the base `vocabulary` + 1: those of different orders never meet.
    """
    digits, found = texts.tokens + 1, []
    key = torch.zeros_like(digits)
    for order in range(1, min(highest, digits.shape[1]) + 1):
        places = digits.shape[1] - order + 1
        key = key[:, :places] * (vocabulary + 1) + digits[:, order - 1 :]
        is_real = torch.arange(places, device=key.device) + order <= texts.lengths[:, None]
        found.append(key.masked_fill(~is_real, NO_NGRAM))
    return torch.cat(found, dim=1)


def count_runs(sorted_keys: Int[Tensor, "batch place"]) -> Int[Tensor, "batch place"]:
    """At the first place of each run of equal keys, how long it is; zero at the others."""
    begins = torch.ones_like(sorted_keys, dtype=torch.bool)
    begins[:, 1:] = sorted_keys[:, 1:] != sorted_keys[:, :-1]
    run = begins.cumsum(dim=1) - 1
    lengths = torch.zeros_like(sorted_keys).scatter_add_(1, run, torch.ones_like(sorted_keys))
    return lengths.gather(1, run) * begins


class Bag(Classifier):
    """log softmax(Σ_f x_f (r_f ⊙ w_f) + b): x is the worth of each n-gram f, r is 1 or its log-count ratio.

    r_f = log((p_f / ‖p‖₁) / (q_f / ‖q‖₁)) for each class (Wang and Manning 2012, equation 1), with p_f − α the texts of
    the class that have f, and q_f − α those of all others. The paper mixes w with its mean; here L2 holds it.
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
    def take_counts(self, found: NgramTable) -> None:
        """Work out from the training texts how rare each n-gram is, and how much it speaks for each class."""
        having = found.texts.sum(dim=1)
        if self.options.values == "tf-idf":
            self.rarity.copy_(torch.log((1 + found.all_texts) / (1 + having)) + 1)
        if self.options.naive_bayes:
            of_class = found.texts + self.options.smoothing
            of_others = having[:, None] - found.texts + self.options.smoothing
            self.ratios.copy_((of_class / of_class.sum(dim=0) / (of_others / of_others.sum(dim=0))).log())

    def answer(self, texts: TextRows) -> Float[Tensor, "batch class"]:
        """The log-probabilities of the classes."""
        ngrams, values = self._worth(texts)
        scores = F.embedding_bag(ngrams, self.weight * self.ratios, per_sample_weights=values, mode="sum")
        return torch.log_softmax(scores + self.bias, dim=-1)

    def _worth(self, texts: TextRows) -> tuple[Int[Tensor, "batch place"], Float[Tensor, "batch place"]]:
        """The n-grams of each text, and what each is worth: nothing where it is unknown or came before."""
        keys = ngram_keys(texts, self.options.ngrams, self.vocabulary).sort(dim=1).values
        known = self._keys.to(keys.device)
        ngrams = torch.searchsorted(known, keys).clamp(max=len(known) - 1)
        counts = (count_runs(keys) * (known[ngrams] == keys)).to(self.weight.dtype)
        if self.options.values == "counts":
            return ngrams, counts
        if self.options.values == "binary":
            return ngrams, counts.clamp(max=1)
        values = counts * self.rarity[ngrams]
        return ngrams, values / values.norm(dim=1, keepdim=True).clamp(min=torch.finfo(values.dtype).tiny)

    def penalty(self) -> Float[Tensor, ""]:
        """The penalty on each text's loss: l2/2 Σ w², without the bias."""
        return self.options.l2 / 2 * self.weight.square().sum()

    def facts(self) -> dict[str, Any]:
        return {"n-grams": len(self.weight)}

    def multiplications(self, length: int) -> int:
        """Return the multiplications for a text of `length` words: each of its n-grams once for every class."""
        return sum(max(length - order, 0) for order in range(self.options.ngrams)) * self.weight.shape[1]
