"""The task of speaking: batches of texts and sounds, a sound for each text, and attention while speaking."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from regard.attention.masks import real_places
from regard.base.faults import Fault, TextFault
from regard.base.progress import Progress, Remark
from regard.data.sounds.prepare import PreparedSounds, check_sounds_there, prepare_sounds
from regard.data.sounds.voices import PAD, Voices, open_voices, voices_of
from regard.models.tacotron import Speech, SymbolMemory, Tacotron
from regard.protocols import Loss, Measure, Spoken, Tally, mean
from regard.tasks.base import Files, NetworkTask, build_network, check_size
from regard.tasks.speaking.batches import SpeechBatch, SpokenText, make_batch, speech_batches
from regard.tasks.speaking.hearing import SPREAD, Hearing
from regard.tasks.speaking.options import (
    ROUNDS,
    SECONDS_A_SYMBOL,
    SECONDS_MORE,
    SpeakingRecipe,
    SpeakingTraining,
)
from regard.viewing.sides import Frames, Side, Words


class PreparedSpeech:
    """Sounds, and the voices learnt from them."""

    def __init__(self, sounds: PreparedSounds, voices: Voices) -> None:
        self.sounds, self.voices = sounds, voices

    @property
    def report(self) -> list[str]:
        """Describe the data and the speakers."""
        return [*self.sounds.report, f"spoken by {', '.join(self.voices.speakers)}"]

    def files(self) -> dict[str, bytes]:
        """Return the files for a model folder."""
        return self.voices.as_file()


class Speaking(NetworkTask[PreparedSpeech]):
    """A network that speaks, its voices, and its spectrograms."""

    MEASURES: ClassVar[tuple[str, ...]] = ("loss", "distance", "stops")
    unit: ClassVar[str] = "frames"
    measured_rows = 64

    def __init__(self, model: Tacotron, hearing: Hearing, voices: Voices, training: SpeakingTraining) -> None:
        super().__init__(model)
        self.hearing, self.voices, self.training_options = hearing, voices, training

    # Construction

    @classmethod
    def check(cls, recipe: SpeakingRecipe, device: torch.device, folder: Path | None) -> None:
        check_sounds_there(recipe.data, folder)
        check_size(recipe, 3, 1, recipe.data.features.bands, PAD)

    @classmethod
    def prepare(
        cls, recipe: SpeakingRecipe, folder: Path, progress: Progress, remark: Remark, start: Files | None
    ) -> PreparedSpeech:
        sounds = prepare_sounds(recipe.data, folder, progress)
        voices = voices_of(sounds)
        if start is not None:
            open_voices(start).refuse_others(voices)
        return PreparedSpeech(sounds, voices)

    @classmethod
    def build(cls, recipe: SpeakingRecipe, files: Files) -> "Speaking":
        voices, bands = open_voices(files, recipe.data.rate), recipe.data.features.bands
        network = build_network(recipe, len(voices.symbols), len(voices.speakers), bands, PAD)
        hearing = Hearing(voices.rate, *recipe.data.features.samples(voices.rate), bands)
        return cls(network, hearing, voices, recipe.training)

    # Training and evaluation

    def host_batches(self, split: str, rows: int, seed: int, epoch: int, start: int) -> Iterator[SpeechBatch]:
        return speech_batches(self.material.sounds, self.voices, split, rows, self.hearing, seed, epoch, start)

    def loss(self, batch: SpeechBatch, carry: dict[str, Tensor] | None = None) -> Loss:
        """Return Σ over frames of |before − y| + |after − y|, the loss of the stop, and of attention off the
        diagonal.
        """
        before, after, stops, strayed = self._costs(batch)
        total = self._sum(before, after, stops, strayed).sum()
        return Loss(total, batch.count, {"straying": Tally((strayed.detach().sum(), batch.frame_counts.sum()), mean)})

    def _sum(self, before: Tensor, after: Tensor, stops: Tensor, strayed: Tensor) -> Tensor:
        """Return the total loss of each row."""
        return before + after + stops + self.training_options.guide * strayed

    def _costs(self, batch: SpeechBatch) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the losses of each row: frames before and after the post-net, stops, attention off the diagonal."""
        frames = self.frames_of(batch)
        speech = self.model(self._read(batch), frames, batch.frame_counts)
        steps = -(-batch.frame_counts // self.model.options.frames)
        before, after = distances(speech, frames, batch.frame_counts)
        a_step = self.model.options.frames  # counts as many frames as a step speaks
        strayed = a_step * straying(speech.looks, steps, batch.symbol_counts)
        return before, after, a_step * stop_surprise(speech.stops, steps), strayed

    def frames_of(self, batch: SpeechBatch) -> Float[Tensor, "batch frame band"]:
        """Return the spectrograms of the sounds, padded to whole steps."""
        frames = self.hearing(batch.sounds).to(self.model.stop.weight.dtype)
        return F.pad(frames, (0, 0, 0, -frames.shape[1] % self.model.options.frames))

    def _read(self, batch: SpeechBatch) -> SymbolMemory:
        memory: SymbolMemory = self.model.read(batch.symbols, batch.symbol_counts, batch.speakers)
        return memory

    @torch.no_grad()
    def measure(self, batch: SpeechBatch) -> dict[str, Measure]:
        totals = {name: tuple(rows.sum(dim=0).tolist()) for name, rows in self.sums_of_rows(batch).items()}
        return {
            "loss": Measure(Tally(totals["loss"], mean), "lower"),
            "distance": Measure(
                Tally(totals["distance"], mean), "lower", f"of log-mel bands, in units of {SPREAD:g} nats"
            ),
            "stops": Measure(Tally(totals["stops"], mean), "lower", "nats a step, of whether it is the last"),
        }

    @torch.no_grad()
    def sums_of_rows(self, batch: SpeechBatch) -> dict[str, Tensor]:
        before, after, stops, strayed = (cost.double() for cost in self._costs(batch))
        frames = batch.frame_counts.double()
        loss = self._sum(before, after, stops, strayed)
        parts = {"loss": (loss, frames), "distance": (after, frames), "stops": (stops, frames)}
        return {name: torch.stack(part, dim=1) for name, part in parts.items()}

    # For people

    def read(self, inputs: Sequence[str], speaker: str | None = None) -> SpeechBatch:
        """Read texts to be spoken by one speaker, by default the first."""
        number = self.voices.speaker_number(speaker)
        for place, text in enumerate(inputs):
            try:
                self.voices.spell(text)
            except Fault as fault:
                raise TextFault(place, str(fault)) from None
        silent = np.zeros(0, np.float32)
        batch = make_batch([SpokenText(text, number, silent) for text in inputs], self.voices, self.hearing)
        return batch.to(self.device)

    @torch.no_grad()
    def speak(self, batch: SpeechBatch, seconds: float | None = None, rounds: int = ROUNDS) -> list[Spoken]:
        """Return the sound of each text; one that has not ended after `seconds` is cut."""
        rate, step = self.voices.rate, self.hearing.hop * self.model.options.frames
        allowed = SECONDS_MORE + SECONDS_A_SYMBOL * batch.symbol_counts
        if seconds is not None:
            allowed = torch.full_like(allowed, seconds)
        most = (allowed * rate / step).ceil().long()
        speech, lengths = self.model.speak(self._read(batch), most)
        last = (lengths // self.model.options.frames - 1).unsqueeze(1)
        ended = (speech.stops.gather(1, last).squeeze(1) >= 0).tolist()
        sounds = [
            self.hearing.sound(frames[:length], rounds) for frames, length in zip(speech.after, lengths, strict=True)
        ]
        return [
            Spoken(text, self.voices.speakers[speaker], sound.cpu().numpy(), rate, stopped)
            for text, speaker, sound, stopped in zip(batch.texts, batch.speakers.tolist(), sounds, ended, strict=True)
        ]

    def sides(self, batch: SpeechBatch, outputs: Sequence[Spoken]) -> dict[str, Side]:
        spelled, (spoken, *_) = self.voices.spell(batch.texts[0]), outputs
        heard = self.hearing(torch.from_numpy(spoken.samples)[None].to(self.device))[0].cpu().numpy()
        steps = -(-len(heard) // self.model.options.frames)
        seconds = self.hearing.hop * self.model.options.frames / spoken.rate
        return {
            "symbols": Words(self.voices.symbol_names(spelled.symbols), spelled.words, spelled.places),
            "frames": Frames(spoken.samples, spoken.rate, steps, seconds, heard),
        }

    def quote(self, batch: SpeechBatch) -> str:
        return f"'{batch.texts[0]}', said by {self.voices.speakers[int(batch.speakers[0])]}"

    def facts(self) -> dict[str, Any]:
        return {"symbols": len(self.voices.symbols), "speakers": len(self.voices.speakers), "rate": self.voices.rate}

    def cost(self, size: int) -> dict[str, int | float]:
        """Return the cost of speaking a text of `size` symbols at the pace of speech: one step per symbol."""
        return {"multiplications": self.model.multiplications(size, size)}


GUIDE_WIDTH = 0.2  # share of a text by which attention may stray before it costs much (Tachibana et al. 2018: g)


def distances(
    speech: Speech, frames: Float[Tensor, "batch frame band"], lengths: Int[Tensor, " batch"]
) -> tuple[Float[Tensor, " batch"], Float[Tensor, " batch"]]:
    """Return Σ over frames of the mean |ŷ − y| over bands, before and after the post-net (Wang et al. 2017, 4.2)."""
    real = real_places(lengths, frames.shape[1])
    sums = [((spoken - frames).abs().mean(-1) * real).sum(-1) for spoken in (speech.before, speech.after)]
    return sums[0], sums[1]


def stop_surprise(stops: Float[Tensor, "batch step"], steps: Int[Tensor, " batch"]) -> Float[Tensor, " batch"]:
    """Return −Σ log p of predicting which step is the last (Shen et al. 2018, section 2.2)."""
    is_last = torch.arange(stops.shape[1], device=stops.device) == steps.unsqueeze(1) - 1
    surprise = F.binary_cross_entropy_with_logits(stops, is_last.to(stops.dtype), reduction="none")
    return (surprise * real_places(steps, stops.shape[1])).sum(-1)


def straying(
    looks: Float[Tensor, "batch step symbol"], steps: Int[Tensor, " batch"], symbols: Int[Tensor, " batch"]
) -> Float[Tensor, " batch"]:
    """Return Σ_ti a_ti (1 − exp(−(i/I − t/T)² / 2g²)): attention off the diagonal (Tachibana et al. 2018, equation
    4).
    """
    step, symbol = (torch.arange(size, device=looks.device) for size in looks.shape[1:])
    along_sound, along_text = step / steps.unsqueeze(1), symbol / symbols.unsqueeze(1)
    apart = along_text.unsqueeze(1) - along_sound.unsqueeze(2)
    cost = 1 - (-apart.square() / (2 * GUIDE_WIDTH**2)).exp()
    return (looks * cost).sum(-1).mul(real_places(steps, looks.shape[1])).sum(-1)
