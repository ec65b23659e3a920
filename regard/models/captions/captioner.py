"""Show, Attend and Tell (Xu et al. 2015): an LSTM that looks at the places of a picture before each word it writes.

Without attention it is Show and Tell (Vinyals et al. 2015), which sees the picture once, before the first word. Where
the places are the frames of a video, it is temporal attention (Yao et al. 2015); attention = "mean" is the baseline
of that paper.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import torch
from jaxtyping import Float, Int
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.attention import Attention
from regard.attention.core import Look, PreparedKeys
from regard.attention.editing import is_edited, side_by_side, standing
from regard.attention.hard import Hard, Manner
from regard.attention.reinforce import Baseline
from regard.attention.scores import Additive
from regard.attention.steps import join_steps
from regard.attention.watch import is_watched, note, watching_steps
from regard.models.bounds import WIDEST
from regard.models.captions.written import Annotations, Written
from regard.models.recurrent.written_out import edit_step
from regard.models.reinforcement import ReinforceOptions

_OF_HARD = (*ReinforceOptions.model_fields, "expected", "outside_training")  # options of attention = "hard"


class CaptionerOptions(ReinforceOptions):
    """Options of an LSTM captioner, and of how it learns where to look."""

    attention: Literal["soft", "hard", "mean", "none"] = Field(
        "soft",
        description="What it looks at before each word: a mix of all places, one sampled place, or their mean, which "
        "is the same for every word; with none it sees the picture only in its initial state.",
    )
    embedding: int = Field(256, ge=1, le=WIDEST, description="Width of the word embeddings.")
    width: int = Field(512, ge=1, le=WIDEST, description="Width of the LSTM's state.")
    compared: int = Field(256, ge=1, le=WIDEST, description="Hidden size of the additive attention score.")
    gate: bool = Field(True, description="Multiply the context by β = σ(f(h)), as published.")
    dropout: float = Field(0.5, ge=0, lt=1, description="Dropout on input words and on output states.")
    evenness: float = Field(
        0.0, ge=0, description="Weight λ of doubly stochastic attention, λ Σ_i (1 − Σ_t α_ti)²; for soft attention."
    )
    baseline: Baseline = Field(
        "moving",
        description="Baseline for a path's reward: none, a moving average of all rewards, as published, the mean of "
        "the picture's other paths, or the path of the most probable choices.",
    )
    expected: float = Field(0.5, ge=0, le=1, description="Share of captions trained with the mix of all places (hard).")
    outside_training: Literal["best", "mix"] = Field(
        "best",
        description="Where hard attention looks outside training: at the most probable place, or at the mix of all, as "
        "in the published code.",
    )

    @model_validator(mode="after")
    def _check_attention(self) -> "CaptionerOptions":
        if self.evenness and self.attention != "soft":
            raise ValueError("evenness needs soft attention, which spreads its weights over all places")
        if self.attention == "hard":
            self.check_baseline()
            return self
        for name in _OF_HARD:
            if getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"{name} is for attention = 'hard', which samples where it looks")
        return self

    @property
    def idle(self) -> tuple[str, ...]:
        unused = {
            "soft": _OF_HARD,
            "hard": ("evenness",),
            "mean": (*_OF_HARD, "evenness", "compared"),
            "none": (*_OF_HARD, "evenness", "compared", "gate"),
        }
        return unused[self.attention]

    @property
    def adjustable(self) -> frozenset[str]:
        """Options that may change while the weights stay."""
        return frozenset({"dropout", "evenness", *_OF_HARD})

    @property
    def interchangeable(self) -> dict[str, frozenset[str]]:
        """Values of options that have the same weights, by option."""
        return {"attention": frozenset({"soft", "hard"})}


class PictureMemory(NamedTuple):
    """The annotations of each picture, unchanged and as keys, and their mean."""

    places: Float[Tensor, "batch 1 place depth"]
    keys: PreparedKeys
    mean: Float[Tensor, "batch depth"]


class Standing(NamedTuple):
    """State of the decoder in each row: h and c, how hard looks choose, if that is set, and the next word's place."""

    hidden: Float[Tensor, "row width"]
    cell: Float[Tensor, "row width"]
    manner: Int[Tensor, "row told"]
    place: Int[Tensor, " row"]


