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
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.decoding.options import DecodingOptions
from regard.tasks.base import Files
from regard.tasks.language.batches import Prompts
from regard.tasks.language.borrowing import borrowed_for, hashes_left_out
from regard.tasks.language.language_description import tokeniser_of
from regard.tasks.language.lines import decode_lines, encode_lines
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
        return Prompts([encode_lines(self.tokeniser, text) for text in inputs])

    def limits(self, batch: Prompts, options: DecodingOptions) -> Int[Tensor, " row"]:
        """Return the limits of continuations: there is none."""
        return torch.full((batch.rows,), ENDLESS)

    def write(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens; an end token becomes a line break."""
        return decode_lines(self.tokeniser, tokens)
