"""Options of word vectors."""

from typing import Literal

from pydantic import Field, model_validator

from regard.base.recipe import Options

WIDEST = 10_000


class Word2VecOptions(Options):
    """Options of word2vec: what is predicted from what, and how a prediction is scored."""

    width: int = Field(100, ge=1, le=WIDEST, description="How many numbers a vector has.")
    method: Literal["skip-gram", "cbow"] = Field(
        "skip-gram",
        description="Whether a word predicts each of the words around it, or their mean predicts the word.",
    )
    window: int = Field(
        5, ge=1, le=1000, description="The most words to either side; each time a number from 1 to this is drawn."
    )
    loss: Literal["softmax", "negative", "hierarchical"] = Field(
        "negative",
        description="How a prediction is scored: against all words, which is the definition and slow; against words "
        "that are drawn; or along the branches of a Huffman tree.",
    )
    negatives: int = Field(5, ge=1, le=100, description="Words that are drawn against each right one (negative).")
    noise_exponent: float = Field(
        0.75, ge=-1, le=1, description="Words are drawn in proportion to their count to the power of this (negative)."
    )
    subsampling: float = Field(
        1e-3,
        ge=0,
        le=1,
        description="Words with more than this share of the text are left out at random, the more often the more "
        "frequent they are; 0 keeps all.",
    )
    divide_mean: bool = Field(
        False,
        description="Divide the step of a mean among the vectors that it is the mean of, as the gradient says; "
        "word2vec and fastText give all of it to each.",
    )

    @property
    def idle(self) -> tuple[str, ...]:
        return () if self.loss == "negative" else ("negatives", "noise_exponent")

    @model_validator(mode="after")
    def _of_this_loss(self) -> "Word2VecOptions":
        for name in self.idle:
            if getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"{name} is for loss = 'negative', and loss is '{self.loss}'")
        return self


class FastTextOptions(Word2VecOptions):
    """Options of fastText: words are made of their n-grams of letters, which share rows where their hashes do."""

    shortest: int = Field(3, ge=1, le=100, description="Letters of the shortest n-grams.")
    longest: int = Field(6, ge=1, le=100, description="Letters of the longest n-grams, < and > at the ends included.")
    buckets: int = Field(
        200_000, ge=1, le=2**28, description="Rows that all n-grams share: each has the row of its hash."
    )

    @model_validator(mode="after")
    def _of_some_length(self) -> "FastTextOptions":
        if self.longest < self.shortest:
            raise ValueError(f"longest is {self.longest}, but the shortest n-grams have {self.shortest} letters")
        return self


class GloVeOptions(Options):
    """Which co-occurrences are counted, and how much each counts."""

    width: int = Field(100, ge=1, le=WIDEST, description="How many numbers a vector has.")
    window: int = Field(
        10, ge=1, le=1000, description="The most words to either side; one at the distance d counts 1/d."
    )
    x_max: float = Field(100.0, gt=0, description="The count from which on a co-occurrence has its full weight.")
    alpha: float = Field(0.75, ge=0, le=1, description="The weight of a count x is (x / x_max) to the power of this.")
