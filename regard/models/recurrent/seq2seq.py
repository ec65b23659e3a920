"""Recurrent encoder and decoder: the bottleneck, and the attention that was invented to widen it.

Sutskever et al. 2014 (no attention), Bahdanau et al. 2015 and Luong et al. 2015. Departures: the cell may be vanilla,
LSTM or GRU everywhere; the decoder begins with tanh of a projection of the encoder's last states in all layers.
"""

from collections.abc import Sequence
from itertools import chain
from typing import Annotated, ClassVar, Literal

import torch
from jaxtyping import Float, Int
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.attention import Attention, Lengths, is_watched, note, without_watching
from regard.attention.core import Look
from regard.attention.hard import Estimator, Hard
from regard.attention.local import LocalMonotonic, LocalPredictive
from regard.attention.normalisers import named_normaliser
from regard.attention.scores import Covered, Positive, named_score
from regard.base.rows import NORMALISERS, SCORES, OrRowOf
from regard.models.bounds import LONGEST, MOST_LAYERS, WIDEST
from regard.models.copying import Copying, Pointed
from regard.models.ctc.head import CTCHead
from regard.models.parts import Embedding
from regard.models.recurrent.decoders import Bahdanau, Bottleneck, Luong, Parts, RecurrentMemory, Writing, unseen
from regard.models.recurrent.layers import Hidden, Stack
from regard.models.reinforcement import ReinforceOptions
from regard.models.translator import Translator
from regard.models.translator_options import CopyOptions, CTCOptions


class Seq2SeqOptions(ReinforceOptions, CopyOptions, CTCOptions):
    """What a recurrent translator is built like."""

    decoder: Literal["bottleneck", "bahdanau", "luong"] = Field(
        default="luong", description="Decoder without attention, or with Bahdanau's or Luong's."
    )
    cell: Literal["vanilla", "lstm", "gru"] = Field(default="lstm", description="The recurrent cell of all layers.")
    encoder_layers: int = Field(default=1, ge=1, le=MOST_LAYERS, description="Recurrent layers of the encoder.")
    decoder_layers: int = Field(default=1, ge=1, le=MOST_LAYERS, description="Recurrent layers of the decoder.")
    embedding: int = Field(default=256, ge=1, le=WIDEST, description="Width of the token embeddings.")
    width: int = Field(
        default=512, ge=2, le=WIDEST, description="Width of the states; an encoder's two directions share it."
    )
    bidirectional: bool = Field(default=True, description="Whether the encoder reads from both ends.")
    residual: bool = Field(default=False, description="Residual connections around all layers but the first.")
    dropout: float = Field(default=0.2, ge=0, lt=1, description="Dropout on embeddings, between layers, on outputs.")
    score: Annotated[Literal["dot", "scaled-dot", "bilinear", "additive", "location", "mixed"], OrRowOf(SCORES)] = (
        Field(default="additive", description="How well a source place answers the decoder.")
    )
    normaliser: Annotated[Literal["softmax", "plain", "sparsemax", "entmax"], OrRowOf(NORMALISERS)] = Field(
        default="softmax", description="How scores become weights; plain divides positive scores by their sum."
    )
    window: Literal["none", "monotonic", "predictive"] = Field(
        default="none", description="Look at all places, or in a window around the step's own place or a predicted one."
    )
    reach: int = Field(default=10, ge=1, le=LONGEST, description="Places that a window reaches to either side.")
    hard: Literal["none", Estimator] = Field(
        default="none", description="Look at a mix of places, or at one alone, learnt by one of four estimators."
    )
    expected: float = Field(
        default=0.0,
        ge=0,
        lt=1,
        description="Share of the sentences that in training look at a mix of places after all (published: 0.5).",
    )
    temperature: float = Field(
        default=1.0, gt=0, description="Temperature of Gumbel's softmax; the lower, the nearer to one place."
    )
    input_feeding: bool = Field(default=True, description="Whether Luong's decoder is fed its last attending state.")
    own_tokens: float = Field(
        default=0.0, ge=0, le=1, description="Share of the model's own tokens fed in training (scheduled sampling)."
    )
    own_tokens_after: int = Field(
        default=0, ge=0, description="Batches in which that share grows evenly from nothing; 0 begins with all of it."
    )
    coverage: float = Field(
        default=0.0,
        ge=0,
        description="Weight of the loss for looking at a place again (published: 1); above 0 the score also sees how "
        "much each place was looked at.",
    )
    tied: bool = Field(default=False, description="One matrix for target embeddings and output layer.")
    longest: int = Field(default=1024, ge=1, le=LONGEST, description="The longest input or output in tokens.")

    @model_validator(mode="after")
    def _check(self) -> "Seq2SeqOptions":
        if self.bidirectional and self.width % 2:
            raise ValueError(f"width {self.width} is odd, but two directions share it")
        if self.tied and self.embedding != self.width:
            raise ValueError(f"tied needs embedding and width to be equal, not {self.embedding} and {self.width}")
        self.check_baseline()
        return self

    def _useless(self) -> dict[str, Sequence[str]]:
        """Options that would do nothing, by the reason why."""
        found: dict[str, Sequence[str] | Literal[False]] = {
            "a bottleneck has no attention": self.decoder == "bottleneck"
            and ["score", "normaliser", "window", "hard", "copies"],
            "a bottleneck keeps no states of its source": self.decoder == "bottleneck" and ["ctc"],
            "only Luong's decoder is fed its states": self.decoder != "luong" and ["input_feeding"],
            "there is no window": self.window == "none" and ["reach"],
            "no choice is learnt by reinforce": self.hard != "reinforce"
            and [*ReinforceOptions.model_fields, "expected"],
            "nothing is drawn by Gumbel's softmax": not self.hard.startswith("gumbel") and ["temperature"],
            "own_tokens is 0": not self.own_tokens and ["own_tokens_after"],
            "only models that copy count what they have looked at": not self.copies and ["coverage"],
        }
        return {reason: names for reason, names in found.items() if names}

    @property
    def explores(self) -> bool:
        """True if training samples: tokens of the model's own, or what it looks at."""
        return self.own_tokens > 0 or self.hard == "reinforce"

    @property
    def idle(self) -> tuple[str, ...]:
        return (*super().idle, *chain.from_iterable(self._useless().values()))

    @model_validator(mode="after")
    def _check_effect(self) -> "Seq2SeqOptions":
        """An option that would do nothing is a mistake, and two variants that differ in it would be the same."""
        for reason, names in self._useless().items():
            asked = [name for name in names if getattr(self, name) != type(self).model_fields[name].default]
            if asked:
                raise ValueError(f"{reason}, so {' and '.join(asked)} would do nothing")
        return self

    @model_validator(mode="after")
    def _check_copying(self) -> "Seq2SeqOptions":
        """What is copied is shared out among all places by weights that sum to one."""
        for name in ("window", "hard", "own_tokens"):
            if self.copies and getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"copies go by weights over the whole source and true tokens, so not with {name}")
        if self.coverage and self.score != "additive":
            raise ValueError(f"coverage stands inside the additive score, so score cannot be '{self.score}'")
        return self

    @property
    def ample_tokens(self) -> int:
        """Larger batches than this fit a large GPU and teach the model no faster."""
        return 8192

    @property
    def adjustable(self) -> frozenset[str]:
        """What may be another for the same weights: nothing that they, or what they give, depend on."""
        of_training = {"dropout", "own_tokens", "own_tokens_after", "expected", *ReinforceOptions.model_fields}
        return frozenset(of_training | {"longest"})


