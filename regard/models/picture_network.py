"""Base of the networks that classify pictures."""

from abc import ABC, abstractmethod
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention.glimpses import Pictures


class PictureNetwork(nn.Module, ABC):
    """Network from pictures to log-probabilities of classes."""

    chooses: ClassVar[bool] = False  # True if it samples where to look, so that the choice must be learnt too
    picture_sides: ClassVar[tuple[str, ...]] = ("picture",)  # sides of its attention that are the picture
    action: nn.Linear  # to the classes
    grid: tuple[int, int] | None = None  # rows and columns of the patches it cuts pictures into
    patch: int = 1  # side of a patch in pixels

    @property
    def dtype(self) -> torch.dtype:
        """Precision of its computations."""
        return self.action.weight.dtype

    @abstractmethod
    def answer(self, pictures: Pictures) -> Float[Tensor, "batch class"]:
        """Return the log-probabilities of the classes."""

    @abstractmethod
    def multiplications(self, height: int, width: int) -> int:
        """Return the multiplications for one picture of this size."""

    def step_sides(self) -> dict[str, list[str]]:
        """Return the sides of its attention that are steps, with the names of the steps."""
        return {}

    def note_answer(self, pictures: Pictures) -> None:
        """Note where the answer came from, if watched and if no layer notes it itself."""
