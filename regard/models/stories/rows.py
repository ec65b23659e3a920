"""Stories as networks read them, sentences as weighted bags of words, and the base of all these networks.

Several members, each with its own weights, are trained side by side: every parameter has a leading axis `member`.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention.editing import edited_weights, is_edited
from regard.attention.masks import real_places
from regard.attention.watch import is_watched, note
from regard.models.parts import draw_members

Encoding = Literal["position", "bag"]


class StoryRows(NamedTuple):
    """Stories and questions as word numbers, 0 for none; the first `counts` sentences of each story are facts.

    `times` says how long ago a fact was told: 0 is the last fact before the question.
    """

    facts: Int[Tensor, "batch slot word"] | Float[Tensor, "batch slot channel_word"]  # or already weighed
    times: Int[Tensor, "batch slot"]
    counts: Int[Tensor, " batch"]
    questions: Int[Tensor, "batch asked"]

    @property
    def is_fact(self) -> Bool[Tensor, "batch slot"]:
        """True where there is a fact to look at."""
        return real_places(self.counts, self.facts.shape[1])


class StoryWords(NamedTuple):
    """Sizes that a network needs: words, of which the first are answers, and slots for facts."""

    known: int
    answers: int
    slots: int


@dataclass(frozen=True)
class Reading:
    """Result of reading: logits of the answers, and the attention of each hop."""

    logits: Float[Tensor, "member batch class"]
    looks: Float[Tensor, "member batch hop slot"]


class StoryNetwork(nn.Module):
    """A stack of restarts. `train_errors` holds the training error of each; the one with the lowest answers.

    `linear` is 1 for each restart whose hops currently have no softmax; None if hops always have one. An edit holds for
    all restarts.
    """

    outputs_lack_places = "inside this model an output has the axes restart, row and unit"
    train_errors: Tensor
    linear: Tensor | None

    def __init__(self, members: int, hops: int) -> None:
        super().__init__()
        self.members, self.hops = members, hops
        self.register_buffer("train_errors", torch.full((members,), 100.0))
        self.register_buffer("linear", None)

    @abstractmethod
    def forward(self, rows: StoryRows) -> Reading:
        """Read stories, for each member."""

    @abstractmethod
    def multiplications(self, facts: int, words: int) -> int:
        """Return the multiplications of one member's answer about `facts` facts of `words` words each."""

    @property
    def chosen(self) -> int:
        """The restart with the lowest training error."""
        return int(self.train_errors.argmin())


class Watched(nn.Module):
    """Shows the hops of the chosen restart to watchers, and lets their weights be edited."""

    looks_from, looks_at = "hops", "facts"
    edits = ("weights",)

    def edited(
        self, looks: Float[Tensor, "member batch slot"], is_fact: Bool[Tensor, "batch slot"], hop: int
    ) -> Float[Tensor, "member batch slot"]:
        """Return where all members look in a hop, as edited."""
        if not is_edited(self, "weights"):
            return looks
        members = [edited_weights(self, look[:, None, None], is_fact[:, None, None], hop) for look in looks]
        return torch.stack(members)[:, :, 0, 0]

    def forward(self, looks: Float[Tensor, "member batch hop slot"], network: StoryNetwork) -> None:
        if is_watched(self):
            note(self, self.looks_from, self.looks_at, looks[network.chosen].unsqueeze(1))


def weigh_words(
    sentences: Int[Tensor, "*place word"] | Float[Tensor, "*place channel_word"],
    words: int,
    encoding: Encoding,
    dtype: torch.dtype,
) -> Float[Tensor, "*place channel_word"]:
    """Return the weight of each of `words` words in a sentence: its count, or weights by position.

    Position encoding (Sukhbaatar et al. 2015, section 4.1) multiplies the word j of J, in dimension k of d, by

        l_kj = (1 − j/J) − (k/d) (1 − 2j/J)

    which is a weight independent of k, plus k/d times another: two bags of words, side by side. The vector of a
    sentence is then their product with `spread_positions` of an embedding. Here l is twice that, as in the authors'
    code, so that the mean weight is 1 as in a bag: with the half in the text, task 16 of bAbI is not learnt.

    Sentences that are weighed already are returned unchanged, so that a decision can be followed back to its facts.
    """
    if sentences.is_floating_point():
        return sentences
    is_word = sentences > 0
    if encoding == "bag":
        return _bag(sentences, is_word.to(dtype), words)
    count = is_word.sum(-1, keepdim=True).clamp_min(1)
    done = is_word.cumsum(-1).to(dtype) / count
    weights = 2 * (1 - done) * is_word, 2 * (2 * done - 1) * is_word
    return torch.cat([_bag(sentences, channel, words) for channel in weights], -1)


def spread_positions(
    table: Float[Tensor, "*stack word width"], encoding: Encoding
) -> Float[Tensor, "*stack channel_word width"]:
    """Return an embedding for the bags of `weigh_words`: unchanged, and a copy times k/d unless bags are plain."""
    if encoding == "bag":
        return table
    width = table.shape[-1]
    shares = torch.arange(1, width + 1, device=table.device, dtype=table.dtype) / width
    return torch.cat([table, table * shares], dim=-2)


def _bag(sentences: Tensor, weights: Tensor, words: int) -> Tensor:
    bags = weights.new_zeros(*sentences.shape[:-1], words + 1).scatter_add(-1, sentences.long(), weights)
    return bags[..., 1:]  # the empty word does not count


def draw_normal(deviations: Mapping[nn.Parameter, float], seeds: Sequence[int]) -> None:
    """Fill the parameters of every member with normal numbers of these deviations."""

    def draw(member: int, chance: torch.Generator) -> None:
        for parameter, deviation in deviations.items():
            parameter[member].normal_(0.0, deviation, generator=chance)

    draw_members(seeds, draw)
