"""The mean of a text's word vectors, optionally with layers above: deep averaging (Iyyer et al. 2015)."""

from itertools import pairwise

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor, nn

from regard.base.recipe import Options
from regard.models.bounds import MOST_LAYERS, WIDEST
from regard.models.text.reader import Reader
from regard.models.text.texts import InputTokens, TextRows, mean_over_time
from regard.models.text.word_inputs import InputOptions, WordInputs


class AveragingOptions(Options):
    """The mean of the word vectors, and layers above it; the order of words is lost."""

    inputs: InputOptions = Field(InputOptions(), description="The word vectors it reads.")
    layers: int = Field(0, ge=0, le=MOST_LAYERS, description="Layers above the mean; 0: the mean itself.")
    width: int = Field(200, ge=1, le=WIDEST, description="Width of these layers.")
    dropout: float = Field(0.0, ge=0, lt=1, description="Dropout on the mean and on each layer.")


class Averaging(Reader):
    """h₀ = mean of the vectors; h_l = tanh(W_l h_{l−1} + b_l) (Iyyer et al. 2015, equations 1 to 4).

    Dropped words are read as unknown; the paper leaves them out of the mean.
    """

    inputs: WordInputs

    def __init__(self, options: AveragingOptions, vocabulary: InputTokens) -> None:
        super().__init__()
        self.inputs = WordInputs(options.inputs, vocabulary)
        depths = [self.inputs.width, *[options.width] * options.layers]
        self.layers = nn.ModuleList(nn.Linear(before, after) for before, after in pairwise(depths))
        self.dropout = nn.Dropout(options.dropout)
        self.width = depths[-1]

    def summary(self, texts: TextRows) -> Float[Tensor, "batch width"]:
        """Return one vector for each text."""
        states = self.dropout(mean_over_time(self.inputs(texts.tokens), texts.lengths))
        for layer in self.layers:
            states = self.dropout(torch.tanh(layer(states)))
        return states

    def layer_states(self, texts: TextRows) -> list[Float[Tensor, "batch time depth"]]:
        return [self.inputs(texts.tokens, texts.beside)]

    def multiplications(self, length: int) -> int:
        """Return the multiplications, the same for any length: a mean only adds, and only the layers multiply."""
        return self.matrices()
