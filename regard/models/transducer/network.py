"""The parts of a transducer besides its encoder: the prediction network and the joint network.

The encoder reads frames, and the prediction network the labels so far, like a language model. The joint network
combines both and scores every label and the blank, at every frame and after every label:

    g_u = RNN(l_1, …, l_u)                   h(t, u) = tanh(W f_t + V g_u + b)
    y(t, u) = softmax(W_out h(t, u) + b_out)

(Graves 2012, section 2; the tanh layer is from Graves et al. 2013, "Speech Recognition with Deep Recurrent Neural
Networks", section 3.2, and replaces a sum of two outputs.) So a label depends on those before it; with CTC, labels are
independent of each other given their alignment.
"""

from typing import Literal, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from pydantic import Field
from torch import Tensor, nn

from regard.base.recipe import Options
from regard.models.bounds import MOST_LAYERS, WIDEST
from regard.models.parts import Embedding, count_matrix_weights
from regard.models.recurrent.layers import Hidden, Stack
from regard.models.transcriber import Counts, Labels
from regard.models.transducer.lattice import Lattice, waits_and_writes, within_rows

PORTION = 2**24  # numbers of the joint network computed at once when there is no gradient


class PredictionOptions(Options):
    """Options that transducers share: their prediction and joint networks."""

    predictor_cell: Literal["vanilla", "lstm", "gru"] = Field(
        default="lstm", description="Recurrent cell of the prediction network, which reads the labels so far."
    )
    predictor_layers: int = Field(
        default=1, ge=1, le=MOST_LAYERS, description="Recurrent layers of the prediction network."
    )
    predictor_width: int = Field(default=256, ge=1, le=WIDEST, description="Width of the prediction network's states.")
    joint_width: int = Field(
        default=256,
        ge=1,
        le=WIDEST,
        description="Width of the joint network, which combines the encoder's and the prediction network's states.",
    )


class HeardFrames(NamedTuple):
    """Encoded frames as inputs of the joint network, and the number of frames in each row."""

    frames: Float[Tensor, "batch frame joint"]
    counts: Counts


class Written(NamedTuple):
    """State of the prediction network after the labels so far, as the joint network's input, and its memory."""

    state: Float[Tensor, "row joint"]
    hidden: list[Hidden]


class Predictor(nn.Module):
    """Recurrent layers over labels; before the first label they read a vector of zeros (Graves 2012, section 2.2)."""

    def __init__(self, options: PredictionOptions, depth: int, dropout: float) -> None:
        super().__init__()
        self.depth, self.width, self.dropout = depth, options.predictor_width, nn.Dropout(dropout)
        self.layers = Stack(
            options.predictor_cell, depth, options.predictor_width, options.predictor_layers, dropout=dropout
        )

    def forward(self, embedded: Float[Tensor, "batch label depth"]) -> Float[Tensor, "batch place width"]:
        """Return the states before the first label and after each, all at once."""
        return self.dropout(self.layers(F.pad(self.dropout(embedded), (0, 0, 1, 0)))[0])

    def begin(self, like: Float[Tensor, "row joint"]) -> tuple[Float[Tensor, "row width"], list[Hidden]]:
        """Return the state before the first label, and the layers' memory, for as many rows as `like` has."""
        parts = 2 if self.layers.cell == "lstm" else 1
        nothing: list[Hidden] = [(like.new_zeros(len(like), self.width),) * parts for _ in self.layers.layers]
        state, hidden = self.layers.step(like.new_zeros(len(like), self.depth), nothing)
        return self.dropout(state), hidden

    def step(
        self, embedded: Float[Tensor, "row depth"], hidden: list[Hidden]
    ) -> tuple[Float[Tensor, "row width"], list[Hidden]]:
        """Return the state after one more label, and the layers' memory."""
        state, hidden = self.layers.step(self.dropout(embedded), hidden)
        return self.dropout(state), hidden


