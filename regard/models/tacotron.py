"""Tacotron: from symbols to the frames of a sound, several per step, with attention that moves along the symbols.

Wang et al. 2017 (the idea), Shen et al. 2018 (Tacotron 2: location-sensitive attention, stop prediction, post-net).
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from pydantic import Field
from torch import Tensor, nn

from regard.attention import Attention
from regard.attention.core import PreparedKeys
from regard.attention.editing import standing
from regard.attention.masks import Lengths, real_places
from regard.attention.scores import Location
from regard.attention.steps import join_steps
from regard.attention.watch import Gazes, is_watched, note, watching_steps
from regard.base.recipe import Options
from regard.models.parts import Embedding, count_matrix_weights
from regard.models.recurrent.written_out import edit_step

REACH = 2  # symbols or frames to either side that a convolution sees


class TacotronOptions(Options):
    """Options of a Tacotron."""

    embedding: int = Field(64, ge=1, le=4096, description="Width of the symbol embeddings.")
    speaker: int = Field(16, ge=1, le=1024, description="Width of the speaker embeddings.")
    width: int = Field(128, ge=1, le=4096, description="Width of the encoder's states and of both recurrent cells.")
    encoder_layers: int = Field(2, ge=0, le=16, description="Convolutions over the symbols.")
    prenet: int = Field(64, ge=1, le=4096, description="Width of the pre-net, two layers on the previous frame.")
    prenet_dropout: float = Field(0.5, ge=0, lt=1, description="Dropout in the pre-net.")
    postnet: int = Field(64, ge=1, le=4096, description="Width of the post-net's convolutions.")
    postnet_layers: int = Field(3, ge=0, le=16, description="Convolutions of the post-net, which refine the frames.")
    dropout: float = Field(0.1, ge=0, lt=1, description="Dropout in the encoder and the post-net.")
    frames: int = Field(5, ge=2, le=32, description="Frames per step.")
    hidden: int = Field(64, ge=1, le=4096, description="Hidden size of the attention score.")
    filters: int = Field(8, ge=1, le=256, description="Filters over the attention so far.")
    reach: int = Field(7, ge=0, le=64, description="Symbols to either side that these filters see.")


class SymbolMemory(NamedTuple):
    """Encoding of each text: its symbols as values and as keys, a mask, and the speaker."""

    values: Float[Tensor, "batch 1 symbol width"]
    keys: PreparedKeys
    allowed: Bool[Tensor, "batch 1 1 symbol"]
    speaker: Float[Tensor, "batch speaker"]


class Voice(NamedTuple):
    """State of the decoder of each text between two steps."""

    looking: Float[Tensor, "batch width"]  # the state that looks
    speaking: Float[Tensor, "batch width"]  # the state that speaks
    context: Float[Tensor, "batch width"]  # the last context
    seen: Float[Tensor, "batch symbol"]  # the sum of all attention so far


class Speech(NamedTuple):
    """Speech: frames before and after the post-net, logits of stopping, and attention."""

    before: Float[Tensor, "batch frame band"]
    after: Float[Tensor, "batch frame band"]
    stops: Float[Tensor, "batch step"]
    looks: Float[Tensor, "batch step symbol"]


class Prenet(nn.Module):
    """Two narrow layers with dropout, so that a step cannot rely on the previous frame alone (Wang et al. 2017, 3.3).

    Departure from Shen et al. 2018: there is no dropout when it speaks, so that a text always gives the same sound.
    """

    def __init__(self, depth: int, width: int, dropout: float) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(depth, width), nn.Linear(width, width)])
        self.dropout = nn.Dropout(dropout)

    def forward(self, frame: Float[Tensor, "*place band"]) -> Float[Tensor, "*place prenet"]:
        for layer in self.layers:
            frame = self.dropout(layer(frame).relu())
        return frame


class Convolution(nn.Module):
    """x + dropout(tanh(conv(x))) along time, with zeros beyond the end of a row."""

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.inner = nn.Conv1d(width, width, 2 * REACH + 1, padding=REACH)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, states: Float[Tensor, "batch time width"], real: Bool[Tensor, "batch time"]
    ) -> Float[Tensor, "batch time width"]:
        return (states + self.dropout(self.inner(states.mT).mT.tanh())) * real.unsqueeze(-1)


class Tacotron(nn.Module):
    """Network from symbols and a speaker to frames and stops; the task defines frames and the loss.

    h = encoder(symbols)                                    convolutions; departure: no LSTM above them
    p_t = prenet(y_{t−1})                                   the last frame of the previous step
    q_t = GRU([p_t, c_{t−1}, speaker], q_{t−1})
    a_t = softmax(wᵀ tanh(W q_t + V h_i + U f_i)), f = F * Σ_{s<t} a_s;   c_t = Σ_i a_ti h_i
    s_t = GRU([q_t, c_t], s_{t−1})
    y_t = W_y [s_t, c_t], several frames at once;   stop_t = σ(w_s [s_t, c_t])
    ŷ = y + postnet(y)                                      convolutions over all frames
    """

    def __init__(self, options: TacotronOptions, symbols: int, speakers: int, bands: int, pad: int) -> None:
        super().__init__()
        self.options, self.bands = options, bands
        width = options.width
        self.symbols = Embedding(symbols, options.embedding, pad)
        self.speakers = nn.Embedding(speakers, options.speaker)
        self.inward = nn.Linear(options.embedding + options.speaker, width)
        self.encoder = nn.ModuleList(Convolution(width, options.dropout) for _ in range(options.encoder_layers))
        self.prenet = Prenet(bands, options.prenet, options.prenet_dropout)
        score = Location(width, width, hidden=options.hidden, filters=options.filters, reach=options.reach)
        self.look = Attention(score, looks_from="frames", looks_at="symbols")
        self.looking = nn.GRUCell(options.prenet + width + options.speaker, width)
        self.speaking = nn.GRUCell(2 * width, width)
        self.out = nn.Linear(2 * width, options.frames * bands)
        self.stop = nn.Linear(2 * width, 1)
        self.widen, self.narrow = nn.Linear(bands, options.postnet), nn.Linear(options.postnet, bands)
        self.postnet = nn.ModuleList(
            Convolution(options.postnet, options.dropout) for _ in range(options.postnet_layers)
        )

    def read(
        self,
        symbols: Int[Tensor, "batch symbol"],
        lengths: Int[Tensor, " batch"],
        speakers: Int[Tensor, " batch"],
    ) -> SymbolMemory:
        """Encode each text and its speaker for the decoder."""
        allowed = Lengths(lengths).as_tensor(1, symbols.shape[1], symbols.device)
        speaker = self.speakers(speakers)
        embedded = self.symbols(symbols)
        spread = speaker.unsqueeze(1).expand(-1, symbols.shape[1], -1)
        real = allowed[:, 0, 0]
        states = self.inward(torch.cat([embedded, spread], dim=-1)) * real.unsqueeze(-1)
        for layer in self.encoder:
            states = layer(states, real)
        values = states.unsqueeze(1)
        return SymbolMemory(values, self.look.prepare(values), allowed, speaker)

    def begin(self, memory: SymbolMemory) -> Voice:
        """Return the decoder's initial state, all zeros."""
        batch, _, symbols, width = memory.values.shape
        nothing = memory.values.new_zeros(batch, width)
        return Voice(nothing, nothing, nothing, memory.values.new_zeros(batch, symbols))

    def forward(
        self,
        memory: SymbolMemory,
        frames: Float[Tensor, "batch frame band"],
        lengths: Int[Tensor, " batch"],
    ) -> Speech:
        """Speak with teacher forcing on the true frames; `lengths` are those of the sounds."""
        steps = frames.shape[1] // self.options.frames
        last_of_step = frames[:, self.options.frames - 1 :: self.options.frames]
        before = torch.cat([torch.zeros_like(last_of_step[:, :1]), last_of_step[:, : steps - 1]], dim=1)
        narrowed, voice = self.prenet(before), self.begin(memory)
        states, looks = [], []
        with watching_steps(self.look) as watched:
            for place in range(steps):
                state, voice, weights = self._step(narrowed[:, place], memory, voice, place)
                states.append(state)
                looks.append(weights)
        return self._speech(torch.stack(states, dim=1), torch.stack(looks, dim=1), lengths, watched)

    def speak(self, memory: SymbolMemory, most: Int[Tensor, " batch"]) -> tuple[Speech, Int[Tensor, " batch"]]:
        """Speak freely, feeding back each step's last frame, for at most `most` steps; also return the frame counts.

        A sound ends with the first step whose stop probability reaches one half, or at the limit.
        """
        voice = self.begin(memory)
        frame = memory.values.new_zeros(memory.values.shape[0], self.bands)
        active = most > 0
        lengths = torch.zeros_like(most)
        states: list[Tensor] = []
        looks: list[Tensor] = []
        with watching_steps(self.look) as watched:
            while bool(active.any()):
                state, voice, weights = self._step(self.prenet(frame), memory, voice, len(states))
                states.append(state)
                looks.append(weights)
                lengths = lengths + self.options.frames * active
                frame = self.out(state)[:, -self.bands :]
                active = active & (self.stop(state).squeeze(-1) < 0) & (len(states) < most)
        return self._speech(torch.stack(states, dim=1), torch.stack(looks, dim=1), lengths, watched), lengths

    def _step(
        self, narrowed: Float[Tensor, "batch prenet"], memory: SymbolMemory, voice: Voice, place: int
    ) -> tuple[Float[Tensor, "batch both"], Voice, Float[Tensor, "batch symbol"]]:
        """Run one step; return the state that frames are made from, the decoder's new state, and where it looked."""
        with standing(place):
            looking = self.looking(torch.cat([narrowed, voice.context, memory.speaker], dim=-1), voice.looking)
            (looking,) = edit_step(self.looking, (looking,))
            query, seen = looking[:, None, None], voice.seen[:, None, None]
            look = self.look.full(query, memory.keys, memory.values, memory.allowed, seen, place)
            context, weights = look.context[:, 0, 0], look.weights[:, 0, 0]
            speaking = self.speaking(torch.cat([looking, context], dim=-1), voice.speaking)
            (speaking,) = edit_step(self.speaking, (speaking,))
        state = torch.cat([speaking, context], dim=-1)
        return state, Voice(looking, speaking, context, voice.seen + weights), weights

    def multiplications(self, symbols: int, steps: int) -> int:
        """Return the multiplications for reading `symbols` and speaking `steps`.

        For each symbol, attention costs the filters, their projection, the sum and the mix.
        """
        options = self.options
        of_look = options.width * options.hidden  # for a symbol once, and for every step
        of_symbol = count_matrix_weights(self.inward, self.encoder) + of_look
        of_step = count_matrix_weights(self.prenet, self.looking, self.speaking, self.out, self.stop) + of_look
        of_frame = count_matrix_weights(self.widen, self.postnet, self.narrow)
        looks = options.filters * (2 * options.reach + 1 + options.hidden) + options.hidden + options.width
        return symbols * of_symbol + steps * (of_step + options.frames * of_frame + symbols * looks)

    def _speech(
        self,
        states: Float[Tensor, "batch step both"],
        looks: Float[Tensor, "batch step symbol"],
        lengths: Int[Tensor, " batch"],
        watched: Gazes,
    ) -> Speech:
        """Compute for all steps at once what the next step does not need."""
        if is_watched():  # one gaze for all steps, as for every other attention
            note(self.look, self.look.looks_from, self.look.looks_at, looks.unsqueeze(1), join_steps(watched))
        before = self.out(states).unflatten(-1, (self.options.frames, self.bands)).flatten(1, 2)
        real = real_places(lengths, before.shape[1])
        refined = self.widen(before) * real.unsqueeze(-1)
        for layer in self.postnet:
            refined = layer(refined, real)
        return Speech(before, before + self.narrow(refined), self.stop(states).squeeze(-1), looks)
