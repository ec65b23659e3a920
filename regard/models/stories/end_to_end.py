"""End-to-end memory networks (Sukhbaatar et al. 2015): hops through the facts of a story, then the answer.

A hop looks at the memories m_i with the state u, and adds the result to it (equations 1 and 2):

    p_i = softmax(u · m_i)      o = Σ_i p_i c_i      u ← u + o

where m_i = Σ_j l_j ∘ A x_ij + T_A(i), and c_i is the same with C and T_C. The first u is Σ_j l_j ∘ B q_j, and the
answer is softmax(W (u + o)).

A memory has as many slots as its longest story has facts, at most fifty. In the authors' code, though not in the paper,
empty slots share the softmax, with a score and a vector of zero, so a hop can look at nothing.

- adjacent: A^(k+1) = C^k, B = A^1, Wᵀ = C^K, and the tables of times are shared in the same way
- layer-wise: A and C are the same in all hops, and u ← H u + o

Two options are not in these equations:

- relative_times: a hop also knows which facts are older than the one that the previous hop attended to, as the time
  features of Weston et al. 2015 do. With the mean age t̄ of the previous hop's facts, the memory m_i of age t_i gets
  tanh(t_i − t̄) R^k in addition, with a learnt vector R^k for each hop. The first hop compares with the question.
- rectified: between hops negative numbers become 0 in the second half of u.

The tables are multiplied by bags of words in one matrix product for all hops and members.
"""

from collections.abc import Sequence
from typing import Literal

import torch
from jaxtyping import Bool, Float
from pydantic import Field
from torch import Tensor, nn

from regard.attention.normalisers import softmax
from regard.base.recipe import Options
from regard.models.stories.rows import (
    Encoding,
    Reading,
    StoryNetwork,
    StoryRows,
    StoryWords,
    Watched,
    draw_normal,
    spread_positions,
    weigh_words,
)

DEVIATION = 0.1  # standard deviation of all initial weights
LEAST = 1e-6  # of a sum of weights that is divided by
States = Float[Tensor, "member batch width"]
Memories = Float[Tensor, "member batch slot width"]


class MemoryOptions(Options):
    """Options of an end-to-end memory network; the defaults are the paper's for all tasks at once."""

    hops: int = Field(3, ge=1, le=20, description="Number of hops over the facts before an answer.")
    width: int = Field(50, ge=1, le=4096, description="Width of the vectors of words and facts.")
    tying: Literal["adjacent", "layer-wise"] = Field(
        "adjacent", description="Embeddings that hops share: one's output and the next one's input, or all."
    )
    encoding: Encoding = Field("position", description="How words make a sentence: weighted by position, or as a bag.")
    times: bool = Field(True, description="Add a learnt vector to each fact for how long ago it was told.")
    empty_slots: bool = Field(
        True, description="Let empty slots share the attention of a hop, which may then see nothing."
    )
    relative_times: bool = Field(
        False, description="Let a hop know which facts are older than those that the hop before it attended to."
    )
    rectified: bool = Field(False, description="Set negative numbers to zero in half of the state between hops.")


