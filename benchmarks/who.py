"""Who speaks, by a model that writes it behind what is said; and what it makes of someone whom it has never heard.

    .venv/bin/python benchmarks/who.py runs/ctc-who --unheard theo --split test

Of each recording of the split: whether the words, the speaker, and both are right. How sure the model is of a speaker s
is p(words, s | x) / Σ p(words, s' | x) over all speakers s' that it knows. A threshold that 95 of 100 validation
recordings reach says when it had better answer "someone"; the table says how many known and unheard speakers are then
refused. It never gives a name that it does not know, so that without a threshold everyone unheard is called by a wrong
one.
"""

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np
import torch

from regard.data.sounds.recordings import Recordings, read_recordings
from regard.model import Model, load
from regard.models.ctc.paths import best_path, log_likelihood
from regard.tasks.transcription.batches import LabelledSound, batch_of

AT_ONCE = 25
KEPT = 95  # of 100 validation recordings, at the threshold


@dataclass(frozen=True)
class Claim:
    """What the model says of one recording, and what is true; `sure` is how probable it finds its speaker."""

    words: str
    speaker: str
    sure: float
    true_words: str
    true_speaker: str


@torch.no_grad()
def claims(model: Model, recordings: Recordings, rows: Sequence[int]) -> list[Claim]:
    """What the model says of each of these recordings."""
    task, symbols, speakers = model.task, model.task.alphabet.symbols, model.task.alphabet.speakers
    found = []
    for first in range(0, len(rows), AT_ONCE):
        own = rows[first : first + AT_ONCE]
        frames, counts = task.hear(batch_of([LabelledSound(recordings.sound(row), []) for row in own]).to(task.device))
        for place, labels in enumerate(best_path(frames, counts)):
            words = [label for label in labels if symbols[label] not in speakers]
            tried = torch.tensor([[*words, symbols.index(name)] for name in speakers], device=frames.device)
            each = [frames[place].expand(len(speakers), -1, -1), counts[place].expand(len(speakers))]
            scores = log_likelihood(*each, tried, torch.full_like(each[1], tried.shape[1]))
            shares = scores.double().softmax(0)
            said = " ".join(model.recipe.data.written(recordings.texts[own[place]], "").split())
            best = int(shares.argmax())
            spoken = " ".join(symbols[label] for label in words)
            found.append(Claim(spoken, speakers[best], float(shares[best]), said, recordings.speakers[own[place]]))
    return found


def percent(values: Sequence[bool]) -> float:
    return 100 * fmean(values)


def summary(found: Sequence[Claim], threshold: float) -> dict[str, float]:
    """Percentages of recordings."""
    return {
        "recordings": len(found),
        "words": percent([each.words == each.true_words for each in found]),
        "speaker": percent([each.speaker == each.true_speaker for each in found]),
        "both": percent([(each.words, each.speaker) == (each.true_words, each.true_speaker) for each in found]),
        "refused": percent([each.sure < threshold for each in found]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="the folder of a model that writes who speaks")
    parser.add_argument("--unheard", required=True, help="a speaker of the same recordings that it has not learnt")
    parser.add_argument("--split", default="valid", choices=["valid", "test"])
    parser.add_argument("--json", type=Path, help="a file for the table")
    given = parser.parse_args()
    model = load(given.model)
    options = model.recipe.data
    files = getattr(options, given.split)[0]
    every = read_recordings(files, options.rate)
    first, last = files.numbers or (0, max(every.numbers))

    def rows_by(is_wanted: bool, numbers: tuple[int, int]) -> list[int]:
        return [
            row
            for row, (name, number) in enumerate(zip(every.speakers, every.numbers, strict=True))
            if (name == given.unheard) == is_wanted and numbers[0] <= number <= numbers[1]
        ]

    own = options.valid[0].numbers or (first, last)
    threshold = float(
        np.percentile([each.sure for each in claims(model, every, rows_by(False, (own[0], own[1])))], 100 - KEPT)
    )
    known, unheard = (claims(model, every, rows_by(wanted, (first, last))) for wanted in (False, True))
    table = {"known speakers": summary(known, threshold), f"{given.unheard}, unheard": summary(unheard, threshold)}
    print(f"threshold {threshold:.4f}; {given.unheard} is called {dict(Counter(each.speaker for each in unheard))}")
    columns = list(table["known speakers"])
    print(f"{'':24}" + "".join(f"{name:>12}" for name in columns))
    for name, row in table.items():
        print(f"{name:24}" + "".join(f"{row[column]:12.2f}" for column in columns))
    if given.json:
        given.json.write_text(json.dumps({"threshold": threshold} | table, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