class Encoder(nn.Module):
    """h_i: what is known at each place of the source; bidirectional layers know both sides of it."""

    def __init__(self, options: Seq2SeqOptions) -> None:
        super().__init__()
        self.stack = Stack(
            options.cell,
            options.embedding,
            options.width,
            options.encoder_layers,
            dropout=options.dropout,
            residual=options.residual,
            bidirectional=options.bidirectional,
        )

    @property
    def layers(self) -> nn.ModuleList:
        return self.stack.layers

    def forward(
        self, embedded: Float[Tensor, "batch source depth"], lengths: Int[Tensor, " batch"]
    ) -> tuple[Float[Tensor, "batch source width"], Float[Tensor, "batch width"]]:
        """The states of all places, and the last of the uppermost layer."""
        return self.stack.read(embedded, lengths)


class Seq2Seq(Translator):
    """Tokens in, states and logits out; what a batch is and what is minimised is the task's affair."""

    # A matrix that is tied belongs to the first of the parts that have it.
    PARTS: ClassVar[dict[str, tuple[str, ...]]] = {
        "embeddings": ("source_embedding", "target_embedding"),
        "encoder": ("encoder",),
        "decoder": ("bridge", "decoder", "out", "copying", "ctc_head"),
    }

    def __init__(self, options: Seq2SeqOptions, source_tokens: int, target_tokens: int, shared: bool, pad: int) -> None:
        super().__init__()
        self.options = options
        self.source_embedding = Embedding(source_tokens, options.embedding, pad)
        self.target_embedding = self.source_embedding if shared else Embedding(target_tokens, options.embedding, pad)
        self.encoder = Encoder(options)
        self.decoder = _decoder(options)
        self.bridge = nn.Linear(options.width, options.decoder_layers * _parts(options) * options.width)
        self.dropout = nn.Dropout(options.dropout)
        self.out = nn.Linear(options.width, target_tokens, bias=False)
        nn.init.normal_(self.out.weight, std=options.width**-0.5)
        if options.tied:
            self.out.weight = self.target_embedding.weight
        self.copying = Copying(options.width) if options.copies else None
        self.ctc_head = CTCHead(options.width, target_tokens, options.ctc_frames) if options.ctc else None

    @property
    def chooses(self) -> bool:
        """Whether the places looked at are drawn at random in training, so that their choice must be learnt too."""
        return self.options.hard == "reinforce"

    def read(self, source: Int[Tensor, "batch source"], lengths: Int[Tensor, " batch"]) -> RecurrentMemory:
        """What the decoder may know of each source sentence."""
        embedded, look = self.dropout(self.source_embedding(source)), self.decoder.look
        if look is None:
            return unseen(self.encoder.stack.last(embedded, lengths))
        states, last = self.encoder(embedded, lengths)
        values = self.dropout(states)[:, None]
        allowed = Lengths(lengths).as_tensor(1, source.shape[1], source.device)
        frames = () if self.ctc_head is None else (self.ctc_head(values[:, 0], lengths),)
        return RecurrentMemory(values, look.prepare(values), allowed, last, frames)

    def layers(self, source: Int[Tensor, "batch source"], lengths: Int[Tensor, " batch"]) -> list[Tensor]:
        """What is known of each source token: its embedding, then the states of every layer (batch, source, width)."""
        embedded = self.source_embedding(source)
        return [embedded, *self.encoder.stack.read_layers(self.dropout(embedded), lengths)]

    def begin(self, memory: RecurrentMemory) -> Writing:
        """Where the decoder stands before its first step: s_0 = tanh(W [last states])."""
        rows, _, source, _ = memory.values.shape
        begun = self.bridge(memory.last).tanh().chunk(self.options.decoder_layers, dim=-1)
        hidden: list[Hidden] = [each.chunk(_parts(self.options), dim=-1) for each in begun]
        look, nothing = self.decoder.look, memory.values.new_empty(rows, 0)
        weights = nothing
        if look is not None and look.follows:  # a first look follows one at the first place
            weights = memory.values.new_zeros(rows, source)
            if not look.gathers:
                weights[:, 0] = 1.0
        place = torch.zeros(rows, dtype=torch.long, device=nothing.device)
        fed, untold = nothing.new_zeros(rows, self.decoder.fed), place[:, None][:, :0]
        return Writing(hidden, fed, weights, place, untold, nothing, nothing)

    def write(
        self, target: Int[Tensor, "row target"], memory: RecurrentMemory, past: Writing, own: float = 0.0
    ) -> tuple[Float[Tensor, "row target width"], Writing]:
        """The states of the target tokens and where the decoder then stands.

        With `own` above zero that share of the tokens, drawn at random, is not read from `target` but is what the
        model itself would have written (scheduled sampling, Bengio et al. 2015).
        """
        parts, past, _ = self._steps(self._embed(target), memory, past, own)
        return self.dropout(self.decoder.readout(*parts)), past

    def point(
        self, target: Int[Tensor, "row target"], memory: RecurrentMemory, past: Writing
    ) -> tuple[Pointed, Writing]:
        """As `write`, of a model that copies: also where each state looks, and whether it copies from there."""
        assert self.copying is not None
        parts, past, weights = self._steps(self._embed(target), memory, past)
        lengths = memory.allowed.sum(-1).flatten()
        return self.copying(self.dropout(self.decoder.readout(*parts)), weights, lengths), past

    def _embed(self, tokens: Int[Tensor, "row time"]) -> Float[Tensor, "row time depth"]:
        return self.dropout(self.target_embedding(tokens))

    def _steps(
        self, embedded: Float[Tensor, "row target depth"], memory: RecurrentMemory, past: Writing, own: float = 0.0
    ) -> tuple[Parts, Writing, Float[Tensor, "row target source"]]:
        """What all steps give, where the decoder then stands, and where each of them looked."""
        alone = embedded.shape[0] == memory.values.shape[0]  # every sentence has one row
        if isinstance(self.decoder, Bottleneck | Luong) and self.decoder.at_once and alone and not own:
            parts, past, looks = self.decoder.whole(embedded, memory, past)
            return parts, self._with_choices(past, looks), looks[0].weights[:, 0] if looks else embedded[..., :0]
        return self._step_by_step(embedded, memory, past, own)

    def _step_by_step(
        self, embedded: Float[Tensor, "row target depth"], memory: RecurrentMemory, past: Writing, own: float
    ) -> tuple[Parts, Writing, Float[Tensor, "row target source"]]:
        steps: list[Parts] = []
        looks: list[Look] = []
        with without_watching():
            for place in range(embedded.shape[1]):
                inputs = embedded[:, place]
                if own and steps:
                    inputs = self._sometimes_own(inputs, steps[-1], own)
                parts, past, looked = self.decoder.step(inputs, memory, past)
                steps.append(parts)
                looks += looked
        look, weights = self.decoder.look, embedded[..., :0]
        if look is not None and (self.copying is not None or is_watched()):
            weights = torch.stack([each.weights.flatten(0, 2) for each in looks], dim=1)
        if look is not None and is_watched():  # one gaze for all steps, as of every other attention
            note(look, look.looks_from, look.looks_at, weights[:, None])
        parts = tuple(torch.stack(each, dim=1) for each in zip(*steps, strict=True))
        return parts, self._with_choices(past, looks), weights

    def _with_choices(self, past: Writing, looks: list[Look]) -> Writing:
        """What must be known of the choices that were made, where they are to be learnt."""
        if not self.chooses:
            return past
        rows = len(past.place)
        log_probability, entropy = (
            torch.cat([each.reshape(rows, -1) for each in found], dim=1)
            for found in zip(*((look.log_probability, look.entropy) for look in looks), strict=True)
        )
        return past._replace(log_probability=log_probability, entropy=entropy)

    def _sometimes_own(
        self, inputs: Float[Tensor, "row depth"], before: Parts, own: float
    ) -> Float[Tensor, "row depth"]:
        """The inputs, but where chance says so the embedding of a token drawn from the model's own distribution."""
        with torch.no_grad():  # no gradient passes through the drawing; what was read still learns
            drawn = self.logits(self.decoder.readout(*before)).float().softmax(-1).multinomial(1)
        use = torch.rand(len(inputs), 1, device=inputs.device) < own
        return torch.where(use, self._embed(drawn)[:, 0].to(inputs.dtype), inputs)

    def token_weights(self) -> Float[Tensor, "token width"]:
        """What a state is multiplied with to score every token."""
        return self.out.weight

    def token_biases(self) -> None:
        """What is then added to the scores: nothing here."""

    def logits(self, states: Float[Tensor, "*place width"]) -> Float[Tensor, "*place token"]:
        """The score of every token at every place."""
        return self.out(states)

    def cost(self, length: int) -> dict[str, int | float]:
        """What reading and writing `length` tokens takes: multiplications, and the weights of the attention."""
        matrices = sum(p.numel() for name, p in self.named_parameters() if p.dim() == 2 and "embedding" not in name)
        outward = self.target_embedding.weight.numel() if self.options.tied else 0
        looks = length**2 if self.options.decoder != "bottleneck" else 0
        looking = 2 * looks * self.options.width
        total = length * (matrices + outward) + looking
        return {"multiplications": total, "attention_share": looking / total, "weights": looks}


