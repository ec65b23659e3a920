"""Writing down what is said: sounds for batches, log-mel frames for the network, symbols and their times for people."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.base.faults import Fault
from regard.base.figures import shorten
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
from regard.models.log_mel import LogMel, standardise
from regard.models.transcriber import Labelling, Span, Transcriber, as_labels, count_stacked
from regard.protocols import Loss, Measure, SaidSymbol, Tally, Transcript, mean
from regard.tasks.base import Files, NetworkTask, build_network, check_size, network_class
from regard.tasks.transcription.batches import LabelledSound, SoundBatch, SoundSource, batch_of
from regard.tasks.transcription.label_steps import LabelFinder
from regard.tasks.transcription.measures import MEASURES, measures_of, sums_of_labels
from regard.tasks.transcription.options import MaskOptions, TranscriptionRecipe, TranscriptionTraining
from regard.viewing.sides import Frames, Side, Steps

SILENT = "–"  # what people see where a frame says no symbol


class Transcription(NetworkTask[dict[str, SoundSource]]):
    """A network over the frames of sounds, the symbols that it writes, and how it learns them."""

    MEASURES: ClassVar[tuple[str, ...]] = MEASURES
    unit = "sounds"
    measured_rows = 50

    def __init__(
        self, model: Transcriber, alphabet: Alphabet, data: SoundData, training: TranscriptionTraining
    ) -> None:
        super().__init__(model)
        self.alphabet, self.data, self.training_options = alphabet, data, training
        self.features = LogMel(alphabet.rate, *data.features.samples(alphabet.rate), data.features.bands)

    # How it comes to be

    @classmethod
    def check(cls, recipe: TranscriptionRecipe, device: torch.device, folder: Path | None) -> None:
        check_sounds_there(recipe.data, folder)
        check_size(recipe, recipe.data.features.bands, 1)

    @classmethod
    def prepare(
        cls, recipe: TranscriptionRecipe, folder: Path, progress: Progress, remark: Remark, start: Files | None
    ) -> PreparedSounds:
        prepared = prepare_sounds(recipe.data, folder, progress)
        if start is not None:
            open_alphabet(start).refuse_others(prepared.alphabet)
        if not network_class(recipe).NEEDS_FRAMES:
            return prepared
        return drop_misfits(prepared, recipe.model.stack, remark)

    @classmethod
    def build(cls, recipe: TranscriptionRecipe, files: Files) -> "Transcription":
        alphabet = open_alphabet(files, recipe.data.rate)
        network = build_network(recipe, recipe.data.features.bands, len(alphabet.symbols))
        return cls(network, alphabet, recipe.data, recipe.training)

    # What the trainer and the evaluator ask for

    def learn_from(self, prepared: PreparedSounds, recipe: TranscriptionRecipe) -> None:
        self._material = {split: SoundSource(prepared, split) for split in prepared.parts}

    def host_batches(self, split: str, rows: int, seed: int, epoch: int, start: int) -> Iterator[SoundBatch]:
        return self.material[split].batches(rows, self.training_options.masks.count, seed, epoch, start)

    def loss(self, batch: SoundBatch, carry: dict[str, Tensor] | None = None) -> Loss:
        found = self.model.learn(self.hear(batch), batch.labels, batch.label_counts, carry)
        shown = {name: Tally(sums, mean) for name, sums in found.shown.items()}
        return Loss(found.loss, batch.rows, shown, found.carry)

    def hear(self, batch: SoundBatch) -> Any:
        """Return the network's encoding of the sounds, in its own form."""
        counts = self.features.frame_counts(batch.lengths)
        frames = standardise(self.features(batch.samples), counts)
        if batch.masks.shape[1]:
            frames = hide(frames, counts, batch.masks, self.training_options.masks)
        return self.model.hear(frames.to(self.model.dtype), counts)

    def measure(self, batch: SoundBatch) -> dict[str, Measure]:
        return measures_of(self.sums_of_rows(batch))

    @torch.no_grad()
    def sums_of_rows(self, batch: SoundBatch) -> dict[str, Tensor]:
        heard = self.hear(batch)
        nats = -self.model.score(heard, batch.labels, batch.label_counts)
        said = [row[:count].tolist() for row, count in zip(batch.labels, batch.label_counts.tolist(), strict=True)]
        return sums_of_labels(self.model.best(heard), said, nats)

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
    def transcripts(self, batch: SoundBatch, search: LabelFinder | None = None) -> list[Transcript]:
        """Return what each sound says, how probable it is, and where it is said.

        The sounds are heard once, and `search` finds their labels in what was heard; without it they are those of the
        best path. Whoever watches the network sees where the symbols lie.
        """
        heard = self.hear(batch)
        symbols = (search or self.model.best)(heard)
        labels, counts = as_labels(symbols, self.device)
        spans, scores = self.model.align(heard, labels, counts), self.model.score(heard, labels, counts)
        return [self._transcript(*each) for each in zip(symbols, spans, scores.tolist(), strict=True)]

    def _transcript(self, labels: Labelling, spans: Sequence[Span], score: float) -> Transcript:
        names = [self.alphabet.symbols[label] for label in labels]
        seconds = self.frame_seconds
        said = [
            SaidSymbol(name, first * seconds, behind * seconds)
            for name, (first, behind) in zip(names, spans, strict=True)
        ]
        return Transcript(self.alphabet.join(names), score, said)

    @property
    def frame_seconds(self) -> float:
        """From one frame that the network reads to the next."""
        return self.features.hop * self.model.options.stack / self.alphabet.rate

    def sides(self, batch: SoundBatch, outputs: Sequence[Transcript]) -> dict[str, Side]:
        counts = count_stacked(self.features.frame_counts(batch.lengths), self.model.options.stack)
        sound = batch.samples[0, : int(batch.lengths[0])].cpu().numpy()
        written = [each.symbol for each in outputs[0].alignment] if outputs else []
        return {
            "source": Frames(sound, self.alphabet.rate, int(counts[0]), self.frame_seconds),
            "labels": Steps([*written, SILENT]),
        }

    def quote(self, batch: SoundBatch) -> str:
        said = self.alphabet.join([self.alphabet.symbols[label] for label in batch.labels[0, : batch.label_counts[0]]])
        return f"{batch.names[0]}, which says '{said}'"

    def facts(self) -> dict[str, Any]:
        return {"symbols": len(self.alphabet.symbols), "rate": self.alphabet.rate, "bands": self.features.bands}

    def cost(self, size: int) -> dict[str, int | float]:
        """Return the cost of transcribing `size` seconds of sound, without its features."""
        return {"multiplications": self.model.multiplications(1 + size * self.alphabet.rate // self.features.hop)}


def drop_misfits(prepared: PreparedSounds, stack: int, remark: Remark) -> PreparedSounds:
    """Drop and count training sounds that are too short; refuse others that are."""
    every = [row for parts in prepared.parts.values() for rows in parts.values() for row in rows]
    misfits = {row for row in every if not _fits(prepared, row, stack)}
    if not misfits:
        return prepared
    for split, parts in prepared.parts.items():
        others = [] if split == "train" else [row for rows in parts.values() for row in rows if row in misfits]
        if others:
            recordings = prepared.recordings
            name, text = recordings.names[others[0]], shorten(recordings.texts[others[0]])
            raise Fault(
                f"{name}, of the {split} data, has too few frames for what it says, '{text}'; take it out, or make"
                " model.stack or data.features.hop smaller."
            )
    kept = {part: [row for row in rows if row not in misfits] for part, rows in prepared.parts["train"].items()}
    if not any(kept.values()):
        raise Fault("Every sound to learn from has fewer frames than symbols; make model.stack smaller.")
    them = "1 sound is dropped: it has" if len(misfits) == 1 else f"{len(misfits):,} sounds are dropped: they have"
    remark(f"{them} fewer frames than symbols.")
    return replace(prepared, parts={**prepared.parts, "train": {part: rows for part, rows in kept.items() if rows}})


def _fits(prepared: PreparedSounds, row: int, stack: int) -> bool:
    """Return True if a sound has enough frames; one that strings are made of needs one more, for a blank after it."""
    recordings, options = prepared.recordings, prepared.options
    symbols = prepared.alphabet.cut(recordings.texts[row])
    twins = sum(one == other for one, other in pairwise(symbols))
    _, hop = options.features.samples(options.rate)
    samples = int(recordings.starts[row + 1] - recordings.starts[row])
    if options.strings is not None:
        return samples // (hop * stack) > len(symbols) + twins
    return -(-(1 + samples // hop) // stack) >= len(symbols) + twins


def hide(
    frames: Float[Tensor, "batch frame band"],
    counts: Int[Tensor, " batch"],
    draws: Float[Tensor, "batch mask 4"],
    masks: MaskOptions,
) -> Float[Tensor, "batch frame band"]:
    """Frames with zeros, the mean of standardised ones, in some bands and over some time (Park et al. 2019).

    A draw from 0 to 1 is a share: of the widest mask there may be, and of the places where it may begin. No more than a
    fifth of a sound is hidden by one mask over frames, so that short ones are not lost.
    """
    bands, long = frames.shape[2], counts[:, None].to(draws.dtype)
    widest, longest = min(masks.bands, bands), (long / 5).clamp(max=masks.frames)
    in_bands = _within(draws[..., 0], (draws[..., 1] * (widest + 1)).floor(), bands, bands)
    in_time = _within(draws[..., 2], (draws[..., 3] * (longest + 1)).floor(), long, frames.shape[1])
    return frames * ~in_bands[:, None, :] * ~in_time[:, :, None]


def _within(
    share: Float[Tensor, "batch mask"], width: Float[Tensor, "batch mask"], extent: Tensor | int, places: int
) -> Bool[Tensor, "batch place"]:
    """Which of so many places lie in any of the masks, each so wide and at a share of where it may begin."""
    first = (share * (extent - width + 1).clamp(min=1)).floor()[..., None]
    each = torch.arange(places, device=share.device)
    return ((each >= first) & (each < first + width[..., None])).any(dim=1)
