"""Recipe options for recurrent translators: encoder, decoder and the attention between them."""

from collections.abc import Sequence
from itertools import chain
from typing import Annotated, Literal

from pydantic import Field, model_validator

from regard.attention.hard import Estimator
from regard.attention.normalisers import Positiveness
from regard.base.head_costs import Join, head_depths
from regard.base.rows import NORMALISERS, SCORES, OrRowOf
from regard.models.bounds import LONGEST, MOST_LAYERS, WIDEST, WIDEST_INSIDE
from regard.models.cell_names import CellName
from regard.models.reinforcement import ReinforceOptions
from regard.models.transformer.options import TransformerOptions
from regard.models.translator_options import CopyOptions, CTCOptions


class Seq2SeqOptions(ReinforceOptions, CopyOptions, CTCOptions):
    """Options of a recurrent translator."""

    decoder: Literal["bottleneck", "bahdanau", "luong", "tanh"] = Field(
        default="luong",
        description="Decoder: without attention, Bahdanau's, Luong's, or two tanh layers with attention between.",
    )
    encoder: Literal["recurrent", "transformer"] = Field(
        default="recurrent", description="Encoder: recurrent layers, or Transformer blocks."
    )
    cell: CellName = Field(default="lstm", description="Recurrent cell of all layers.")
    encoder_layers: int = Field(default=1, ge=1, le=MOST_LAYERS, description="Layers or blocks of the encoder.")
    encoder_width: int | None = Field(
        default=None, ge=2, le=WIDEST, description="Width of the encoder's states; default: the decoder's."
    )
    encoder_heads: int = Field(
        default=4, ge=1, le=WIDEST, description="Attention heads of each block of a Transformer's encoder."
    )
    feed_forward: int = Field(
        default=1024,
        ge=1,
        le=WIDEST_INSIDE,
        description="Width inside the feed-forward nets of a Transformer's encoder.",
    )
    decoder_layers: int = Field(default=1, ge=1, le=MOST_LAYERS, description="Recurrent layers of the decoder.")
    embedding: int = Field(default=256, ge=1, le=WIDEST, description="Width of the token embeddings.")
    width: int = Field(
        default=512, ge=2, le=WIDEST, description="Width of the states; an encoder's two directions share it."
    )
    bidirectional: bool = Field(default=True, description="Read the source in both directions.")
    residual: bool = Field(default=False, description="Residual connections around all layers but the first.")
    dropout: float = Field(default=0.2, ge=0, lt=1, description="Dropout on embeddings, between layers and on outputs.")
    score: Annotated[Literal["dot", "scaled-dot", "bilinear", "additive", "location", "mixed"], OrRowOf(SCORES)] = (
        Field(default="additive", description="Attention score between decoder states and source places.")
    )
    token_in_score: bool = Field(
        default=False, description="Let Bahdanau's score see the last token as well as the last state."
    )
    normaliser: Annotated[Literal["softmax", "plain", "sparsemax", "entmax"], OrRowOf(NORMALISERS)] = Field(
        default="softmax", description="How scores become weights; plain divides positive scores by their sum."
    )
    positive: Positiveness = Field(
        default="softplus",
        description="What makes scores positive for plain; with none, scores that are not positive are refused.",
    )
    projected: bool = Field(
        default=False, description="Project queries, keys and values of the decoder's attention by matrices."
    )
    heads: int = Field(default=1, ge=1, le=WIDEST, description="Heads of projected attention.")
    shared_key_value: bool = Field(
        default=False, description="Use the keys of projected attention as its values too, with one matrix."
    )
    join: Join = Field(
        default="concatenated",
        description="Heads of projected attention are concatenated, or full-width heads are averaged.",
    )
    window: Literal["none", "monotonic", "predictive"] = Field(
        default="none", description="Look at all places, or in a window around the step's own or a predicted place."
    )
    reach: int = Field(default=10, ge=1, le=LONGEST, description="Places that a window covers on either side.")
    hard: Literal["none", Estimator] = Field(
        default="none", description="Look at a mix of places, or at a single one, learnt by one of four estimators."
    )
    expected: float = Field(
        default=0.0,
        ge=0,
        lt=1,
        description="Share of the sentences that look at a mix of places in training (published: 0.5).",
    )
    temperature: float = Field(
        default=1.0, gt=0, description="Temperature of the Gumbel softmax; the lower, the closer to one place."
    )
    context_at_each_step: bool = Field(
        default=False,
        description="Feed the encoder's last state to a bottleneck's decoder at each step, not only at the start.",
    )
    input_feeding: bool = Field(default=True, description="Feed Luong's decoder its last attentional state.")
    own_tokens: float = Field(
        default=0.0, ge=0, le=1, description="Share of the model's own tokens fed in training (scheduled sampling)."
    )
    own_tokens_after: int = Field(
        default=0, ge=0, description="Batches over which own_tokens grows linearly from zero; 0: full from the start."
    )
    coverage: float = Field(
        default=0.0,
        ge=0,
        description="Weight of the loss for looking at a place again (published: 1); above 0 the score also sees how "
        "much each place was looked at before.",
    )
    tied: bool = Field(default=False, description="Use one matrix for target embeddings and output layer.")
    longest: int = Field(default=1024, ge=1, le=LONGEST, description="Longest input or output in tokens.")

    @model_validator(mode="after")
    def _check(self) -> "Seq2SeqOptions":
        if self.encoder == "recurrent" and self.bidirectional and self.states_width % 2:
            raise ValueError(f"width {self.states_width} is odd, but two directions share it")
        if self.tied and self.embedding != self.width:
            raise ValueError(f"tied needs embedding and width to be equal, not {self.embedding} and {self.width}")
        if self.encoder == "transformer":
            self.of_blocks()
        self.check_baseline()
        return self

    @property
    def states_width(self) -> int:
        """Width of the encoder's states."""
        return self.encoder_width or self.width

    @property
    def query_width(self) -> int:
        """Width of the decoder's queries."""
        return self.width + (self.embedding if self.token_in_score else 0)

    @property
    def look_depths(self) -> tuple[int, int]:
        """Depths of the queries and of the keys that one head compares."""
        if not self.projected:
            return self.query_width, self.states_width
        depth = head_depths(self.width, self.heads, self.join, self.shared_key_value).key
        return depth, depth

    def of_blocks(self) -> TransformerOptions:
        """Return the options of a Transformer's encoder blocks."""
        return TransformerOptions(
            encoder_layers=self.encoder_layers,
            decoder_layers=1,
            width=self.states_width,
            heads=self.encoder_heads,
            feed_forward=self.feed_forward,
            dropout=self.dropout,
            longest=self.longest,
            norm="before",
        )

    def _useless(self) -> dict[str, Sequence[str]]:
        """Return options that would do nothing, by reason."""
        unused: dict[str, Sequence[str] | Literal[False]] = {
            "a bottleneck has no attention": self.decoder == "bottleneck"
            and ["score", "normaliser", "projected", "window", "hard", "copies"],
            "a bottleneck keeps no states of its source": self.decoder == "bottleneck" and ["ctc"],
            "only a bottleneck never looks back": self.decoder != "bottleneck" and ["context_at_each_step"],
            "a tanh decoder has one layer": self.decoder == "tanh" and ["decoder_layers"],
            "only Bahdanau's decoder looks before it reads": self.decoder != "bahdanau" and ["token_in_score"],
            "only plain weights divide positive scores": self.normaliser != "plain" and ["positive"],
            "the attention is not projected": not self.projected and ["heads", "shared_key_value", "join"],
            "there is one head": self.heads == 1 and ["join"],
            "the encoder has recurrent layers": self.encoder == "recurrent" and ["encoder_heads", "feed_forward"],
            "there are no recurrent layers": self.encoder == "transformer"
            and self.decoder == "tanh"
            and ["cell", "residual"],
            "blocks see both sides of a place": self.encoder == "transformer" and ["bidirectional"],
            "only Luong's decoder is fed its states": self.decoder != "luong" and ["input_feeding"],
            "there is no window": self.window == "none" and ["reach"],
            "no choice is learnt by reinforce": self.hard != "reinforce"
            and [*ReinforceOptions.model_fields, "expected"],
            "there is no Gumbel softmax": not self.hard.startswith("gumbel") and ["temperature"],
            "own_tokens is 0": not self.own_tokens and ["own_tokens_after"],
            "only models that copy have coverage": not self.copies and ["coverage"],
        }
        return {reason: names for reason, names in unused.items() if names}

    @property
    def explores(self) -> bool:
        """True if training samples tokens of the model's own, or where it looks."""
        return self.own_tokens > 0 or self.hard == "reinforce"

    @property
    def idle(self) -> tuple[str, ...]:
        return (*super().idle, *chain.from_iterable(self._useless().values()))

    @model_validator(mode="after")
    def _check_effect(self) -> "Seq2SeqOptions":
        """Refuse options that would do nothing: two variants that differ in one would be the same."""
        for reason, names in self._useless().items():
            changed = [name for name in names if getattr(self, name) != type(self).model_fields[name].default]
            if changed:
                raise ValueError(f"{reason}, so {' and '.join(changed)} would do nothing")
        return self

    @model_validator(mode="after")
    def _check_copying(self) -> "Seq2SeqOptions":
        """Check that copying has weights over the whole source that sum to one."""
        for name in ("window", "hard", "own_tokens"):
            if self.copies and getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"copying needs weights over the whole source and true tokens, so not {name}")
        if self.coverage and self.score != "additive":
            raise ValueError(f"coverage is part of the additive score, so score cannot be '{self.score}'")
        return self

    @model_validator(mode="after")
    def _check_look(self) -> "Seq2SeqOptions":
        if self.width % self.heads:
            raise ValueError(f"width {self.width} cannot be shared out among {self.heads} heads")
        for name in ("copies", "hard"):
            if self.heads > 1 and getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"{name} uses the weights of one head, but there are {self.heads}")
        if self.heads > 1 and self.score in ("location", "mixed"):
            raise ValueError(f"the score '{self.score}' follows the look of one head, but there are {self.heads}")
        unequal = self.decoder != "bottleneck" and not self.projected and self.query_width != self.states_width
        if unequal and self.score in ("dot", "scaled-dot"):
            raise ValueError(
                f"the score '{self.score}' multiplies queries of {self.query_width} and keys of {self.states_width} "
                "numbers; set projected = true, or score to 'bilinear' or 'additive'"
            )
        return self

    @property
    def ample_tokens(self) -> int:
        """Batch size in tokens beyond which a large GPU still has room but the model learns no faster."""
        return 8192

    @property
    def adjustable(self) -> frozenset[str]:
        """Options that may change while the weights stay: neither weights nor outputs depend on them."""
        of_training = {"dropout", "own_tokens", "own_tokens_after", "expected", *ReinforceOptions.model_fields}
        return frozenset(of_training | {"longest"})
