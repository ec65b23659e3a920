"""A network that names what is drawn: the whole drawing is read, both ways where the body looks, and summed up.

    p(class | drawing) = softmax(W summary(enter(s_1), …, enter(s_T)) + b)

The summary is that of an autoencoder's encoder: the mean of the states of all steps, or the state behind the last one.
Departure: Sketchformer (Ribeiro et al. 2020) classifies by a layer above what sums up a drawing for its
decoder too; here nothing is drawn, and all is learnt from the classes.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.models.strokes.network import FEATURES, SketcherOptions, StrokeShape, make_entrance


class SketchClassifier(nn.Module):
    """Steps in, the log-probabilities of classes out, by the body that the options of a family describe."""

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
        summary = self.encoder.summary(self.enter(steps), lengths)
        return torch.log_softmax(self.out(self.dropout(summary)), dim=-1)

    def multiplications(self, length: int) -> int:
        """Return the multiplications for a drawing of `length` steps."""
        entrance = 0 if isinstance(self.enter, nn.Embedding) else FEATURES * self.options.width
        return length * entrance + self.encoder.multiplications(length) + self.out.weight.numel()
