"""Recurrent encoder and decoder: the bottleneck, and attention, which was invented to widen it.

Sutskever et al. 2014 (no attention), Bahdanau et al. 2015 and Luong et al. 2015. Departures: any cell may be used
everywhere; in all layers the decoder starts with tanh of a projection of the encoder's last states; the encoder may be
that of a Transformer, and attention may have projections and heads.
"""

from contextlib import AbstractContextManager
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import Lengths, is_watched, note
from regard.attention.core import Look
from regard.attention.editing import is_edited, standing
from regard.attention.steps import join_steps
from regard.attention.watch import watching_steps
from regard.models.copying import Copying, Pointed
from regard.models.ctc.head import CTCHead
from regard.models.parts import Embedding
from regard.models.recurrent.decoders import Bottleneck, Luong, Parts, RecurrentMemory, Step, Writing, unseen
from regard.models.recurrent.encoders import encoder_of
from regard.models.recurrent.layers import Hidden
from regard.models.recurrent.looking import decoder_of
from regard.models.recurrent.seq2seq_options import Seq2SeqOptions
from regard.models.translator import Translator


class Seq2Seq(Translator):
    """Network from tokens to states and logits; the task defines batches and the loss."""

    # A tied matrix belongs to the first part that has it.
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
        self.encoder = encoder_of(options)
        self.decoder = decoder_of(options)
        self.bridge = nn.Linear(options.states_width, options.decoder_layers * _parts(options) * options.width)
        self.dropout = nn.Dropout(options.dropout)
        self.out = nn.Linear(options.width, target_tokens, bias=options.decoder == "tanh")
        nn.init.normal_(self.out.weight, std=options.width**-0.5)
        if self.out.bias is not None:
            nn.init.zeros_(self.out.bias)
        if options.tied:
            self.out.weight = self.target_embedding.weight
        self.copying = Copying(options.width) if options.copies else None
        self.ctc_head = CTCHead(options.states_width, target_tokens, options.ctc_frames) if options.ctc else None

    @property
    def chooses(self) -> bool:
        """True if the places it looks at are sampled in training, so that choosing must be learnt too."""
        return self.options.hard == "reinforce"

    def read(self, source: Int[Tensor, "batch source"], lengths: Int[Tensor, " batch"]) -> RecurrentMemory:
        """Encode each source sentence for the decoder."""
        embedded = self.dropout(self.source_embedding(source))
        if self.decoder.look is None:
            return unseen(self.encoder.whole(embedded, lengths))
        states, last = self.encoder(embedded, lengths)
        return self._remember(self.dropout(states), lengths, last)

    def _remember(
        self, states: Float[Tensor, "batch source width"], lengths: Int[Tensor, " batch"], last: Tensor
    ) -> RecurrentMemory:
        """Return the memory for a decoder with attention; `lengths` states are real in each row."""
        assert self.decoder.look is not None
        assert self.decoder.projections is not None
        keys, values = self.decoder.projections.remember(states)
        allowed = Lengths(lengths).as_tensor(1, states.shape[1], states.device)
        frames = () if self.ctc_head is None else (self.ctc_head(states, lengths),)
        return RecurrentMemory(values, self.decoder.look.prepare(keys), allowed, last, frames)

    def layers(self, source: Int[Tensor, "batch source"], lengths: Int[Tensor, " batch"]) -> list[Tensor]:
        """Return the vectors of each source token: its embedding, then the states of every layer (batch, source,
        width).
        """
        embedded = self.source_embedding(source)
        return [embedded, *self.encoder.layer_states(self.dropout(embedded), lengths)]

    def begin(self, memory: RecurrentMemory) -> Writing:
        """Return the decoder's initial state: s_0 = tanh(W [last states])."""
        rows, _, source, _ = memory.values.shape
        layers = self.bridge(memory.last).tanh().chunk(self.options.decoder_layers, dim=-1)
        hidden: list[Hidden] = [layer.chunk(_parts(self.options), dim=-1) for layer in layers]
        look, nothing = self.decoder.look, memory.values.new_empty(rows, 0)
        weights = nothing
        if look is not None and look.follows:  # the first look follows one at the first place
            weights = memory.values.new_zeros(rows, source)
            if not look.gathers:
                weights[:, 0] = 1.0
        place = torch.zeros(rows, dtype=torch.long, device=nothing.device)
        fed, manner = nothing.new_zeros(rows, self.decoder.fed), place[:, None][:, :0]
        return Writing(hidden, fed, weights, place, manner, nothing, nothing)

    def write(
        self, target: Int[Tensor, "row target"], memory: RecurrentMemory, past: Writing, own: float = 0.0
    ) -> tuple[Float[Tensor, "row target width"], Writing]:
        """Return the states of the target tokens, and the decoder's new state.

        With `own` above zero, a random share `own` of the input tokens is replaced by tokens sampled from the model
        itself (scheduled sampling, Bengio et al. 2015).
        """
        with self._standing(memory, past):
            parts, past, _ = self._steps(self._embed(target), memory, past, own)
            return self.dropout(self.decoder.readout(*parts)), past

    def point(
        self, target: Int[Tensor, "row target"], memory: RecurrentMemory, past: Writing
    ) -> tuple[Pointed, Writing]:
        """Write as `write` does, for a model that copies; also return where each state looks, and its copy switch."""
        assert self.copying is not None
        with self._standing(memory, past):
            parts, past, weights = self._steps(self._embed(target), memory, past)
            lengths = memory.allowed.sum(-1).flatten()
            return self.copying(self.dropout(self.decoder.readout(*parts)), weights, lengths), past

    def _standing(self, memory: RecurrentMemory, past: Writing) -> AbstractContextManager[None]:
        """Tell edits where the next tokens stand; states count their steps only while something is edited."""
        return standing(int(past.place[0]) if is_edited() else 0, len(memory.last))

    def _embed(self, tokens: Int[Tensor, "row time"]) -> Float[Tensor, "row time depth"]:
        return self.dropout(self.target_embedding(tokens))

    def _steps(
        self,
        embedded: Float[Tensor, "row target depth"],
        memory: RecurrentMemory,
        past: Writing,
        own_share: float = 0.0,
    ) -> tuple[Parts, Writing, Float[Tensor, "row target source"]]:
        """Run all steps; return their outputs, the decoder's state after them, and their attention."""
        alone = embedded.shape[0] == memory.values.shape[0]  # one row per sentence
        if isinstance(self.decoder, Bottleneck | Luong) and self.decoder.at_once and alone and not own_share:
            before = past.place
            parts, past, looks = self.decoder.whole(embedded, memory, past)
            past = past._replace(place=before + embedded.shape[1]) if is_edited() else past
            return parts, self._with_choices(past, looks), looks[0].weights[:, 0] if looks else embedded[..., :0]
        return self._step_by_step(embedded, memory, past, own_share)

    def _step_by_step(
        self, embedded: Float[Tensor, "row target depth"], memory: RecurrentMemory, past: Writing, own_share: float
    ) -> tuple[Parts, Writing, Float[Tensor, "row target source"]]:
        steps: list[Parts] = []
        looks: list[Look] = []
        look = self.decoder.look
        with watching_steps(look) as watched:
            for place in range(embedded.shape[1]):
                inputs = embedded[:, place]
                if own_share and steps:
                    inputs = self._sometimes_own(inputs, steps[-1], own_share)
                parts, past, looked = self._step(inputs, memory, past)
                steps.append(parts)
                looks += looked
        weights = embedded[..., :0]
        if look is not None and (self.copying is not None or is_watched()):
            of_heads = torch.stack([step.weights.transpose(1, 2).flatten(0, 1) for step in looks], dim=2)
            weights = of_heads[:, 0]  # copying needs attention with one head
            if is_watched():  # one gaze for all steps, as for every other attention
                note(look, look.looks_from, look.looks_at, of_heads, join_steps(watched))
        parts = tuple(torch.stack(part, dim=1) for part in zip(*steps, strict=True))
        return parts, self._with_choices(past, looks), weights

    def _step(self, inputs: Float[Tensor, "row depth"], memory: RecurrentMemory, past: Writing) -> Step:
        """Run one step, and count it while something is edited."""
        if not is_edited():
            return self.decoder.step(inputs, memory, past)
        with self._standing(memory, past):
            step = self.decoder.step(inputs, memory, past)
        return step._replace(past=step.past._replace(place=past.place + 1))

    def _with_choices(self, past: Writing, looks: list[Look]) -> Writing:
        """Add the log-probabilities and entropies of choices, if they are to be learnt."""
        if not self.chooses:
            return past
        rows = len(past.place)
        log_probability, entropy = (
            torch.cat([column.reshape(rows, -1) for column in columns], dim=1)
            for columns in zip(*((look.log_probability, look.entropy) for look in looks), strict=True)
        )
        return past._replace(log_probability=log_probability, entropy=entropy)

    def _sometimes_own(
        self, inputs: Float[Tensor, "row depth"], before: Parts, own_share: float
    ) -> Float[Tensor, "row depth"]:
        """Replace random inputs by the embedding of a token sampled from the model's own distribution."""
        with torch.no_grad():  # no gradient passes through the sampling, but the embedding still learns
            sampled = self.logits(self.decoder.readout(*before)).float().softmax(-1).multinomial(1)
        use = torch.rand(len(inputs), 1, device=inputs.device) < own_share
        return torch.where(use, self._embed(sampled)[:, 0].to(inputs.dtype), inputs)

    def token_weights(self) -> Float[Tensor, "token width"]:
        """Return the output matrix, which scores every token."""
        return self.out.weight

    def token_biases(self) -> Float[Tensor, " token"] | None:
        """Return the bias of the output layer: learnt after the two tanh layers, otherwise none."""
        return self.out.bias

    def logits(self, states: Float[Tensor, "*place width"]) -> Float[Tensor, "*place token"]:
        """Return the score of every token at every place."""
        return self.out(states)

    def cost(self, length: int) -> dict[str, int | float]:
        """Return the cost of reading and writing `length` tokens: multiplications, and all attention weights."""
        options, projections = self.options, self.decoder.projections
        matrices = sum(p.numel() for name, p in self.named_parameters() if p.dim() == 2 and "embedding" not in name)
        outward = self.target_embedding.weight.numel() if options.tied else 0
        blocks = options.encoder_layers if options.encoder == "transformer" else 0
        looking, weights = 2 * blocks * length**2 * options.states_width, blocks * options.encoder_heads * length**2
        if projections is not None:
            heads = projections.heads
            looking += length**2 * heads * (projections.key_depth + projections.value_depth)
            weights += length**2 * heads
        total = length * (matrices + outward) + looking
        return {"multiplications": total, "attention_share": looking / total, "weights": weights}


def _parts(options: Seq2SeqOptions) -> int:
    """Return the number of tensors in the state of a decoder layer: an LSTM has a cell besides its output."""
    return 2 if options.cell == "lstm" and options.decoder != "tanh" else 1
