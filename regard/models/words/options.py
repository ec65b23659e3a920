"""Options of word vectors."""

from typing import Literal

from pydantic import Field, model_validator

from regard.base.recipe import Options

WIDEST = 10_000


class Word2VecOptions(Options):
    """Options of word2vec: what is predicted from what, and how predictions are scored."""

    width: int = Field(100, ge=1, le=WIDEST, description="Numbers per vector.")
    method: Literal["skip-gram", "cbow"] = Field(
        "skip-gram",
        description="Predict each of the words around a word from it, or the word from their mean.",
    )
    window: int = Field(
        5, ge=1, le=1000, description="Most words to either side; the number is drawn from 1 to this each time."
    )
    loss: Literal["softmax", "negative", "hierarchical"] = Field(
        "negative",
        description="How a prediction is scored: against all words, which is the definition and slow; against sampled "
        "words; or along the branches of a Huffman tree.",
    )
    negatives: int = Field(5, ge=1, le=100, description="Sampled words for each true one (negative).")
    noise_exponent: float = Field(
        0.75, ge=-1, le=1, description="Words are sampled in proportion to their count to this power (negative)."
    )
    subsampling: float = Field(
        1e-3,
        ge=0,
        le=1,
        description="Leave out words with more than this share of the text at random, more often the more frequent "
        "they are; 0: keep all.",
    )
    divide_mean: bool = Field(
        False,
        description="Divide the gradient step of a mean among its vectors, as the gradient says; word2vec and fastText "
        "give the whole step to each.",
    )

    @property
    def idle(self) -> tuple[str, ...]:
        return () if self.loss == "negative" else ("negatives", "noise_exponent")

    @model_validator(mode="after")
    def _of_this_loss(self) -> "Word2VecOptions":
        for name in self.idle:
            if getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"{name} is for loss = 'negative', but loss is '{self.loss}'")
        return self


class FastTextOptions(Word2VecOptions):
    """Options of fastText: words are made of their letter n-grams, which share rows by their hashes."""

    shortest: int = Field(3, ge=1, le=100, description="Letters of the shortest n-grams.")
    longest: int = Field(6, ge=1, le=100, description="Letters of the longest n-grams, < and > at the ends included.")
    buckets: int = Field(200_000, ge=1, le=2**28, description="Rows that all n-grams share, by their hashes.")

    @model_validator(mode="after")
    def _of_some_length(self) -> "FastTextOptions":
        if self.longest < self.shortest:
            raise ValueError(f"longest is {self.longest}, but the shortest n-grams have {self.shortest} letters")
        return self


class GloVeOptions(Options):
    """Which co-occurrences are counted, and their weights."""

    width: int = Field(100, ge=1, le=WIDEST, description="Numbers per vector.")
    window: int = Field(10, ge=1, le=1000, description="Most words to either side; a word at distance d counts 1/d.")
    x_max: float = Field(100.0, gt=0, description="Count from which on a co-occurrence has full weight.")
    alpha: float = Field(0.75, ge=0, le=1, description="The weight of a count x is (x / x_max) to this power.")
