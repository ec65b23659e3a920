"""The task of word vectors: learn from text, and give each word its vector."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regard.base.faults import Fault
from regard.base.progress import Progress, Remark
from regard.data.texts.options import WordsData
from regard.data.texts.prepare import PreparedText, check_files_of, prepare_text
from regard.data.tokenisers.symbols import NAMES
from regard.data.tokenisers.tokeniser import Tokeniser, tokenisers_in
from regard.data.vectors.word_vectors import WordVectors
from regard.hardware.devices import pick_device
from regard.models.words.devices import check_device
from regard.models.words.learning import Learning
from regard.models.words.vocabulary import COUNTS, Vocabulary, read_vocabulary
from regard.protocols import Learnt, Measure, Tally, TextVectors, WhichVectors, mean
from regard.tasks.base import Files, build_network
from regard.tasks.text import cut_words
from regard.tasks.words.options import WordsRecipe
from regard.viewing import sides

LOSS = "loss"


@dataclass(frozen=True)
class PreparedWords:
    """Text as tokens, and how often each word occurs in the training text."""

    text: PreparedText
    vocabulary: Vocabulary

    @property
    def report(self) -> list[str]:
        return [*self.text.report, f"vocabulary: {len(self.vocabulary):,} words"]

    def files(self) -> dict[str, bytes]:
        return self.text.files() | {COUNTS: self.vocabulary.counts_file()}


class Words:
    """A model of word vectors that learns from text and gives each word its vector."""

    MEASURES = (LOSS,)

    def __init__(self, model: Any, tokeniser: Tokeniser, data: WordsData) -> None:
        self.model, self.tokeniser, self.data = model, tokeniser, data
        self.unit = model.unit
        self._numbers = {word: number for number, word in enumerate(model.vocabulary.words)}
        self._material: dict[str, Any] = {}
        self._learning, self._epochs = Learning(0.0, 0.0, 1), 1

    # Construction

    @classmethod
    def check(cls, recipe: WordsRecipe, device: torch.device, folder: Path | None) -> None:
        if recipe.start_from is not None:
            raise Fault("Word vectors cannot start from others yet; train them on all text at once.")
        check_device(device, getattr(recipe.model, "loss", ""))
        check_files_of(recipe.data, folder)

    @classmethod
    def prepare(
        cls, recipe: WordsRecipe, folder: Path, progress: Progress, remark: Remark, start: Files | None
    ) -> PreparedWords:
        text = prepare_text(recipe.data, folder, progress, remark, _tokeniser(recipe, start) if start else None)
        words = text.tokeniser.pieces(range(len(NAMES), text.tokeniser.size))
        counts = np.bincount(text.splits["train"], minlength=text.tokeniser.size)[len(NAMES) :]
        return PreparedWords(text, Vocabulary(words, counts))

    @classmethod
    def build(cls, recipe: WordsRecipe, files: Files) -> "Words":
        tokeniser = _tokeniser(recipe, files)
        words = tokeniser.pieces(range(len(NAMES), tokeniser.size))
        vocabulary = read_vocabulary(words, files.get(COUNTS))
        return cls(build_network(recipe, vocabulary), tokeniser, recipe.data)

    def learn_from(self, prepared: PreparedWords, recipe: WordsRecipe) -> None:
        self._learning, self._epochs = recipe.learning(), recipe.training.epochs
        self._material = {
            split: self.model.material(tokens, self.tokeniser.end, len(NAMES), self._learning)
            for split, tokens in prepared.text.splits.items()
        }
        if not self.model.is_ready:
            self.model.initialise(recipe.seed)
            self.model.move_to(pick_device(recipe.training.device))

    def batches(self, split: str, seed: int, epoch: int, start: int) -> Iterator[Any]:
        if split not in self._material:
            return iter(())
        return self.model.batches(self._material[split], seed, epoch, self._epochs, start)

    # Learning

    def length(self) -> int:
        return len(self._material["train"])

    def update(self, batch: Any) -> Learnt:
        return Learnt(*self.model.update(batch, self._learning))

    def state(self) -> dict[str, Tensor]:
        return self.model.state()

    def resume_state(self, tensors: Mapping[str, Tensor]) -> None:
        device = next(iter(self.model.state().values())).device
        self.model.resume_state(tensors)
        self.model.move_to(device)

    def weights(self) -> dict[str, Tensor]:
        return self.model.weights()

    def load_weights(self, tensors: Mapping[str, Tensor]) -> None:
        self.model.load_weights(tensors)

    # Measuring

    def measure(self, batch: Any) -> dict[str, Measure]:
        """Return the loss of a text; none if no sentence has two known words."""
        total, count = self.model.loss(batch)
        if not count:
            return {}
        return {LOSS: Measure(Tally((total, count), mean), "lower", self.model.signature)}

    # For people

    def word_vectors(self, which: WhichVectors = "centres") -> WordVectors:
        """Return the vectors of all words, frequent ones first."""
        return WordVectors(list(self.model.vocabulary.words), self.model.vectors(which).cpu().numpy())

    def vector_of(self, word: str, which: WhichVectors = "centres") -> np.ndarray | None:
        """Return the vector of a word; for an unknown word, one composed from its letters if the family can."""
        if (number := self._numbers.get(word)) is not None:
            return self.model.vectors(which)[number].cpu().numpy()
        composed = self.model.compose(word) if which == "centres" else None
        return None if composed is None else composed.cpu().numpy()

    def read(self, inputs: Sequence[str]) -> list[list[str]]:
        """Return the words of texts as people write them, in the spelling of the training text."""
        return [cut_words(self.data.tokeniser.kind, self.data.spell(text)) for text in inputs]

    def embed(self, batch: list[list[str]]) -> list[TextVectors]:
        """Return the vectors of all words of each text, in the only layer; a word without a vector is zero."""
        table, width = self.word_vectors(), self.model.options.width
        nothing = np.zeros(width, np.float32)
        texts = []
        for words in batch:
            vectors = [table[word] if word in self._numbers else self.vector_of(word) for word in words]
            rows = [nothing if vector is None else vector for vector in vectors]
            layer = torch.from_numpy(np.array(rows, np.float32).reshape(-1, width))
            texts.append(TextVectors(sides.Words(words, words, range(len(words))), {0: layer}))
        return texts

    # For people

    def facts(self) -> dict[str, Any]:
        return {"vocabulary": len(self.model.vocabulary), "width": self.model.options.width}

    def cost(self, size: int) -> dict[str, int | float]:
        """Return the cost of the neighbours of `size` words: the product of each with every word."""
        return {"multiplications": size * len(self.model.vocabulary) * self.model.options.width}


def _tokeniser(recipe: WordsRecipe, files: Files) -> Tokeniser:
    return tokenisers_in(files, recipe.data.tokeniser.full())[0]
