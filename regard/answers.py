"""Results of reading: answers, tags, transcripts, vectors, sounds, and intermediate answers."""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regard.base.notebook import paragraph, ranked, tinted
from regard.viewing.sides import Words


@dataclass(frozen=True)
class Answer:
    """An answer with its probability, and the probabilities of all alternatives.

    A number that is worked out has nothing beside it: its probability is 1, and there are no probabilities to tell.
    """

    answer: str
    probability: float
    probabilities: dict[str, float]

    def __repr__(self) -> str:
        return f"Answer({self.answer!r}, {self.probability:.1%})" if self.probabilities else f"Answer({self.answer!r})"

    def _repr_html_(self) -> str:
        return paragraph(self.answer) + ranked(sorted(self.probabilities.items(), key=lambda each: -each[1]))


@dataclass(frozen=True)
class StoryAnswer(Answer):
    """An answer about a story; so many of its first facts are forgotten, where it has more than a model remembers."""

    forgotten: int = 0

    def __repr__(self) -> str:
        return super().__repr__()


@dataclass(frozen=True)
class Tags:
    """One answer for each word of an input, how probable each is, and how probable all of them together.

    Where the tags spell spans of words, those are (type, first word, the word behind the last).
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
    """A sound that says a text: its samples from −1 to 1, who speaks, and whether it ended or had to be cut."""

    text: str
    speaker: str
    samples: np.ndarray
    rate: int  # samples in a second
    ended: bool

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.rate

    def as_wav(self) -> bytes:
        """The content of a wav file."""
        from regard.data.sounds.files import sound_file  # which a library for sounds comes with

        return sound_file(self.samples, self.rate)

    def __repr__(self) -> str:
        return f"Spoken({self.text!r}, by {self.speaker!r}, {self.seconds:.2f} s)"

    def _repr_html_(self) -> str:
        player = f'<audio controls src="data:audio/wav;base64,{b64encode(self.as_wav()).decode()}"></audio>'
        return paragraph(f"{self.text}, said by {self.speaker}") + player


@dataclass(frozen=True)
class SaidSymbol:
    """A symbol of a transcript, and when it is said, in seconds from the beginning of the sound."""

    symbol: str
    start: float
    end: float


@dataclass(frozen=True)
class Transcript:
    """Text of a sound, its log-probability, and where each symbol lies on the most probable alignment.

    A network that labels frames sums over all alignments, one that decides when to write has that alignment alone.
    """

    text: str
    score: float
    alignment: list[SaidSymbol]

    def __repr__(self) -> str:
        return f"Transcript({self.text!r}, {self.score:.2f})"

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it: text, score, and for each symbol the seconds from which and to which it is said."""
        alignment = [[each.symbol, round(each.start, 4), round(each.end, 4)] for each in self.alignment]
        return {"text": self.text, "score": self.score, "alignment": alignment}

    def _repr_html_(self) -> str:
        titles = [f"{each.start:.2f} to {each.end:.2f} s" for each in self.alignment]
        return tinted([each.symbol for each in self.alignment], [0.3] * len(titles), titles)


@dataclass(frozen=True)
class Caption:
    """A picture's caption, its probability as the search ranked it, and where each word looked.

    `attention` is (word, row, column) over the grid of the picture, the end behind the last word counted as one; None
    where the model has none.
    """

    text: str
    score: float
    words: list[str]
    attention: np.ndarray | None = None

    def __repr__(self) -> str:
        return f"Caption({self.text!r}, {self.score:.2f})"

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it: text, score, and of each word its weights, row by row of the grid; null without attention."""
        if self.attention is None:
            return {"text": self.text, "score": self.score, "attention": None}
        looks = zip(self.words, self.attention.astype(float).round(4).tolist(), strict=True)
        return {"text": self.text, "score": self.score, "attention": [{"word": w, "weights": a} for w, a in looks]}

    def _repr_html_(self) -> str:
        return paragraph(self.text)


@dataclass(frozen=True)
class TextVectors:
    """The vectors of one text: of each token in every layer, by the number of the layer, each (token, width).

    Layer 0 is the plain embedding, the same wherever a token stands; those above it know what stands around it.
    """

    text: Words
    layers: dict[int, Tensor]

    def __repr__(self) -> str:
        width = next((vectors.shape[1] for vectors in self.layers.values()), 0)
        tokens = " ".join(self.text.tokens)
        return f"TextVectors({tokens!r}, layers {', '.join(map(str, self.layers))}, width {width})"

    @property
    def sentence(self) -> dict[int, Tensor]:
        """One vector of the whole text in every layer, the mean of its tokens; zero where it has none."""
        return {layer: vectors.sum(0) / max(len(vectors), 1) for layer, vectors in self.layers.items()}

    @property
    def words(self) -> dict[int, Tensor]:
        """The vectors of whole words (word, width), each the mean of the word's tokens."""
        places = torch.tensor(self.text.places, dtype=torch.long)
        counts = places.bincount(minlength=len(self.text.words))[:, None]
        return {
            layer: vectors.new_zeros(len(self.text.words), vectors.shape[1]).index_add_(0, places, vectors) / counts
            for layer, vectors in self.layers.items()
        }


@dataclass(frozen=True)
class Followed:
    """The places of a text as a network read them, and what it would answer if the text ended at each of them."""

    places: Words
    answers: Sequence[Answer] = ()