class Captioner(nn.Module):
    """The decoder of section 3.1, with a the annotations of a picture and E y a word's vector:

        h_0 = tanh(f_h(mean a)),  c_0 = tanh(f_c(mean a))
        e_ti = wᵀ tanh(U h_{t−1} + V a_i),  α_t = softmax(e_t)
        ẑ_t = β_t Σ_i α_ti a_i,  β_t = σ(f_β(h_{t−1}))              soft (section 4.2)
        ẑ_t = β_t a_{s_t},  s_t ~ α_t                                hard (section 4.1)
        ẑ_t = β_t mean a                                             mean (Yao et al. 2015, section 2.2)
        (i, f, o, g) = (σ, σ, σ, tanh)(T [E y_{t−1}, h_{t−1}, ẑ_t]),  c_t = f c_{t−1} + i g,  h_t = o tanh(c_t)
        p(y_t) ∝ exp(L_o (E y_{t−1} + L_h h_t + L_z ẑ_t))

    Outside training, hard attention looks at the most probable place or, as in the authors' code, at the mix. Without
    attention there is no ẑ_t, and the picture enters through h_0 and c_0 only, where Show and Tell feeds it as a first
    word. The paper gates hard looks in its code, not in its text.
    """

    def __init__(self, options: CaptionerOptions, depth: int, places: int, tokens: int, pad: int) -> None:
        """Build a network for annotations of `depth` numbers; `places` is there for other picture networks."""
        super().__init__()
        self.options = options
        self.embedding = nn.Embedding(tokens, options.embedding, padding_idx=pad)
        self.first_hidden, self.first_cell = (nn.Linear(depth, options.width) for _ in range(2))
        context_width = depth if options.attention != "none" else 0
        self.lstm = nn.LSTMCell(options.embedding + context_width, options.width)
        self.of_state = nn.Linear(options.width, options.embedding)
        self.out = nn.Linear(options.embedding, tokens)
        self.dropout = nn.Dropout(options.dropout)
        self.look = _look(options, depth) if options.attention in ("soft", "hard") else None
        self.of_context = nn.Linear(depth, options.embedding, bias=False) if context_width else None
        self.gate = nn.Linear(options.width, 1) if context_width and options.gate else None

    @property
    def chooses(self) -> bool:
        """True if it samples the places it looks at in training, so that choosing must be learnt too."""
        return self.options.attention == "hard"

    @property
    def evenness(self) -> float:
        return self.options.evenness

    @property
    def dtype(self) -> torch.dtype:
        return self.out.weight.dtype

    def read(self, annotations: Annotations, kept: Sequence[int] | None = None) -> PictureMemory:
        """Return the annotations as keys; `kept` is for networks that know their places by number."""
        places = annotations[:, None]
        keys = PreparedKeys(places[..., :0]) if self.look is None else self.look.prepare(places)
        return PictureMemory(places, keys, annotations.mean(dim=1))

    def begin(self, memory: PictureMemory) -> Standing:
        mixes = self.options.outside_training == "mix" and not self.training
        manner = torch.full((len(memory.mean), int(mixes)), Manner.MIXED, device=memory.mean.device)
        place = torch.zeros(len(memory.mean), dtype=torch.long, device=memory.mean.device)
        return Standing(self.first_hidden(memory.mean).tanh(), self.first_cell(memory.mean).tanh(), manner, place)

    def write(self, target: Int[Tensor, "row time"], memory: PictureMemory, past: Standing) -> Written:
        first = int(past.place[0]) if is_edited() else 0
        with standing(first, len(memory.mean)):
            embedded = self.dropout(self.embedding(target))
            states, contexts, looks, onward = self._steps(embedded, memory, past, first)
            deep = embedded + self.of_state(states)
            if self.of_context is not None:
                deep = deep + self.of_context(contexts)
            weights, log_probability, entropy = self._join(looks, embedded)
            return Written(self.dropout(deep), onward, weights, log_probability, entropy)

    def _steps(
        self, embedded: Float[Tensor, "row time depth"], memory: PictureMemory, past: Standing, first: int
    ) -> tuple[Tensor, Tensor, list[Look], Standing]:
        """Return h and ẑ of all words, the looks, and the state after them; `first` is the first word's place."""
        hidden, cell, states, contexts, looks = past.hidden, past.cell, list[Tensor](), list[Tensor](), list[Look]()
        with watching_steps(self.look) as watched:
            for place, word in enumerate(embedded.unbind(dim=1), first):
                with standing(place, len(memory.mean)):
                    if self.look is not None:
                        looks.append(self._look_from(hidden, memory, past, place))
                        contexts.append(self._weigh(hidden, looks[-1].context.flatten(0, 2)))
                    elif self.of_context is not None:
                        mean = memory.mean.repeat_interleave(len(hidden) // len(memory.mean), dim=0)
                        contexts.append(self._weigh(hidden, mean))
                    if contexts:
                        word = torch.cat([word, contexts[-1].to(word.dtype)], dim=-1)
                    hidden, cell = edit_step(self.lstm, self.lstm(word, (hidden, cell)))
                states.append(hidden)
        if self.look is not None and is_watched():  # one gaze for all steps, as for every other attention
            weights, _, _ = self._join(looks, embedded)
            note(self.look, self.look.looks_from, self.look.looks_at, weights[:, None], join_steps(watched))
        onward = Standing(hidden, cell, past.manner, past.place + len(states))
        return torch.stack(states, dim=1), torch.stack(contexts, dim=1) if contexts else embedded, looks, onward

    def logits(self, states: Float[Tensor, "*place width"]) -> Float[Tensor, "*place token"]:
        return self.out(states)

    def multiplications(self, places: int, words: int) -> int:
        """Return the multiplications for `words` words about a picture with `places` places."""
        matrices = sum(
            parameter.numel()
            for name, parameter in self.named_parameters()
            if parameter.dim() == 2 and "score" not in name
        )
        once = self.first_hidden.weight.numel() + self.first_cell.weight.numel()
        each_word = matrices - once - self.embedding.weight.numel()
        if self.look is None:
            return once + words * each_word
        score = self.look.score
        assert isinstance(score, Additive)
        depth = score.of_key.weight.shape[1]
        comparing = score.of_query.weight.numel() + places * (score.energy.weight.numel() + depth)
        return once + places * score.of_key.weight.numel() + words * (each_word + comparing)

    def _look_from(self, hidden: Float[Tensor, "row width"], memory: PictureMemory, past: Standing, place: int) -> Look:
        """Look from every row at its picture; the rows of one picture are queries of one attention."""
        assert self.look is not None
        pictures = len(memory.mean)
        shape = (pictures, 1, len(hidden) // pictures)
        manners = past.manner.reshape(shape) if past.manner.shape[1] else None
        places = side_by_side(place, 1, shape[2], hidden.device)
        query = hidden.reshape(*shape, -1)
        return self.look.full(query, memory.keys, memory.places, manners=manners, places=places)

    def _weigh(self, hidden: Float[Tensor, "row width"], context: Float[Tensor, "row depth"]) -> Tensor:
        return context if self.gate is None else self.gate(hidden).sigmoid() * context

    def _join(self, looks: list[Look], embedded: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return where all steps looked, and for sampled places their log-probability and entropy."""
        rows, nothing = len(embedded), embedded[:, :, 0][:, :0]
        if not looks:
            return embedded[..., :0], nothing, nothing
        weights = torch.stack([look.weights.flatten(0, 2) for look in looks], dim=1)
        if not self.chooses:
            return weights, nothing, nothing
        choices = ((look.log_probability.reshape(rows), look.entropy.reshape(rows)) for look in looks)
        log_probability, entropy = (torch.stack(steps, dim=1) for steps in zip(*choices, strict=True))
        return weights, log_probability, entropy


def _look(options: CaptionerOptions, depth: int) -> Attention:
    return Attention(
        Additive(options.width, depth, options.compared),
        looks_from="target",
        looks_at="source",
        choice=Hard("reinforce") if options.attention == "hard" else None,
    )
