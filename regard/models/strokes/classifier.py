"""A network that classifies drawings: it reads the whole drawing, in both directions with attention, and summarises it.

    p(class | drawing) = softmax(W summary(enter(s_1), …, enter(s_T)) + b)

The summary is that of an autoencoder's encoder: the mean of all steps' states, or the state after the last step.
Departure: Sketchformer (Ribeiro et al. 2020) classifies by a layer on the summary that its decoder uses too; here there
is no decoder, and everything is learnt from the classes.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.models.strokes.network import FEATURES, SketcherOptions, StrokeShape, make_entrance


class SketchClassifier(nn.Module):
    """Network from steps to log-probabilities of classes, with the body that the options of a family describe."""

    def __init__(self, options: SketcherOptions, shape: StrokeShape, classes: int) -> None:
        super().__init__()
        self.options = options
        self.enter = make_entrance(options.width, shape)
        self.encoder, self.dropout = options.make_body(shape.steps), nn.Dropout(options.dropout)
        self.out = nn.Linear(options.inside, classes)

    @property
    def dtype(self) -> torch.dtype:
        return self.out.weight.dtype

    def forward(
        self, steps: Float[Tensor, "batch time feature"] | Int[Tensor, "batch time"], lengths: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch class"]:
        return self.classify(self.enter(steps), lengths)

    def classify(
        self, entered: Float[Tensor, "batch time width"], lengths: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch class"]:
        """Return the log-probabilities of the classes from the vectors of steps."""
        summary = self.encoder.summary(entered, lengths)
        return torch.log_softmax(self.out(self.dropout(summary)), dim=-1)

    def multiplications(self, length: int) -> int:
        """Return the multiplications for a drawing of `length` steps."""
        entrance = 0 if isinstance(self.enter, nn.Embedding) else FEATURES * self.options.width
        return length * entrance + self.encoder.multiplications(length) + self.out.weight.numel()
