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
        description="Decoder without attention, or with Bahdanau's or Luong's, or two tanh layers with a look between.",
    )
    encoder: Literal["recurrent", "transformer"] = Field(
        default="recurrent", description="Encoder of recurrent layers, or of a Transformer's blocks."
    )
    cell: CellName = Field(default="lstm", description="The recurrent cell of all layers.")
    encoder_layers: int = Field(default=1, ge=1, le=MOST_LAYERS, description="Layers or blocks of the encoder.")
    encoder_width: int | None = Field(
        default=None, ge=2, le=WIDEST, description="Width of the encoder's states, if not that of the decoder's."
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
    bidirectional: bool = Field(default=True, description="Whether the encoder reads from both ends.")
    residual: bool = Field(default=False, description="Residual connections around all layers but the first.")
    dropout: float = Field(default=0.2, ge=0, lt=1, description="Dropout on embeddings, between layers, on outputs.")
    score: Annotated[Literal["dot", "scaled-dot", "bilinear", "additive", "location", "mixed"], OrRowOf(SCORES)] = (
        Field(default="additive", description="How well a source place answers the decoder.")
    )
    token_in_score: bool = Field(
        default=False, description="Whether Bahdanau's score also sees the last token, beside the last state."
    )
    normaliser: Annotated[Literal["softmax", "plain", "sparsemax", "entmax"], OrRowOf(NORMALISERS)] = Field(
        default="softmax", description="How scores become weights; plain divides positive scores by their sum."
    )
    positive: Positiveness = Field(
        default="softplus",
        description="What makes scores positive for plain; with none, scores that are not positive are refused.",
    )
    projected: bool = Field(
        default=False, description="Whether the decoder looks through matrices for queries, keys and values."
    )
    heads: int = Field(default=1, ge=1, le=WIDEST, description="Attention heads of a projected look.")
    shared_key_value: bool = Field(
        default=False, description="The keys of a projected look are its values too, by one matrix."
    )
    join: Join = Field(
        default="concatenated",
        description="Heads of a projected look side by side, or the mean of full-width heads.",
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
    context_at_each_step: bool = Field(
        default=False,
        description="Whether a bottleneck's decoder reads the encoder's last state at each step, not only at first.",
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
        """Width of what the decoder looks from."""
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
        """Options that would do nothing, by the reason why."""
        found: dict[str, Sequence[str] | Literal[False]] = {
            "a bottleneck has no attention": self.decoder == "bottleneck"
            and ["score", "normaliser", "projected", "window", "hard", "copies"],
            "a bottleneck keeps no states of its source": self.decoder == "bottleneck" and ["ctc"],
            "only a bottleneck never looks back": self.decoder != "bottleneck" and ["context_at_each_step"],
            "a tanh decoder has one layer": self.decoder == "tanh" and ["decoder_layers"],
            "only Bahdanau's decoder looks before it reads": self.decoder != "bahdanau" and ["token_in_score"],
            "only plain weights are shares of positive scores": self.normaliser != "plain" and ["positive"],
            "the look is not projected": not self.projected and ["heads", "shared_key_value", "join"],
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
        """Check that copying shares out all places by weights that sum to one."""
        for name in ("window", "hard", "own_tokens"):
            if self.copies and getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"copies go by weights over the whole source and true tokens, so not with {name}")
        if self.coverage and self.score != "additive":
            raise ValueError(f"coverage stands inside the additive score, so score cannot be '{self.score}'")
        return self

    @model_validator(mode="after")
    def _check_look(self) -> "Seq2SeqOptions":
        if self.width % self.heads:
            raise ValueError(f"width {self.width} cannot be shared out among {self.heads} heads")
        for name in ("copies", "hard"):
            if self.heads > 1 and getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"{name} goes by the weights of one head, and there are {self.heads}")
        if self.heads > 1 and self.score in ("location", "mixed"):
            raise ValueError(f"the score '{self.score}' follows the look of one head, and there are {self.heads}")
        unequal = self.decoder != "bottleneck" and not self.projected and self.query_width != self.states_width
        if unequal and self.score in ("dot", "scaled-dot"):
            raise ValueError(
                f"the score '{self.score}' multiplies queries of {self.query_width} and keys of {self.states_width} "
                "numbers; set projected = true, or score to 'bilinear' or 'additive'"
            )
        return self

    @property
    def ample_tokens(self) -> int:
        """Larger batches than this fit a large GPU and teach the model no faster."""
        return 8192

    @property
    def adjustable(self) -> frozenset[str]:
        """Options that may change while the weights stay: none on which they, or their outputs, depend."""
        of_training = {"dropout", "own_tokens", "own_tokens_after", "expected", *ReinforceOptions.model_fields}
        return frozenset(of_training | {"longest"})
