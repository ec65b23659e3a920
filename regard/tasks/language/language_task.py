"""Shared by all language models: their text, the prompts they read, and the text they write."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from regard.base.progress import Progress, Remark
from regard.data.texts.prepare import PreparedText, prepare_text
from regard.data.tokenisers.byte_pairs import BytePairTokeniser
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.decoding.options import DecodingOptions
from regard.tasks.base import Files
from regard.tasks.language.batches import Prompts
from regard.tasks.language.borrowing import borrowed_for, hashes_left_out
from regard.tasks.language.language_description import tokeniser_of
from regard.tasks.language.measures import MEASURES

ENDLESS = 2**31 - 1  # limit of tokens to write if there is none


class LanguageTask:
    """A language model with its tokeniser and, while it learns or is measured, its text."""

    MEASURES: ClassVar[tuple[str, ...]] = MEASURES

    tokeniser: Tokeniser
    text: PreparedText | None = None

    @classmethod
    def prepare(
        cls, recipe: Any, folder: Path, progress: Progress, remark: Remark, start: Files | None
    ) -> PreparedText:
        data, check = recipe.data, type(recipe).check_other
        tokeniser = tokeniser_of(recipe, start) if start else borrowed_for(data, folder, check)
        return prepare_text(data, folder, progress, remark, tokeniser, partial(hashes_left_out, data, check))

    @property
    def device(self) -> torch.device:
        """The device of the model."""
        return torch.device("cpu")

    @property
    def begin(self) -> int:
        return self.tokeniser.begin

    @property
    def end(self) -> int:
        return self.tokeniser.end

    def tokens_of(self, split: str) -> np.ndarray:
        """Return the tokens of a split, with an end after each sentence; none if the recipe has no such text."""
        if self.text is None:
            raise RuntimeError("a language model has no batches before it learns from text")
        return self.text.splits.get(split, np.zeros(0, np.int64))

    def read(self, inputs: Sequence[str]) -> Prompts:
        """Read prompts as people write them; a line break becomes an end token, as in the training text."""
        return Prompts([self._encode_lines(text) for text in inputs])

    def _encode_lines(self, text: str) -> list[int]:
        if isinstance(self.tokeniser, BytePairTokeniser):  # a line break is an ordinary token to it
            return self.tokeniser.encode(text)
        first, *others = self.tokeniser.encode_all(text.split("\n"))
        return [*first, *(token for line in others for token in (self.end, *line))]

    def limits(self, batch: Prompts, options: DecodingOptions) -> Int[Tensor, " row"]:
        """Return the limits of continuations: there is none."""
        return torch.full((batch.rows,), ENDLESS)

    def write(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens; an end token becomes a line break."""
        return "\n".join(self.tokeniser.decode(line) for line in split_lines(tokens, self.end))


def split_lines(tokens: Sequence[int], end: int) -> list[Sequence[int]]:
    """Return the tokens of each line, without the ends between them; one line more than there are ends."""
    ends = [place for place, token in enumerate(tokens) if token == end]
    return [tokens[first:last] for first, last in zip([0, *(place + 1 for place in ends)], [*ends, None], strict=True)]
