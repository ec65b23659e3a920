"""Writing down what is said: sounds for batches, log-mel frames for the network, symbols and their times for people."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.base.progress import Progress, Remark
from regard.data.sounds.files import read_sound
from regard.data.sounds.options import SoundData
from regard.data.sounds.prepare import (
    Alphabet,
    PreparedSounds,
    check_sounds_there,
    open_alphabet,
    prepare_sounds,
)
from regard.families import network_class
from regard.models.ctc.head import ctc_loss
from regard.models.ctc.network import Recogniser
from regard.models.ctc.paths import as_labels, best_alignment, best_path, log_likelihood
from regard.models.log_mel import LogMel, standardise
from regard.models.shapes import ShapesOnly, refuse_too_large
from regard.protocols import Loss, Measure, SaidSymbol, Transcript
from regard.tasks.transcription.batches import MEASURED_ROWS, LabelledSound, SoundBatch, SoundSource, batch_of
from regard.tasks.transcription.fitting import drop_misfits
from regard.tasks.transcription.masking import hide
from regard.tasks.transcription.measures import MEASURES, measures_of, sums_of_labels
from regard.tasks.transcription.options import TranscriptionRecipe, TranscriptionTraining
from regard.viewing.sides import Frames, Side, Steps

BLANK = "–"  # what people see in its place


class Transcription(nn.Module):
    """A network over the frames of sounds, the symbols that it writes, and how it learns them."""

    MEASURES: ClassVar[tuple[str, ...]] = MEASURES
    unit = "sounds"

    def __init__(self, model: Recogniser, alphabet: Alphabet, data: SoundData, training: TranscriptionTraining) -> None:
        super().__init__()
        self.model, self.alphabet, self.data, self.training_options = model, alphabet, data, training
        self.features = LogMel(alphabet.rate, *data.features.samples(alphabet.rate), data.features.bands)
        self._sources: dict[str, SoundSource] = {}

    @property
    def device(self) -> torch.device:
        return next(self.model.parameters()).device

    # How it comes to be

    @classmethod
    def check(cls, recipe: TranscriptionRecipe, device: torch.device, folder: Path | None) -> None:
        check_sounds_there(recipe.data, folder)
        with ShapesOnly():
            refuse_too_large(network_class(recipe)(recipe.model, recipe.data.features.bands, 1))

    @classmethod
    def prepare(
        cls,
        recipe: TranscriptionRecipe,
        folder: Path,
        progress: Progress,
        remark: Remark,
        start: Mapping[str, bytes] | None,
    ) -> PreparedSounds:
        prepared = prepare_sounds(recipe.data, folder, progress)
        if start is not None:
            open_alphabet(start).refuse_others(prepared.alphabet)
        return drop_misfits(prepared, recipe.model.stack, remark)

    @classmethod
    def build(cls, recipe: TranscriptionRecipe, files: Mapping[str, bytes]) -> "Transcription":
        alphabet = open_alphabet(files)
        network = network_class(recipe)(recipe.model, recipe.data.features.bands, len(alphabet.symbols))
        return cls(network, alphabet, recipe.data, recipe.training)

    # What the trainer and the evaluator ask for

    def learn_from(self, prepared: PreparedSounds, recipe: TranscriptionRecipe) -> None:
        self._sources = {split: SoundSource(prepared, split) for split in prepared.parts}

    def batches(self, split: str, seed: int, epoch: int, start: int) -> Iterator[SoundBatch]:
        if split not in self._sources:
            raise RuntimeError(f"a task of transcription has batches of {split} only once it learns from such sounds")
        options = self.training_options
        rows = options.batch if split == "train" else MEASURED_ROWS
        for batch in self._sources[split].batches(rows, options.masks.count, seed, epoch, start):
            yield batch.to(self.device)

    def loss(self, batch: SoundBatch, carry: dict[str, Tensor] | None = None) -> Loss:
        """−Σ log p(l | x) over the sounds, by torch's sum over paths."""
        frames, counts = self.emissions(batch)
        return Loss(ctc_loss(frames, counts, batch.labels, batch.label_counts), batch.rows)

    def emissions(self, batch: SoundBatch) -> tuple[Float[Tensor, "batch frame symbol"], Int[Tensor, " batch"]]:
        counts = self.features.frame_counts(batch.lengths)
        frames = standardise(self.features(batch.samples), counts)
        if batch.masks.shape[1]:
            frames = hide(frames, counts, batch.masks, self.training_options.masks)
        return self.model(frames.to(self.model.dtype), counts)

    def measure(self, batch: SoundBatch) -> dict[str, Measure]:
        return measures_of(self.sums_of_rows(batch))

    @torch.no_grad()
    def sums_of_rows(self, batch: SoundBatch) -> dict[str, Tensor]:
        frames, counts = self.emissions(batch)
        nats = -log_likelihood(frames, counts, batch.labels, batch.label_counts)
        said = [row[:count].tolist() for row, count in zip(batch.labels, batch.label_counts.tolist(), strict=True)]
        return sums_of_labels(best_path(frames, counts), said, nats)

    def measure_parts(self, batch: SoundBatch) -> dict[str, dict[str, Measure]]:
        """The measures of each part that the recipe names, such as a speaker who was never heard."""
        sums, found = self.sums_of_rows(batch), {}
        for part in dict.fromkeys(batch.parts):
            rows = [row for row, own in enumerate(batch.parts) if own == part]
            found[part] = measures_of({name: each[rows] for name, each in sums.items()})
        return found

    # What people see

    def read(self, inputs: Sequence[str | Path | bytes]) -> SoundBatch:
        """The sounds in files, or in their contents, at the rate that it was trained on; what they say is not known."""
        rate = self.alphabet.rate
        sounds = [
            read_sound(each, rate, "The sound") if isinstance(each, bytes) else read_sound(Path(each), rate)
            for each in inputs
        ]
        return batch_of([LabelledSound(sound, []) for sound in sounds]).to(self.device)

    @torch.no_grad()
    def transcripts(self, batch: SoundBatch, written: Sequence[Sequence[int]] | None = None) -> list[Transcript]:
        """What each sound says, which is what is `written` or its best path, how probable it is, and where it is said.

        Whoever watches the network sees γ, how probable each frame is to belong to each symbol of it.
        """
        frames, counts = self.emissions(batch)
        symbols = best_path(frames, counts) if written is None else written
        labels, label_counts = as_labels(symbols, counts.device)
        self.model.occupancy(frames, counts, labels, label_counts)
        states, _ = best_alignment(frames, counts, labels, label_counts)
        scores = log_likelihood(frames, counts, labels, label_counts)
        found = zip(symbols, states.tolist(), scores.tolist(), strict=True)
        return [self._transcript(*each) for each in found]

    def _transcript(self, labels: Sequence[int], states: list[int], score: float) -> Transcript:
        names = [self.alphabet.symbols[label] for label in labels]
        said = []
        for place, name in enumerate(names):
            own = [frame for frame, state in enumerate(states) if state == 2 * place + 1]
            said.append(SaidSymbol(name, own[0] * self.frame_seconds, (own[-1] + 1) * self.frame_seconds))
        return Transcript(self.alphabet.join(names), score, said)

    @property
    def frame_seconds(self) -> float:
        """From one frame that is labelled to the next."""
        return self.features.hop * self.model.options.stack / self.alphabet.rate

    def sides(self, batch: SoundBatch, outputs: Sequence[Transcript]) -> dict[str, Side]:
        counts = self.model.counts(self.features.frame_counts(batch.lengths))
        sound = batch.samples[0, : int(batch.lengths[0])].cpu().numpy()
        written = [each.symbol for each in outputs[0].alignment] if outputs else []
        return {
            "source": Frames(sound, self.alphabet.rate, int(counts[0]), self.frame_seconds),
            "labels": Steps([*written, BLANK]),
        }

    def quote(self, batch: SoundBatch) -> str:
        said = self.alphabet.join([self.alphabet.symbols[label] for label in batch.labels[0, : batch.label_counts[0]]])
        return f"{batch.names[0]}, which says '{said}'"

    def facts(self) -> dict[str, Any]:
        return {"symbols": len(self.alphabet.symbols), "rate": self.alphabet.rate, "bands": self.features.bands}

    def cost(self, size: int) -> dict[str, int | float]:
        """What writing down `size` seconds of sound costs, beside its features."""
        return {"multiplications": self.model.multiplications(1 + size * self.alphabet.rate // self.features.hop)}
