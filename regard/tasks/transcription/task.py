"""The task of speech recognition: batches of sounds, log-mel frames for the network, symbols with their times."""

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

SILENT = "–"  # shown where a frame has no symbol


class Transcription(NetworkTask[dict[str, SoundSource]]):
    """A network over the frames of sounds, the symbols it writes, and how it learns them."""

    MEASURES: ClassVar[tuple[str, ...]] = MEASURES
    unit = "sounds"
    measured_rows = 50

    def __init__(
        self, model: Transcriber, alphabet: Alphabet, data: SoundData, training: TranscriptionTraining
    ) -> None:
        super().__init__(model)
        self.alphabet, self.data, self.training_options = alphabet, data, training
        self.features = LogMel(alphabet.rate, *data.features.samples(alphabet.rate), data.features.bands)

    # Construction

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

    # Training and evaluation

    def learn_from(self, prepared: PreparedSounds, recipe: TranscriptionRecipe) -> None:
        self._material = {split: SoundSource(prepared, split) for split in prepared.parts}

    def host_batches(self, split: str, rows: int, seed: int, epoch: int, start: int) -> Iterator[SoundBatch]:
        return self.material[split].batches(rows, self.training_options.masks.count, seed, epoch, start)

    def loss(self, batch: SoundBatch, carry: dict[str, Tensor] | None = None) -> Loss:
        result = self.model.learn(self.hear(batch), batch.labels, batch.label_counts, carry)
        shown = {name: Tally(sums, mean) for name, sums in result.shown.items()}
        return Loss(result.loss, batch.rows, shown, result.carry)

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
        truths = [row[:count].tolist() for row, count in zip(batch.labels, batch.label_counts.tolist(), strict=True)]
        return sums_of_labels(self.model.best(heard), truths, nats)

    def measure_parts(self, batch: SoundBatch) -> dict[str, dict[str, Measure]]:
        """Return the measures of each part that the recipe names, such as an unseen speaker."""
        sums, measures = self.sums_of_rows(batch), {}
        for part in dict.fromkeys(batch.parts):
            rows = [row for row, part_of_row in enumerate(batch.parts) if part_of_row == part]
            measures[part] = measures_of({name: rows_of_sums[rows] for name, rows_of_sums in sums.items()})
        return measures

    # For people

    def read(self, inputs: Sequence[str | Path | bytes]) -> SoundBatch:
        """Read sounds from files, or their contents, at the training rate; their transcripts are unknown."""
        rate = self.alphabet.rate
        sounds = [
            read_sound(source, rate, "The sound") if isinstance(source, bytes) else read_sound(Path(source), rate)
            for source in inputs
        ]
        return batch_of([LabelledSound(sound, []) for sound in sounds]).to(self.device)

    @torch.no_grad()
    def transcripts(self, batch: SoundBatch, search: LabelFinder | None = None) -> list[Transcript]:
        """Return what each sound says, its probability, and when it is said.

        The sounds are encoded once, and `search` finds their labels in the encoding; without it, the best path is used.
        Watching the network shows where the symbols are.
        """
        heard = self.hear(batch)
        symbols = (search or self.model.best)(heard)
        labels, counts = as_labels(symbols, self.device)
        spans, scores = self.model.align(heard, labels, counts), self.model.score(heard, labels, counts)
        return [self._transcript(*row) for row in zip(symbols, spans, scores.tolist(), strict=True)]

    def _transcript(self, labels: Labelling, spans: Sequence[Span], score: float) -> Transcript:
        names = [self.alphabet.symbols[label] for label in labels]
        seconds = self.frame_seconds
        alignment = [
            SaidSymbol(name, first * seconds, behind * seconds)
            for name, (first, behind) in zip(names, spans, strict=True)
        ]
        return Transcript(self.alphabet.join(names), score, alignment)

    @property
    def frame_seconds(self) -> float:
        """Seconds from one frame that the network reads to the next."""
        return self.features.hop * self.model.options.stack / self.alphabet.rate

    def sides(self, batch: SoundBatch, outputs: Sequence[Transcript]) -> dict[str, Side]:
        counts = count_stacked(self.features.frame_counts(batch.lengths), self.model.options.stack)
        sound = batch.samples[0, : int(batch.lengths[0])].cpu().numpy()
        written = [symbol_said.symbol for symbol_said in outputs[0].alignment] if outputs else []
        return {
            "source": Frames(sound, self.alphabet.rate, int(counts[0]), self.frame_seconds),
            "labels": Steps([*written, SILENT]),
        }

    def quote(self, batch: SoundBatch) -> str:
        text = self.alphabet.join([self.alphabet.symbols[label] for label in batch.labels[0, : batch.label_counts[0]]])
        return f"{batch.names[0]}, which says '{text}'"

    def facts(self) -> dict[str, Any]:
        return {"symbols": len(self.alphabet.symbols), "rate": self.alphabet.rate, "bands": self.features.bands}

    def cost(self, size: int) -> dict[str, int | float]:
        """Return the cost of transcribing `size` seconds of sound, without its features."""
        return {"multiplications": self.model.multiplications(1 + size * self.alphabet.rate // self.features.hop)}


def drop_misfits(prepared: PreparedSounds, stack: int, remark: Remark) -> PreparedSounds:
    """Drop and count training sounds that are too short; refuse such sounds in other splits."""
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
                f"{name}, of the {split} data, has too few frames for its text, '{text}'; remove it, or make"
                " model.stack or data.features.hop smaller."
            )
    fitting = {part: [row for row in rows if row not in misfits] for part, rows in prepared.parts["train"].items()}
    if not any(fitting.values()):
        raise Fault("Every training sound has fewer frames than symbols; make model.stack smaller.")
    subject = "1 sound is dropped: it has" if len(misfits) == 1 else f"{len(misfits):,} sounds are dropped: they have"
    remark(f"{subject} fewer frames than symbols.")
    return replace(prepared, parts={**prepared.parts, "train": {part: rows for part, rows in fitting.items() if rows}})


def _fits(prepared: PreparedSounds, row: int, stack: int) -> bool:
    """Return True if a sound has enough frames; inside strings it needs one more, for a blank after it."""
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
    """Return frames with zeros, the mean of standardised frames, in some bands and times (Park et al. 2019).

    A random number from 0 to 1 is a share: of the widest possible mask, and of the places where it may begin. One mask
    hides at most a fifth of a sound's frames, so that short sounds are not lost.
    """
    bands, long = frames.shape[2], counts[:, None].to(draws.dtype)
    widest, longest = min(masks.bands, bands), (long / 5).clamp(max=masks.frames)
    in_bands = _within(draws[..., 0], (draws[..., 1] * (widest + 1)).floor(), bands, bands)
    in_time = _within(draws[..., 2], (draws[..., 3] * (longest + 1)).floor(), long, frames.shape[1])
    return frames * ~in_bands[:, None, :] * ~in_time[:, :, None]


def _within(
    share: Float[Tensor, "batch mask"], width: Float[Tensor, "batch mask"], extent: Tensor | int, places: int
) -> Bool[Tensor, "batch place"]:
    """Return True for the places inside any of the masks, each of this width and beginning at this share of its
    range.
    """
    first = (share * (extent - width + 1).clamp(min=1)).floor()[..., None]
    place = torch.arange(places, device=share.device)
    return ((place >= first) & (place < first + width[..., None])).any(dim=1)
