"""A translator that copies: its loss, and its steps over the vocabulary and a source's unknown words.

An unknown word of the source is a token beyond the vocabulary, with a number that is valid in its own sentence alone. A
network reads it as the unknown token, but targets, outputs and searches use the word.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.models.copying import Pointed, coverage_loss, log_likelihood, log_mixture
from regard.protocols import Loss, State, Tally, mean
from regard.tasks.translation.batches import KnownTokens, PairBatch, TranslationNetwork


@runtime_checkable
class PointingNetwork(TranslationNetwork, Protocol):
    """A network that also says which places of the source each state points at."""

    def point(self, target: Tensor, memory: Any, past: Any) -> tuple[Pointed, Any]: ...


class ForcedCopies(NamedTuple):
    """Distributions of the real target tokens, each given the true ones before it, and those tokens."""

    pointed: Pointed
    source: Int[Tensor, "token source"]  # what each may copy
    further: Bool[Tensor, "token further"]  # which of those lie beyond the vocabulary
    wanted: Int[Tensor, " token"]
    again: Float[Tensor, " token"]  # the coverage loss of each


def forced_copies(network: PointingNetwork, batch: PairBatch) -> ForcedCopies:
    """Teacher forcing: read the sources and write the given targets."""
    memory = network.read(batch.source, batch.source_lengths)
    pointed, _ = network.point(batch.inputs, memory, network.begin(memory))
    rows = batch.places // batch.target.shape[1]
    return ForcedCopies(
        pointed.flatten().take(batch.places),
        batch.copies.index_select(0, rows),
        batch.further.index_select(0, rows),
        batch.target.flatten()[batch.places],
        coverage_loss(pointed.weights).flatten()[batch.places],
    )


def forced_log_probabilities(network: PointingNetwork, batch: PairBatch) -> tuple[Tensor, Tensor]:
    """Return the log-probabilities (token, writable) at each real place, and the target there."""
    forced = forced_copies(network, batch)
    return _writable(_logits(network, forced.pointed), forced.pointed, forced.source, forced.further), forced.wanted


def _logits(network: TranslationNetwork, pointed: Pointed) -> Tensor:
    logits = network.logits(pointed.states)
    return logits.to(torch.promote_types(logits.dtype, torch.float32))


def _writable(logits: Tensor, pointed: Pointed, source: Tensor, further: Tensor) -> Tensor:
    """Return the log-probabilities of the vocabulary and of the words beyond it, -inf for words not in the source."""
    every = log_mixture(logits, pointed, source, further.shape[1])
    vocabulary, beyond = every.split([logits.shape[1], further.shape[1]], dim=1)
    return torch.cat([vocabulary, beyond.masked_fill(~further, float("-inf"))], dim=1)


@dataclass(frozen=True)
class CopyingCrossEntropy:
    """−log p of the true tokens, written or copied, plus λ times the coverage loss.

    Label smoothing ε applies to the same mixture: −(1−ε) log p(w) − ε/V Σ_v log p(v). It also restrains the switch: a
    model that only copies, p_gen → 0, leaves no probability to words outside the source. With `consistency` α there are
    two passes with different dropout; half of each loss counts, plus α/4 · (KL(p‖q) + KL(q‖p)), where p and q are what
    each pass may write or copy (R-Drop, Liang et al. 2021, equation 4, halved).
    """

    label_smoothing: float = 0.0
    consistency: float = 0.0
    coverage: float = 0.0  # λ of See et al. 2017, equation 13

    def __call__(self, network: PointingNetwork, batch: PairBatch, carry: dict[str, Tensor] | None) -> Loss:
        forced = forced_copies(network, batch.twice() if self.consistency else batch)
        logits, again = _logits(network, forced.pointed), forced.again.sum()
        if self.label_smoothing or self.consistency:
            every = log_mixture(logits, forced.pointed, forced.source, forced.further.shape[1])
            total = self._smoothed(every, forced.wanted, logits.shape[1])
        else:
            total = -log_likelihood(logits, forced.pointed, forced.source, forced.wanted).sum()
        total = total + self.coverage * again
        if self.consistency:
            total = (total + self.consistency / 2 * _divergence(*every.chunk(2))) / 2
        tallies = {"coverage": Tally((again.detach(), forced.wanted.numel()), mean)} if self.coverage else {}
        return Loss(total, batch.tokens, tallies)

    def _smoothed(
        self, every: Float[Tensor, "token writable"], targets: Int[Tensor, " token"], vocabulary: int
    ) -> Tensor:
        right, even = every.gather(1, targets[:, None]).sum(), every[:, :vocabulary].mean(dim=1).sum()
        return -(1 - self.label_smoothing) * right - self.label_smoothing * even


def _divergence(one: Float[Tensor, "token writable"], two: Float[Tensor, "token writable"]) -> Float[Tensor, ""]:
    """Return KL(p‖q) + KL(q‖p) = Σ (p − q) (log p − log q) of two passes."""
    return ((one.exp() - two.exp()) * (one - two)).sum()


class CopyMemory(NamedTuple):
    """Encoded sentences, their tokens for copying, and those beyond the vocabulary."""

    memory: Any
    source: Int[Tensor, "batch source"]
    further: Bool[Tensor, "batch further"]


def start_copying(network: PointingNetwork, batch: PairBatch) -> State:
    """Return the state of a search before its first step."""
    memory = network.read(batch.source, batch.source_lengths)
    return State(CopyMemory(memory, batch.copies, batch.further), network.begin(memory))


def step_copying(
    network: PointingNetwork, tokens: Int[Tensor, " row"], state: State, known: KnownTokens
) -> tuple[Float[Tensor, "row writable"], State]:
    """Return the log-probabilities of the next token, and the state after these tokens."""
    read: CopyMemory = state.sentence
    pointed, past = network.point(known.read(tokens)[:, None], read.memory, state.row)
    pointed, copies = pointed.flatten(), len(tokens) // len(read.source)
    source, further = (tensor.repeat_interleave(copies, 0) for tensor in (read.source, read.further))
    return _writable(_logits(network, pointed).float(), pointed, source, further), State(read, past)