class Joint(nn.Module):
    """Scores of all labels and, last, of the blank, from a state of the encoder and one of the labels."""

    def __init__(self, heard: int, written: int, width: int, symbols: int) -> None:
        super().__init__()
        self.heard, self.written = nn.Linear(heard, width), nn.Linear(written, width, bias=False)
        self.out = nn.Linear(width, symbols + 1)

    def forward(
        self, heard: Float[Tensor, "*#place joint"], written: Float[Tensor, "*#place joint"]
    ) -> Float[Tensor, "*place symbol"]:
        """Return the log-probabilities; both inputs must come from the layers `heard` and `written`."""
        logits = self.out((heard + written).tanh())
        return logits.log_softmax(-1, dtype=torch.promote_types(logits.dtype, torch.float32))


class TransducerNetwork(nn.Module):
    """Network that writes labels along frames, whatever was read; subclasses bring encoder and embeddings."""

    target_embedding: Embedding
    predictor: Predictor
    joint: Joint

    def add_writer(self, options: PredictionOptions, dropout: float, width: int, symbols: int) -> None:
        """Add the prediction and joint networks to an encoder of this width; the embeddings must exist already."""
        self.predictor = Predictor(options, self.target_embedding.weight.shape[1], dropout)
        self.joint = Joint(width, options.predictor_width, options.joint_width, symbols)

    @property
    def blank(self) -> int:
        """The symbol that leads to the next frame; it follows those of all labels."""
        return self.joint.out.out_features - 1

    def every_cell(self, heard: HeardFrames, labels: Labels) -> Float[Tensor, "batch frame place symbol"]:
        """Return the log-probabilities of all symbols at each frame, after each label."""
        return self.joint(heard.frames[:, :, None], self._behind(labels))

    def lattice(self, heard: HeardFrames, labels: Labels, counts: Counts) -> Lattice:
        """Return the steps of all alignments of these labels; without gradients, a portion of frames at a time."""
        written = self._behind(labels)
        per_frame = written.numel() // written.shape[-1] * max(written.shape[-1], self.joint.out.out_features)
        portion = heard.frames.shape[1] if torch.is_grad_enabled() else max(1, PORTION // per_frame)
        steps = [
            waits_and_writes(self.joint(frames[:, :, None], written), labels)
            for frames in heard.frames.split(portion, dim=1)
        ]
        waits, writes = (torch.cat(parts, dim=1) for parts in zip(*steps, strict=True))
        return within_rows(waits, writes, heard.counts, counts)

    def _behind(self, labels: Labels) -> Float[Tensor, "batch 1 place joint"]:
        """Return the joint network's input from the labels, after each of them; it is the same for all frames."""
        return self.joint.written(self.predictor(self.target_embedding(labels)))[:, None]

    def nothing_written(self, heard: HeardFrames) -> Written:
        """Return the state before the first label."""
        state, hidden = self.predictor.begin(heard.frames[:, 0])
        return Written(self.joint.written(state), hidden)

    def read_label(self, labels: Int[Tensor, " row"], written: Written, where: Bool[Tensor, " row"]) -> Written:
        """Return the state after one more label in the rows that have one; other rows stay unchanged."""
        embedded = self.target_embedding(labels.masked_fill(~where, 0)[:, None])[:, 0]
        state, hidden = self.predictor.step(embedded, written.hidden)
        return _choose(where, Written(self.joint.written(state), hidden), written)

    def writing_weights(self) -> int:
        """Return the number of weights that one lattice cell is multiplied by, plus those for one label."""
        return count_matrix_weights(self.predictor.layers, self.joint.written, self.joint.out)


def _choose(where: Bool[Tensor, " row"], new: Written, old: Written) -> Written:
    hidden = [
        tuple(torch.where(where[:, None], one, other) for one, other in zip(*layers, strict=True))
        for layers in zip(new.hidden, old.hidden, strict=True)
    ]
    return Written(torch.where(where[:, None], new.state, old.state), hidden)
