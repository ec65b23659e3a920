"""Sparse access memory (Rae et al. 2016): heads read the few nearest slots, and write to the least used slot."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from pydantic import Field, model_validator
from torch import Tensor

from regard.attention.editing import is_edited
from regard.base.faults import Fault
from regard.models.machines.addressing import Addresses, cosines, one_plus
from regard.models.machines.controllers import ControllerKind
from regard.models.machines.machine import Machine, MachineOptions, name_heads
from regard.models.machines.sparse import SparseMemory

WORTH_NOTING = 0.005  # weight above which a slot counts as used, δ of Rae et al. 2016, section 3.2


class SAMOptions(MachineOptions):
    """Options of a sparse access memory."""

    nearest: int = Field(4, ge=1, le=1024, description="Number of slots that a head reads: those nearest to its key.")
    controller: ControllerKind = Field("lstm", description="Controller: 'lstm' or 'feed-forward'.")

    @model_validator(mode="after")
    def _check_nearest(self) -> "SAMOptions":
        if self.nearest > self.slots:
            raise ValueError(f"nearest = {self.nearest} is more than the {self.slots} slots")
        return self


@dataclass(frozen=True)
class SAMState:
    """The memory, the last use of each slot, and the slots and weights of the last step's reads and writes."""

    memory: SparseMemory
    token: Tensor
    step: int
    last_used: Int[Tensor, "row slot"]
    read_places: Int[Tensor, "row head near"]
    read_weights: Float[Tensor, "row head near"]
    written_places: Int[Tensor, "row place"]
    written_weights: Float[Tensor, "row place"]


