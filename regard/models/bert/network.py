"""BERT (Devlin et al. 2019, "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding").

Departures: there is no next-sentence objective (as in RoBERTa, Liu et al. 2019), the vector of a text may be the mean
or the maximum of its states instead of that of [CLS], the learned positions begin as sinusoids, and a long text may be
read in windows.
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import Every, Lengths, Mask, Packed, is_observed
from regard.attention.heads import MultiHead
from regard.attention.positions import sinusoids
from regard.models.bert.options import BertOptions
from regard.models.parts import ACTIVATIONS
from regard.models.text.pooling import POOLS
from regard.models.text.reader import OrderedReader
from regard.models.text.texts import InputTokens, TextRows
from regard.models.transformer.network import EncoderBlock

_OF_ONE, _OF_TWO = 2, 3  # special tokens around one text, and around two


class Marks(NamedTuple):
    """Special tokens: padding, before a text ([CLS]) and behind it ([SEP])."""

    pad: int
    begin: int
    end: int


class Framed(NamedTuple):
    """Texts with their special tokens, and the segment of each place: 1 in a second text and its mark, if any."""

    tokens: Int[Tensor, "batch place"]
    lengths: Int[Tensor, " batch"]
    segments: Int[Tensor, "batch place"] | None


def frame(texts: TextRows, marks: Marks) -> Framed:
    """Put the texts between their special tokens; the aspect of each text, if any, becomes a second text."""
    tokens, lengths = texts.tokens, texts.lengths
    batch, time = tokens.shape
    second = 0 if texts.aspects is None else texts.aspects.shape[1] + 1
    places = torch.arange(time + _OF_ONE + second, device=tokens.device)[None]
    first_end = lengths[:, None] + 1  # place of the mark behind the first text
    first_text = tokens.gather(1, (places - 1).clamp(0, time - 1).expand(batch, -1))
    framed = torch.where(places < first_end, first_text, marks.pad)
    framed = framed.masked_fill(places == 0, marks.begin).masked_fill(places == first_end, marks.end)
    if texts.aspects is None or texts.aspect_lengths is None:
        return Framed(framed, lengths + _OF_ONE, None)
    second_end = first_end + texts.aspect_lengths[:, None] + 1
    second_text = texts.aspects.gather(1, (places - first_end - 1).clamp(0, texts.aspects.shape[1] - 1))
    is_second = places > first_end
    framed = torch.where(is_second & (places < second_end), second_text, framed)
    framed = framed.masked_fill(places == second_end, marks.end)
    segments = (is_second & (places <= second_end)).long()
    return Framed(framed, lengths + texts.aspect_lengths + _OF_TWO, segments)


def room_for_text(longest: int, second: int | None) -> int:
    """Return how many tokens the first text may have, next to a second one of `second` tokens."""
    return longest - _OF_ONE if second is None else longest - _OF_TWO - second


def keep_ends(texts: TextRows, longest: int) -> TextRows:
    """Shorten texts that are too long: keep as much of the beginning and end as fits, and drop the middle.

    This is "head and tail" of Sun et al. 2019, How to Fine-Tune BERT for Text Classification; here the parts are equal.
    """
    tokens, lengths = texts.tokens, texts.lengths
    room = lengths.new_tensor(longest - _OF_ONE).expand(len(lengths))
    if texts.aspect_lengths is not None:
        room = longest - _OF_TWO - texts.aspect_lengths
    remaining = lengths.minimum(room)[:, None]
    places = torch.arange(min(tokens.shape[1], longest - _OF_ONE), device=tokens.device)[None]
    chosen = places + torch.where(places >= remaining // 2, lengths[:, None] - remaining, 0)
    return texts._replace(tokens=tokens.gather(1, chosen.clamp(max=tokens.shape[1] - 1)), lengths=remaining[:, 0])


def windows_of(time: int, window: int, device: torch.device) -> Packed:
    """Return the mask by which each token sees its own window; the last window may be shorter."""
    starts = torch.arange(0, time, window, device=device)
    return Packed(torch.cat([starts, starts.new_tensor([time])]))


_SPREAD = 0.02  # standard deviation of a new model's weights (section A.2, in the authors' code)


class Bert(OrderedReader):
    """States for the tokens of a text or of a pair of texts; with `pools`, also one vector for the whole.

    Extra features of each token or word, such as its capitalisation, are concatenated to the output states.
    """

    inputs = None  # it has its own token embeddings
    is_in_sections = False  # True if its blocks are whole one at a time

    def __init__(self, options: BertOptions, vocabulary: InputTokens, pools: bool = True) -> None:
        super().__init__()
        self.options, self.width = options, options.width + vocabulary.beside
        self.marks = Marks(vocabulary.pad, vocabulary.begin, vocabulary.end)
        self.tokens = nn.Parameter(torch.empty(vocabulary.size, options.width))
        self.places = nn.Parameter(torch.empty(options.longest, options.width))
        self.segments = nn.Parameter(torch.empty(options.segments, options.width))
        self.norm, self.dropout = nn.LayerNorm(options.width), nn.Dropout(options.dropout)
        self.blocks = nn.ModuleList(EncoderBlock(options.of_blocks()) for _ in range(options.layers))
        self.pooler = nn.Linear(options.width, options.width) if options.pooler and pools else None
        _initialise(options, *self.modules())
        for table in (self.tokens, self.segments):
            nn.init.normal_(table, std=_SPREAD)
        with torch.no_grad():
            # Neighbours differ by a rotation from the start; with random places, attending to them is learnt late.
            self.places.copy_(sinusoids(torch.arange(options.longest), options.width) * _SPREAD * 2**0.5)

    def sections(self) -> Iterator[tuple[nn.Module, tuple[str, ...]]]:
        """Yield the blocks."""
        return ((block, ()) for block in self.blocks)

    @property
    def device(self) -> torch.device:
        return self.tokens.device

    def read(
        self,
        tokens: Int[Tensor, "batch time"],
        lengths: Int[Tensor, " batch"] | None = None,
        segments: Int[Tensor, "batch time"] | None = None,
    ) -> list[Float[Tensor, "batch time width"]]:
        """Return the token embeddings, special tokens included, then the states of every block.

        Without `lengths` no row has padding, and without `segments` all is one text.
        """
        layers = [F.embedding(tokens, self.tokens)]
        segment_vectors = self.segments[0] if segments is None else F.embedding(segments, self.segments)
        states = self.dropout(self.norm(layers[0] + self.place_vectors(tokens.shape[1]) + segment_vectors))
        real: Mask | None = None if lengths is None else Lengths(lengths)
        if not self._has_windows(tokens.shape[1]):
            return layers + self._pass(states, real)
        if not is_observed():
            return layers + self._pass_folded(states, lengths)
        windows = windows_of(tokens.shape[1], self.options.window or 0, tokens.device)
        return layers + self._pass(states, windows if real is None else Every((real, windows)))

    def place_vectors(self, time: int) -> Float[Tensor, "time width"]:
        """Return the vectors of the first `time` places; they begin again in each window."""
        if self._has_windows(time):
            window = self.options.window or 0
            return self.places[:window].repeat(-(-time // window), 1)[:time]
        if time > len(self.places):
            raise ValueError(f"there are {len(self.places)} places, but {time} tokens")
        return self.places[:time]

    def _has_windows(self, time: int) -> bool:
        """Return True if a text of this length is read in several windows."""
        return self.options.window is not None and time > self.options.window

    def _pass(self, states: Float[Tensor, "batch time width"], real: Mask | None) -> list[Tensor]:
        """Return the states of every block."""
        layers = []
        for block in self.blocks:
            states = block(states, real)
            layers.append(states)
        return layers

    def _pass_folded(
        self, states: Float[Tensor, "batch time width"], lengths: Int[Tensor, " batch"] | None
    ) -> list[Tensor]:
        """Pass each window as a row of its own, which costs far less than long rows with a mask between windows."""
        (batch, time, width), window = states.shape, self.options.window or 0
        starts = torch.arange(0, time, window, device=states.device)
        ends = starts.new_tensor(time) if lengths is None else lengths[:, None]
        real = (ends - starts).clamp(0, window).expand(batch, -1).flatten()
        rows = F.pad(states, (0, 0, 0, len(starts) * window - time)).reshape(-1, window, width)
        return [layer.reshape(batch, -1, width)[:, :time] for layer in self._pass(rows, Lengths(real))]

    def states(self, texts: TextRows) -> Float[Tensor, "batch time wider"]:
        """Return the state of each word, taken from its first token."""
        assert texts.firsts is not None
        states = self._layers(texts)[1][-1]
        chosen = states.gather(1, (texts.firsts + 1)[..., None].expand(-1, -1, states.shape[2]))
        return self.dropout(chosen if texts.beside is None else torch.cat([chosen, texts.beside], dim=-1))

    def summary(self, texts: TextRows) -> Float[Tensor, "batch width"]:
        """Return one vector for each text or pair of texts."""
        framed, layers = self._layers(texts)
        if self.options.pooling == "first":
            first = layers[-1][:, 0]
            return self.dropout(first if self.pooler is None else torch.tanh(self.pooler(first)))
        return self.dropout(POOLS[self.options.pooling](layers[-1], framed.lengths))

    def layer_states(self, texts: TextRows) -> list[Float[Tensor, "batch time width"]]:
        """Return the states of the text alone, without the special tokens around it."""
        return [states[:, 1 : 1 + texts.tokens.shape[1]] for states in self._layers(texts)[1]]

    def _layers(self, texts: TextRows) -> tuple[Framed, list[Float[Tensor, "batch place width"]]]:
        """Return the texts with special tokens, second texts included, and the states of all layers."""
        framed = frame(texts, self.marks)
        return framed, self.read(*framed)

    def fit(self, texts: TextRows) -> TextRows:
        return keep_ends(texts, self.options.longest) if self.options.too_long == "ends" else texts

    def most_tokens(self, second: int | None = None) -> int | None:
        if self.options.window is not None:
            return None
        room = room_for_text(self.options.longest, second)
        return None if self.options.too_long == "ends" and room > 1 else room

    @property
    def around(self) -> tuple[list[str], list[str]]:
        return ["[CLS]"], ["[SEP]"]

    def multiplications(self, length: int) -> int:
        """Return the multiplications for reading a text of `length` tokens."""
        whole, rest = divmod(length, self.options.window) if self.options.window is not None else (0, length)
        heads = [part for part in self.modules() if isinstance(part, MultiHead)]
        looking = sum(
            whole * part.multiplications(self.options.window or 0) + part.multiplications(rest) for part in heads
        )
        return length * self.matrices() + looking

    def matrices(self) -> int:
        """Return the number of weights in all matrices except the token embeddings, which are looked up."""
        return sum(part.weight.numel() for part in self.modules() if isinstance(part, nn.Linear))


class MaskedBert(nn.Module):
    """A BERT with its masked-token head: softmax(E norm(activation(W h + c)) + b), with E the token embeddings."""

    def __init__(self, reader: Bert) -> None:
        super().__init__()
        options = reader.options
        self.reader, self.activation = reader, ACTIVATIONS[options.activation]
        self.transform, self.norm = nn.Linear(options.width, options.width), nn.LayerNorm(options.width)
        self.bias = nn.Parameter(torch.empty(len(reader.tokens)))
        nn.init.zeros_(self.bias)
        _initialise(options, self.transform, self.norm)

    def guesses(self, states: Float[Tensor, "*place width"]) -> Float[Tensor, "*place width"]:
        """Return the vectors at masked places, to be compared with every token's embedding."""
        return self.norm(self.activation(self.transform(states)))

    def logits(self, states: Float[Tensor, "*place width"]) -> Float[Tensor, "*place token"]:
        """Return the score of every token at masked places."""
        return F.linear(self.guesses(states), self.reader.tokens, self.bias)

    def multiplications(self, length: int) -> int:
        """Return the multiplications for reading a text of `length` tokens and filling one mask."""
        return self.reader.multiplications(length) + self.transform.weight.numel() + self.reader.tokens.numel()


def _initialise(options: BertOptions, *parts: nn.Module) -> None:
    """Initialise the weights of a new network's layers, and set ε of its norms."""
    for part in parts:
        if isinstance(part, nn.LayerNorm):
            part.eps = options.norm_epsilon
        elif isinstance(part, nn.Linear):
            nn.init.normal_(part.weight, std=_SPREAD)
            nn.init.zeros_(part.bias)
