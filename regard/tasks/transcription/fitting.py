"""Sounds that are too short for what they say: CTC writes one symbol a frame at most, and a blank between twins."""

from dataclasses import replace
from itertools import pairwise

from regard.base.faults import Fault
from regard.base.progress import Remark
from regard.data.corpora.cleaning import shorten
from regard.data.sounds.prepare import PreparedSounds


def drop_misfits(prepared: PreparedSounds, stack: int, remark: Remark) -> PreparedSounds:
    """The same without the sounds to learn from that are too short, which are counted; others such are refused."""
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
    """Whether a sound has frames enough; one that strings are made of needs a frame more, for a blank behind it."""
    recordings, options = prepared.recordings, prepared.options
    symbols = prepared.alphabet.cut(recordings.texts[row])
    twins = sum(one == other for one, other in pairwise(symbols))
    _, hop = options.features.samples(options.rate)
    samples = int(recordings.starts[row + 1] - recordings.starts[row])
    if options.strings is not None:
        return samples // (hop * stack) > len(symbols) + twins
    return -(-(1 + samples // hop) // stack) >= len(symbols) + twins