class SAM(Machine[SAMState]):
    """A step writes, then reads:

        w^W = α (γ w^R_{t−1} + (1 − γ) 1^U),  U the slot unused for longest, which is cleared first
        M ← M + w^W a,   w^R = softmax of β K[q, M(i)] over the K nearest slots

    Equations 5 and 6 of Rae et al. 2016. With several read heads, a write uses the mean of their w^R_{t−1}.

    Whatever the number of slots, a step reads and writes the same few, keeps the same for the backward pass, and has
    the same to differentiate. Only two searches, which have no gradient, grow with the slots: for the nearest slots,
    here an exact search over all, and for the slot unused for longest.
    """

    def __init__(self, options: SAMOptions, inputs: int, outputs: int, seeds: Sequence[int] = (0,)) -> None:
        heads, depth = options.read_heads, options.depth
        parts = [heads * depth, heads, depth, 1, 1]
        super().__init__(options, options.controller, (inputs, outputs), sum(parts), seeds)
        self.options, self._parts = options, parts

    def start(self, rows: int, slots: int, like: Tensor) -> SAMState:
        heads, near = self.options.read_heads, self.options.nearest
        memory = SparseMemory(rows, slots, self.options.depth, like)
        # At first the slots count as unused in their order, and the heads as having read the last ones.
        last_used = torch.arange(-slots, 0, device=like.device).expand(rows, -1).contiguous()
        places = torch.arange(slots - near, slots, device=like.device).expand(rows, heads, -1)
        weights = like.new_full((rows, heads, near), 1 / near)
        nowhere = torch.zeros(rows, 1 + heads * near, dtype=torch.long, device=like.device)
        nothing = like.new_zeros(nowhere.shape)
        return SAMState(memory, memory.start(), 0, last_used, places, weights, nowhere, nothing)

    def access(
        self, parameters: Float[Tensor, "row parameter"], state: SAMState
    ) -> tuple[Float[Tensor, "row head depth"], SAMState]:
        keys, strengths, add, amount, again = parameters.split(self._parts, dim=-1)
        state = self._write(add, amount.sigmoid(), again.sigmoid(), state)
        return self._read(keys.unflatten(1, (-1, self.options.depth)), one_plus(strengths), state)

    def _write(self, add: Tensor, amount: Tensor, again: Tensor, state: SAMState) -> SAMState:
        unused = state.last_used.argmin(dim=1)
        places = torch.cat([unused.unsqueeze(1), state.read_places.flatten(1)], dim=1)
        read_before = state.read_weights.flatten(1) / self.options.read_heads
        weights = amount * torch.cat([1 - again, again * read_before], dim=1)
        if is_edited(self.heads, "weights"):
            edited = self._edit(places[:, None], weights[:, None], state, self.options.read_heads)
            places, weights = (part[:, 0] for part in edited)
        token = state.memory.write(unused, places, weights.unsqueeze(-1) * add.unsqueeze(1), state.token)
        used = _note_use(state.last_used, places, weights, state.step)
        return replace(state, token=token, last_used=used, written_places=places, written_weights=weights)

    def _read(self, keys: Tensor, strengths: Tensor, state: SAMState) -> tuple[Tensor, SAMState]:
        near, heads = self.options.nearest, self.options.read_heads
        with torch.no_grad():
            places = cosines(keys, state.memory.values).topk(near, dim=-1).indices
        values, token = state.memory.read(places.flatten(1), state.token)
        slots = values.unflatten(1, (heads, near))
        scores = cosines(keys.unsqueeze(2), slots).squeeze(2)
        weights = (strengths.unsqueeze(-1) * scores).softmax(dim=-1)
        if is_edited(self.heads, "weights"):
            places, weights = self._edit(places, weights, state)
            values, token = state.memory.read(places.flatten(1), token)
            slots = values.unflatten(1, (heads, near))
        used = _note_use(state.last_used, places.flatten(1), weights.flatten(1), state.step)
        state = replace(
            state, token=token, step=state.step + 1, last_used=used, read_places=places, read_weights=weights
        )
        return (weights.unsqueeze(2) @ slots).squeeze(2), state

    def _edit(
        self,
        places: Int[Tensor, "row head near"],
        weights: Float[Tensor, "row head near"],
        state: SAMState,
        first_head: int = 0,
    ) -> tuple[Int[Tensor, "row head near"], Float[Tensor, "row head near"]]:
        """Return the slots of some heads and their weights as edited; a head keeps its number of slots."""
        slots, near = state.last_used.shape[1], places.shape[2]
        whole = weights.new_zeros(*weights.shape[:2], slots).scatter_add(2, places, weights)
        edited = self.edited(whole, first_head)
        if ((edited != 0).sum(dim=-1) > near).any():
            raise Fault(f"A head of this sparse memory has weight on at most {near} slots, but is edited to more.")
        few = min(slots, near)  # a write may name a slot twice
        kept, unchanged = edited.topk(few, dim=-1), (edited == whole).all(dim=-1, keepdim=True)
        new_places, new_weights = (F.pad(part, (0, near - few)) for part in (kept.indices, kept.values))
        return torch.where(unchanged, places, new_places), torch.where(unchanged, weights, new_weights)

    def addresses(self, state: SAMState) -> Addresses:
        places = [*state.read_places.unbind(1), state.written_places]
        weights = [*state.read_weights.unbind(1), state.written_weights]
        empty = state.memory.values.new_zeros(state.last_used.shape)
        spread = [empty.scatter_add(1, *head) for head in zip(places, weights, strict=True)]
        return torch.stack(spread, dim=1)

    @property
    def head_names(self) -> list[str]:
        return name_heads(read=self.options.read_heads, write=1)

    def memory_multiplications(self) -> int:
        """Return the multiplications: the search covers every slot, everything else only the nearest."""
        options = self.options
        search = options.slots * options.depth * (options.read_heads + 1)
        return search + options.depth * (options.read_heads * options.nearest * 4 + options.read_heads + 1)


def _note_use(
    last_used: Int[Tensor, "row slot"], places: Tensor, weights: Tensor, step: int
) -> Int[Tensor, "row slot"]:
    """Return when each slot was last used, updated in place for these places and weights."""
    before = last_used.gather(1, places)
    now = torch.where(weights.detach() > WORTH_NOTING, step, before)
    return last_used.scatter_reduce_(1, places, now, "amax")
