"""What all language models share, however they learn: their text, prompts that they read, and text that they write."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from regard.base.progress import Progress, Remark
from regard.data.texts.prepare import PreparedText, prepare_text
from regard.data.tokenisers.tokeniser import Tokeniser, tokenisers_in
from regard.decoding.options import DecodingOptions
from regard.tasks.language.batches import Prompts
from regard.tasks.language.measures import MEASURES
from regard.tasks.language.options import LanguageRecipe

_ENDLESS = 2**31 - 1


class LanguageTask:
    """A language model with its tokeniser and, while it learns or is measured, its text."""

    MEASURES: ClassVar[tuple[str, ...]] = MEASURES

    tokeniser: Tokeniser
    text: PreparedText | None = None

    @classmethod
    def prepare(
        cls,
        recipe: Any,
        folder: Path,
        progress: Progress,
        remark: Remark,
        start: Mapping[str, bytes] | None,
    ) -> PreparedText:
        return prepare_text(recipe.data, folder, progress, remark, tokeniser_of(recipe, start) if start else None)

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        return torch.device("cpu")

    @property
    def begin(self) -> int:
        return self.tokeniser.begin

    @property
    def end(self) -> int:
        return self.tokeniser.end

    def tokens_of(self, split: str) -> np.ndarray:
        """The tokens of a split, an end after each sentence; none where the recipe names no such text."""
        if self.text is None:
            raise RuntimeError("a language model has batches only once it learns from text")
        return self.text.splits.get(split, np.zeros(0, np.int64))

    def read(self, inputs: Sequence[str]) -> Prompts:
        """Prompts as people write them."""
        return Prompts([self.tokeniser.encode(text) for text in inputs])

    def limits(self, batch: Prompts, options: DecodingOptions) -> Int[Tensor, " row"]:
        """There is no length beyond which it could not go on."""
        return torch.full((batch.rows,), _ENDLESS)

    def write(self, tokens: Sequence[int]) -> str:
        return self.tokeniser.decode(tokens)


def tokeniser_of(recipe: LanguageRecipe, files: Mapping[str, bytes]) -> Tokeniser:
    """The tokeniser among what travels in a model folder."""
    return tokenisers_in(files, recipe.data.tokeniser.full())[0]