def _parts(options: Seq2SeqOptions) -> int:
    """Tensors that a layer remembers: an LSTM has a cell beside its state."""
    return 2 if options.cell == "lstm" else 1


def _decoder(options: Seq2SeqOptions) -> Bottleneck | Bahdanau | Luong:
    width, embedding = options.width, options.embedding
    match options.decoder:
        case "bahdanau":
            return Bahdanau(_stack(options, embedding + width), _look(options), embedding, width)
        case "luong":
            fed = width if options.input_feeding else 0
            return Luong(_stack(options, embedding + fed), _look(options), width, options.input_feeding)
    return Bottleneck(_stack(options, embedding))


def _stack(options: Seq2SeqOptions, depth: int) -> Stack:
    return Stack(
        options.cell,
        depth,
        options.width,
        options.decoder_layers,
        dropout=options.dropout,
        residual=options.residual,
    )


def _look(options: Seq2SeqOptions) -> Attention:
    width = options.width
    score = Covered(width, width, width) if options.coverage else named_score(options.score, width, width, width)
    return Attention(
        Positive(score) if options.normaliser == "plain" else score,
        looks_from="target",
        looks_at="source",
        normaliser=named_normaliser(options.normaliser),
        focus=_focus(options),
        choice=None if options.hard == "none" else Hard(options.hard, options.temperature),
    )


def _focus(options: Seq2SeqOptions) -> LocalMonotonic | LocalPredictive | None:
    match options.window:
        case "monotonic":
            return LocalMonotonic(options.reach)
        case "predictive":
            return LocalPredictive(options.width, options.width, options.reach)
    return None
