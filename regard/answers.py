"""Results of models: answers, tags, transcripts, captions, vectors and sounds.

Torch is imported only for vectors, so that exports can answer without it.
"""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.base.notebook import paragraph, ranked, tinted
from regard.viewing.sides import Words

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Answer:
    """An answer with its probability, and the probabilities of all alternatives.

    A computed number has no alternatives: its probability is 1, and `probabilities` is empty.
    """

    answer: str
    probability: float
    probabilities: dict[str, float]

    def __repr__(self) -> str:
        return f"Answer({self.answer!r}, {self.probability:.1%})" if self.probabilities else f"Answer({self.answer!r})"

    def _repr_html_(self) -> str:
        return paragraph(self.answer) + ranked(sorted(self.probabilities.items(), key=lambda item: -item[1]))


@dataclass(frozen=True)
class StoryAnswer(Answer):
    """An answer about a story; `forgotten` counts its first facts that are more than the model remembers."""

    forgotten: int = 0

    def __repr__(self) -> str:
        return super().__repr__()


@dataclass(frozen=True)
class Tags:
    """A tag for each word of an input, the probability of each, and the probability of all together.

    If the tags mark spans of words, `spans` has (type, first word, word after the last).
    """

    words: list[str]
    answers: list[str]
    probabilities: list[float]
    probability: float
    spans: list[tuple[str, int, int]] | None = None

    @property
    def answer(self) -> str:
        """The tags as one line."""
        return " ".join(self.answers)

    def __repr__(self) -> str:
        tagged = " ".join(f"{word}/{tag}" for word, tag in zip(self.words, self.answers, strict=True))
        return f"Tags({tagged!r})"

    def _repr_html_(self) -> str:
        titles = [f"{tag}, {share:.1%} probable" for tag, share in zip(self.answers, self.probabilities, strict=True)]
        tagged = [f"{word}/{tag}" for word, tag in zip(self.words, self.answers, strict=True)]
        return tinted(tagged, [0.6 * share for share in self.probabilities], titles)


@dataclass(frozen=True)
class Spoken:
    """A spoken text: samples from −1 to 1, the speaker, and whether the sound ended or was cut."""

    text: str
    speaker: str
    samples: np.ndarray
    rate: int  # samples per second
    ended: bool

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.rate

    def as_wav(self) -> bytes:
        """Return the content of a wav file."""
        from regard.data.sounds.files import sound_file  # needs the sound library

        return sound_file(self.samples, self.rate)

    def __repr__(self) -> str:
        return f"Spoken({self.text!r}, by {self.speaker!r}, {self.seconds:.2f} s)"

    def _repr_html_(self) -> str:
        player = f'<audio controls src="data:audio/wav;base64,{b64encode(self.as_wav()).decode()}"></audio>'
        return paragraph(f"{self.text}, said by {self.speaker}") + player


@dataclass(frozen=True)
class SaidSymbol:
    """A symbol of a transcript, with its start and end in seconds."""

    symbol: str
    start: float
    end: float


@dataclass(frozen=True)
class Transcript:
    """The text of a sound, its log-probability, and the times of each symbol in the most probable alignment.

    The score of a network that labels frames sums over all alignments; one that decides when to write has only that
    alignment.
    """

    text: str
    score: float
    alignment: list[SaidSymbol]

    def __repr__(self) -> str:
        return f"Transcript({self.text!r}, {self.score:.2f})"

    def as_dict(self) -> dict[str, Any]:
        """Return JSON values: text, score, and the start and end of each symbol in seconds."""
        alignment = [[item.symbol, round(item.start, 4), round(item.end, 4)] for item in self.alignment]
        return {"text": self.text, "score": self.score, "alignment": alignment}

    def _repr_html_(self) -> str:
        titles = [f"{item.start:.2f} to {item.end:.2f} s" for item in self.alignment]
        return tinted([item.symbol for item in self.alignment], [0.3] * len(titles), titles)


@dataclass(frozen=True)
class Caption:
    """A picture's caption, its score in the search, and the attention of each word.

    `attention` is (word, row, column) over the grid of the picture, with the end token as the last word; None if the
    model has none.
    """

    text: str
    score: float
    words: list[str]
    attention: np.ndarray | None = None

    def __repr__(self) -> str:
        return f"Caption({self.text!r}, {self.score:.2f})"

    def as_dict(self) -> dict[str, Any]:
        """Return JSON values: text, score, and the weights of each word, row by row; null without attention."""
        if self.attention is None:
            return {"text": self.text, "score": self.score, "attention": None}
        looks = zip(self.words, self.attention.astype(float).round(4).tolist(), strict=True)
        return {"text": self.text, "score": self.score, "attention": [{"word": w, "weights": a} for w, a in looks]}

    def _repr_html_(self) -> str:
        return paragraph(self.text)


@dataclass(frozen=True)
class TextVectors:
    """The vectors of one text's tokens in every layer, by the number of the layer, each (token, width).

    Layer 0 is the plain embedding, which does not depend on context; the layers above do.
    """

    text: Words
    layers: "dict[int, Tensor]"

    def __repr__(self) -> str:
        width = next((vectors.shape[1] for vectors in self.layers.values()), 0)
        tokens = " ".join(self.text.tokens)
        return f"TextVectors({tokens!r}, layers {', '.join(map(str, self.layers))}, width {width})"

    @property
    def sentence(self) -> "dict[int, Tensor]":
        """One vector of the whole text in every layer, the mean of its tokens; zero without tokens."""
        return {layer: vectors.sum(0) / max(len(vectors), 1) for layer, vectors in self.layers.items()}

    @property
    def words(self) -> "dict[int, Tensor]":
        """The vectors of whole words (word, width), each the mean of the word's tokens."""
        import torch

        places = torch.tensor(self.text.places, dtype=torch.long)
        counts = places.bincount(minlength=len(self.text.words))[:, None]
        return {
            layer: vectors.new_zeros(len(self.text.words), vectors.shape[1]).index_add_(0, places, vectors) / counts
            for layer, vectors in self.layers.items()
        }


@dataclass(frozen=True)
class Followed:
    """The places of a text as a network read them, and its answer if the text ended at each of them."""

    places: Words
    answers: Sequence[Answer] = ()
