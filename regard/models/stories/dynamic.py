"""Dynamic memory networks (Kumar et al. 2016): episodes over the facts of a story, each a GRU gated by attention.

    c_i = GRU(f_i, c_{i−1})                         facts in their order (section 2.1)
    z(c, m, q) = [c∘q, c∘m, |c − q|, |c − m|]       similarity of a fact to the question and the memory (equation 5)
    g_i = softmax_i(w · tanh(W z(c_i, m, q) + b))   its gate (equation 6)
    h_i = g_i GRU(c_i, h_{i−1}) + (1 − g_i) h_{i−1}   the episode, whose last state is e (equation 7)
    m ← GRU(e, m)                                   the memory, initially q

and the answer is softmax(V [m, q]). Three departures, all as in DMN+ (Xiong et al. 2016): the f_i are position
encodings and not the states of a GRU over all words, z omits the three bare vectors and the two products with a matrix,
and the gates share a softmax.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from pydantic import Field
from torch import Tensor, nn

from regard.attention.editing import edited_units, is_edited
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

States = Float[Tensor, "member batch width"]
Facts = Float[Tensor, "member batch slot width"]


class DynamicMemoryOptions(Options):
    """Options of a dynamic memory network."""

    episodes: int = Field(3, ge=1, le=20, description="Number of passes over the facts before an answer.")
    width: int = Field(80, ge=1, le=4096, description="Width of the vectors of words, facts and memories.")
    encoding: Encoding = Field("position", description="How words make a sentence: weighted by position, or as a bag.")
    dropout: float = Field(0.1, ge=0, lt=1, description="Dropout on the facts' vectors and before the output layer.")


class DynamicMemory(StoryNetwork):
    """Episodes over facts, each guided by the memory of the previous one."""

    def __init__(self, options: DynamicMemoryOptions, words: StoryWords, seeds: Sequence[int] = (0,)) -> None:
        """Build one member for each of the `seeds`, with the same weights alone as in a stack."""
        super().__init__(len(seeds), options.episodes)
        self.options, self.words = options, words
        members, width = len(seeds), options.width
        self.table = nn.Parameter(torch.empty(members, words.known, width))
        self.score_hidden = nn.Parameter(torch.empty(members, 4 * width, width))
        self.score_bias = nn.Parameter(torch.empty(members, 1, width))
        self.score_output = nn.Parameter(torch.empty(members, width, 1))
        self.output = nn.Parameter(torch.empty(members, 2 * width, words.answers))
        self.reader, self.episode, self.memory = (StackedGRU(members, width) for _ in range(3))
        self.watched = Watched()
        # Sums of n inputs are scaled to keep their size; word vectors start with size 1, biases with 0.
        deviations = {weight: 0.0 if weight.shape[1] == 1 else weight.shape[1] ** -0.5 for weight in self.parameters()}
        draw_normal(deviations | {self.table: 1.0}, seeds)

    def forward(self, rows: StoryRows) -> Reading:
        is_fact, question = rows.is_fact, self._encode(rows.questions)
        facts = self._read(self._drop(self._encode(rows.facts)), is_fact)
        projected = self.episode.project(facts)
        memory, looks = question, []
        for episode in range(self.options.episodes):
            gates = self.watched.edited(self._look(facts, memory, question, is_fact), is_fact, episode)
            state = torch.zeros_like(question)
            for slot in range(facts.shape[2]):
                gate = gates[:, :, slot, None]
                state = torch.lerp(state, self.episode(projected[:, :, slot], state), gate)
                state = self.episode.edited(state, slot)
            memory = self.memory.edited(self.memory(self.memory.project(state), memory), episode)
            looks.append(gates)
        all_looks = torch.stack(looks, dim=2)
        self.watched(all_looks, self)
        return Reading(self._drop(torch.cat([memory, question], -1)) @ self.output, all_looks)

    def _encode(self, sentences: Tensor) -> Tensor:
        """Return the vectors of sentences (member, *place, width)."""
        spread = spread_positions(self.table, self.options.encoding)
        bags = weigh_words(sentences, self.words.known, self.options.encoding, spread.dtype)
        return (bags.flatten(0, -2) @ spread).unflatten(1, bags.shape[:-1])

    def _read(self, sentences: Facts, is_fact: Bool[Tensor, "batch slot"]) -> Facts:
        """Return the states of facts, each of which depends on those before it."""
        projected = self.reader.project(sentences)
        state, states = torch.zeros_like(sentences[:, :, 0]), []
        for slot in range(sentences.shape[2]):
            after = self.reader.edited(self.reader(projected[:, :, slot], state), slot)
            state = torch.where(is_fact[:, slot, None], after, state)
            states.append(state)
        return torch.stack(states, dim=2)

    def _look(
        self, facts: Facts, memory: States, question: States, is_fact: Bool[Tensor, "batch slot"]
    ) -> Float[Tensor, "member batch slot"]:
        queries, memories = question.unsqueeze(2), memory.unsqueeze(2)
        likeness = torch.cat([facts * queries, facts * memories, (facts - queries).abs(), (facts - memories).abs()], -1)
        hidden = (likeness.flatten(1, 2) @ self.score_hidden + self.score_bias).tanh()
        return softmax((hidden @ self.score_output).view(facts.shape[:3]), is_fact)

    def _drop(self, states: Tensor) -> Tensor:
        return F.dropout(states, self.options.dropout, self.training)

    def multiplications(self, facts: int, words: int) -> int:
        width, episodes = self.options.width, self.options.episodes
        gru, score = 6 * width * width, 4 * width * width + width
        reading = facts * (words * width + gru)
        return reading + episodes * (facts * (gru + score) + gru) + 2 * width * self.words.answers


class StackedGRU(nn.Module):
    """A gated recurrent unit (Cho et al. 2014) for each member; inputs are projected for all times at once."""

    edits = ("state",)

    def __init__(self, members: int, width: int) -> None:
        super().__init__()
        self.inner = nn.Parameter(torch.empty(members, width, 3 * width))
        self.outer = nn.Parameter(torch.empty(members, width, 3 * width))
        self.bias = nn.Parameter(torch.empty(members, 1, 3 * width))

    def edited(self, state: States, place: int) -> States:
        """Return the state after a step as edited, in all members alike."""
        if not is_edited(self, "state"):
            return state
        return torch.stack([edited_units(self, "state", member[:, None], place)[:, 0] for member in state])

    def project(self, inputs: Tensor) -> Tensor:
        """Return the contribution of inputs (member, *place, width) to the gates and the candidate."""
        return (inputs.flatten(1, -2) @ self.inner + self.bias).unflatten(1, inputs.shape[1:-1])

    def forward(self, projected: Float[Tensor, "member batch gates"], state: States) -> States:
        update, reset, candidate = projected.chunk(3, -1)
        from_update, from_reset, from_candidate = (state @ self.outer).chunk(3, -1)
        fresh = (candidate + (reset + from_reset).sigmoid() * from_candidate).tanh()
        return torch.lerp(fresh, state, (update + from_update).sigmoid())
