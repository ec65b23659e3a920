"""Training pairs of translators as tensors, and the protocol of their networks."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, runtime_checkable

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Int
from torch import Tensor, nn

from regard.attention.masks import real_places
from regard.models.parts import Embedding


class KnownTokens(NamedTuple):
    """Size of a vocabulary, and the token that stands for everything beyond it."""

    size: int
    unknown: int

    def read(self, tokens: Tensor) -> Tensor:
        """Return tokens as a network reads them."""
        return tokens.masked_fill(tokens >= self.size, self.unknown)


@dataclass(frozen=True)
class PairBatch:
    """Some pairs as tensors; the target ends with the end token and has no begin: inputs are shifted right.

    If a translator copies, target tokens may lie beyond the vocabulary: unknown words of the source. For all others
    `copies` and `further` are empty.
    """

    source: Int[Tensor, "batch source"]
    source_lengths: Int[Tensor, " batch"]  # always on the host, where recurrent layers need them
    target: Int[Tensor, "batch target"]
    target_lengths: Int[Tensor, " batch"]  # also on the host
    inputs: Int[Tensor, "batch target"]  # the target, shifted right after the begin token
    source_places: Int[Tensor, " source_token"]  # positions of the real tokens in the flattened source
    places: Int[Tensor, " token"]  # the same for the target
    copies: Int[Tensor, "batch copied"]  # the source with its unknown words told apart, for copying
    further: Bool[Tensor, "batch further"]  # which tokens beyond the vocabulary each source has

    @classmethod
    def of(
        cls,
        source: Tensor,
        source_lengths: Tensor,
        target: Tensor,
        target_lengths: Tensor,
        begin: int,
        known: KnownTokens | None = None,
    ) -> "PairBatch":
        """Return a batch of padded rows, all on the host; with `known` tokens, others can be copied."""
        source_places = _numbers_of_real(source_lengths, source.shape[1])
        places = _numbers_of_real(target_lengths, target.shape[1])
        inputs = F.pad(target[:, :-1], (1, 0), value=begin)
        lengths = source_lengths, target_lengths
        if known is None:
            nothing = source[:, :0]
            return cls(source, lengths[0], target, lengths[1], inputs, source_places, places, nothing, nothing.bool())
        beyond = torch.arange(known.size, max(known.size, int(source.max()) + 1))
        further = (source[:, :, None] == beyond).any(dim=1)
        read, inputs = known.read(source), known.read(inputs)
        return cls(read, lengths[0], target, lengths[1], inputs, source_places, places, source, further)

    @property
    def rows(self) -> int:
        return self.source.shape[0]

    @property
    def tokens(self) -> int:
        return self.places.shape[0]

    def to(self, device: torch.device) -> "PairBatch":
        if device.type == "cpu":
            return self
        pinned = {name: tensor.pin_memory() for name, tensor in vars(self).items()}
        moved = {name: tensor.to(device, non_blocking=True) for name, tensor in pinned.items()}
        return PairBatch(**moved | {name: pinned[name] for name in ("source_lengths", "target_lengths")})

    def twice(self) -> "PairBatch":
        """Return every row twice: first all of them, then all of them again."""
        doubled = {name: torch.cat([tensor, tensor]) for name, tensor in vars(self).items()}
        doubled["source_places"][len(self.source_places) :] += self.source.numel()
        doubled["places"][self.tokens :] += self.target.numel()
        return PairBatch(**doubled)

    def split(self, parts: int) -> list["PairBatch"]:
        """Split the rows into `parts` smaller batches."""
        names = ("source", "source_lengths", "target", "target_lengths", "inputs", "copies", "further")
        chunks = zip(*(getattr(self, name).chunk(parts) for name in names), strict=True)
        return [self._part(dict(zip(names, chunk, strict=True))) for chunk in chunks]

    def _part(self, rows: dict[str, Tensor]) -> "PairBatch":
        places = (_numbers_of_real(rows[f"{side}_lengths"], rows[side].shape[1]) for side in ("source", "target"))
        source_places, target_places = (positions.to(self.places.device) for positions in places)
        return PairBatch(**rows, source_places=source_places, places=target_places)


def _numbers_of_real(lengths: Int[Tensor, " batch"], width: int) -> Int[Tensor, " token"]:
    """Return the positions of the real tokens in a flattened table of this width."""
    return real_places(lengths, width).flatten().nonzero().squeeze(1)


@runtime_checkable
class TranslationNetwork(Protocol):
    """A network that reads all source tokens and writes target tokens one after another.

    `read` returns what belongs to a sentence, and `begin` what belongs to a row before its first token; both are trees
    of tensors. `write` takes some tokens of each row and returns their states and what the row then remembers. `layers`
    returns the encoder's states of each source token, from its plain embedding up. The class attributes describe other
    differences between networks; see `regard/models/translator.py`.
    """

    PARTS: ClassVar[dict[str, tuple[str, ...]]]  # the attributes of each part that can be frozen
    has_packed_pass: ClassVar[bool]
    has_caches: bool
    finds_outputs_by: ClassVar[Literal["decoder", "ctc", "transducer"]]
    reads_turns: ClassVar[bool]
    marks: tuple[int, ...]
    options: Any  # with `longest` and `ample_tokens`

    def embeddings(self) -> dict[str, Embedding]: ...
    def turns_of(self, source: Tensor, lengths: Tensor) -> Mapping[str, Any]: ...
    def read(self, source: Tensor, lengths: Tensor) -> Any: ...
    def layers(self, source: Tensor, lengths: Tensor) -> list[Tensor]: ...
    def begin(self, memory: Any) -> Any: ...
    def write(self, target: Tensor, memory: Any, past: Any) -> tuple[Tensor, Any]: ...
    def token_weights(self) -> Tensor: ...
    def token_biases(self) -> Tensor | None: ...
    def logits(self, states: Tensor) -> Tensor: ...
    def cost(self, length: int) -> dict[str, int | float]: ...
    def parameters(self) -> Iterator[nn.Parameter]: ...
    def named_modules(self) -> Iterator[tuple[str, nn.Module]]: ...
