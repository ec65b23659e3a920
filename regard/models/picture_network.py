"""Shared by networks that classify pictures, and what each says about itself."""

from abc import ABC, abstractmethod
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention.glimpses import Pictures


class PictureNetwork(nn.Module, ABC):
    """Pictures in, log-probabilities of classes out."""

    chooses: ClassVar[bool] = False  # whether it draws where to look, so that the choice must be learnt too
    picture_sides: ClassVar[tuple[str, ...]] = ("picture",)  # the sides of its attention that are the picture
    action: nn.Linear  # to the classes
    grid: tuple[int, int] | None = None  # rows and columns of the patches that it cuts pictures into
    patch: int = 1  # pixels a side of these

    @property
    def dtype(self) -> torch.dtype:
        """The precision in which it computes."""
        return self.action.weight.dtype

    @abstractmethod
    def answer(self, pictures: Pictures) -> Float[Tensor, "batch class"]:
        """Return the log-probabilities of the classes."""

    @abstractmethod
    def multiplications(self, height: int, width: int) -> int:
        """Return how many an answer takes on pictures of this size."""

    def step_sides(self) -> dict[str, list[str]]:
        """Return the sides of its attention that are steps, each with the names of these."""
        return {}

    def note_answer(self, pictures: Pictures) -> None:
        """Note where the answer came from, if anyone is watching and no layer notes it by itself."""