class MemoryNetwork(StoryNetwork):
    """Hops through memories of facts. While a member is `linear`, its hops have no softmax (linear start)."""

    linear: Tensor

    def __init__(self, options: MemoryOptions, words: StoryWords, seeds: Sequence[int] = (0,)) -> None:
        """Build one member for each of the `seeds`, with the same weights alone as in a stack."""
        super().__init__(len(seeds), options.hops)
        self.options, self.words = options, words
        adjacent, members, width = options.tying == "adjacent", len(seeds), options.width
        # Adjacent tables are A^1, C^1, …, C^K; layer-wise ones are A, C, B, and a separate W for the answers.
        tables = options.hops + 1 if adjacent else 3
        self.tables = nn.Parameter(torch.empty(members, tables, words.known, width))
        self.times = nn.Parameter(torch.empty(members, options.hops + 1 if adjacent else 2, words.slots, width))
        self.carried = None if adjacent else nn.Parameter(torch.empty(members, width, width))
        self.output = None if adjacent else nn.Parameter(torch.empty(members, words.answers, width))
        compared = options.hops if options.relative_times else 0
        self.older = nn.Parameter(torch.empty(members, compared, width)) if compared else None
        self.watched = Watched()
        self.register_buffer("linear", torch.zeros(members))
        draw_normal(dict.fromkeys(self.parameters(), DEVIATION), seeds)

    def forward(self, rows: StoryRows) -> Reading:
        memories, state = self._read(rows)
        is_fact, looks = rows.is_fact, list[Tensor]()
        for hop in range(self.options.hops):
            at = hop if self.carried is None else 0
            keys = memories[:, at] + self._compare_times(rows, looks, hop)
            weights = self.watched.edited(self._look(state, keys, is_fact), is_fact, hop)
            context = (weights.unsqueeze(2) @ memories[:, at + 1]).squeeze(2)
            state = context + (state if self.carried is None else state @ self.carried.transpose(1, 2))
            looks.append(weights)
            if self.options.rectified and hop + 1 < self.options.hops:
                kept, rectified = state.chunk(2, dim=-1)
                state = torch.cat([kept, rectified.relu()], dim=-1)
        output = self.tables[:, -1, : self.words.answers] if self.output is None else self.output
        all_looks = torch.stack(looks, dim=2)
        self.watched(all_looks, self)
        return Reading(state @ output.transpose(1, 2), all_looks)

    def _read(self, rows: StoryRows) -> tuple[Float[Tensor, "member table batch slot width"], States]:
        """Return the facts by every table of the memories, and the question."""
        options = self.options
        spread = spread_positions(self.tables, options.encoding)
        facts, questions = (
            weigh_words(part, self.words.known, options.encoding, spread.dtype) for part in (rows.facts, rows.questions)
        )
        of_memories = spread[:, : self.times.shape[1]]
        if options.times:
            times = (rows.times[..., None] == torch.arange(self.words.slots, device=rows.times.device)).to(facts.dtype)
            facts, of_memories = torch.cat([facts, times], -1), torch.cat([of_memories, self.times], 2)
        products = facts.flatten(0, 1) @ of_memories.flatten(0, 1)
        memories = products.unflatten(0, of_memories.shape[:2]).unflatten(2, facts.shape[:2])
        return memories, questions @ spread[:, 0 if options.tying == "adjacent" else 2]

    def _compare_times(self, rows: StoryRows, looks: Sequence[Tensor], hop: int) -> Memories | float:
        """Return what a hop adds to the memories: tanh(t_i − t̄) R, with the mean age t̄ of the facts looked at last."""
        if self.older is None:
            return 0.0
        ages = rows.times.to(self.older.dtype).expand(self.members, -1, -1)
        before = -torch.ones_like(ages[..., :1])
        if looks:
            weights = looks[-1].detach()  # may sum to less than 1, if empty slots share them
            before = (weights * ages).sum(-1, keepdim=True) / weights.sum(-1, keepdim=True).clamp_min(LEAST)
        return (ages - before).tanh().unsqueeze(-1) * self.older[:, hop, None, None]

    def _look(
        self, state: States, keys: Memories, is_fact: Bool[Tensor, "batch slot"]
    ) -> Float[Tensor, "member batch slot"]:
        scores = (keys @ state.unsqueeze(3)).squeeze(3)
        plain = scores * is_fact
        looks = self._share_with_empty(scores, is_fact) if self.options.empty_slots else softmax(scores, is_fact)
        return torch.where(self.linear[:, None, None] > 0, plain, looks)

    def _share_with_empty(
        self, scores: Float[Tensor, "member batch slot"], is_fact: Bool[Tensor, "batch slot"]
    ) -> Float[Tensor, "member batch slot"]:
        """Return the softmax over facts and empty slots together: n scores of zero equal one score of log n."""
        empty = self.words.slots - is_fact.sum(1, keepdim=True)
        empty_score = empty.clamp_min(1).to(scores.dtype).log().expand(len(scores), -1, 1)
        return softmax(torch.cat([scores, empty_score], 2), torch.cat([is_fact, empty > 0], 1))[..., :-1]

    def multiplications(self, facts: int, words: int) -> int:
        width, hops = self.options.width, self.options.hops
        return width * (facts * words * (hops + 1) + 2 * facts * hops + self.words.answers)
