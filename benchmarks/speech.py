"""How well a model speaks, judged by one that listens: the share of digits that a recogniser hears wrong.

    .venv/bin/python benchmarks/speech.py runs/speak-digits runs/ctc-digits --split test

Strings of recordings that neither model has learnt from are heard three times: as they were recorded, as Griffin and
Lim's algorithm gives them back from their own frames (the most that any frames could reach), and as the model speaks
the same digits in the same voice. Rows are the voices that the recogniser has learnt from, and the one that it has
never heard. Everything is drawn by seed; settings are chosen with --split valid. With --noise 30 all sounds are heard
through white noise so many decibels below them, as the recogniser of ctc-digits has learnt to.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

import numpy as np
import torch
from rapidfuzz.distance import Levenshtein

from regard.base.progress import silent
from regard.data.sounds.options import Strings
from regard.data.sounds.prepare import PreparedSounds, prepare_sounds
from regard.data.sounds.strings import by_speaker, join_recordings
from regard.model import Model, load
from regard.tasks.speaking.options import ROUNDS
from regard.tasks.transcription.batches import LabelledSound, batch_of

AT_ONCE = 25


@dataclass(frozen=True)
class Heard:
    """A string of digits in someone's voice, and three sounds of it."""

    text: str
    speaker: str
    sounds: dict[str, np.ndarray]
    ended: bool


def draw_strings(
    speaker: Model, prepared: PreparedSounds, split: str, count: int, seed: int, rounds: int
) -> list[Heard]:
    """`count` strings of each voice, as they were recorded, given back, and spoken."""
    options = speaker.recipe.data.strings or Strings(gap=[0.04, 0.12], noise=[90.0, 90.0])
    rows = [row for of_part in prepared.parts[split].values() for row in of_part]
    found = []
    for name, own in sorted(by_speaker(prepared.recordings, rows).items()):
        joined = [
            join_recordings(prepared.recordings, {name: own}, prepared.options.rate, options, ("judged", seed), number)
            for number in range(count)
        ]
        texts = [" ".join(prepared.recordings.texts[row] for row in each.rows) for each in joined]
        spoken = speaker.speak(texts, name, rounds=rounds)
        for text, real, said in zip(texts, joined, spoken, strict=True):
            back = give_back(speaker, real.samples, rounds)
            found.append(
                Heard(text, name, {"recorded": real.samples, "given back": back, "spoken": said.samples}, said.ended)
            )
    return found


@torch.no_grad()
def give_back(speaker: Model, samples: np.ndarray, rounds: int) -> np.ndarray:
    """What is left of a sound when only its frames are kept."""
    hearing = speaker.task.hearing
    sound = torch.from_numpy(samples).to(speaker.task.device)
    return hearing.sound(hearing(sound[None])[0], rounds).cpu().numpy()


@torch.no_grad()
def write_down(recogniser: Model, sounds: Sequence[np.ndarray]) -> list[list[str]]:
    """The symbols that a recogniser hears in each sound."""
    found: list[list[str]] = []
    for first in range(0, len(sounds), AT_ONCE):
        batch = batch_of([LabelledSound(each, []) for each in sounds[first : first + AT_ONCE]])
        found += [
            [each.symbol for each in said.alignment]
            for said in recogniser.task.transcripts(batch.to(recogniser.task.device))
        ]
    return found


def errors(texts: Sequence[str], heard: Sequence[Sequence[str]], spelling: Mapping[str, str]) -> float:
    """The percentage of words that are wrong, missing or too many; what is heard is spelled out as the texts are."""
    spelled = [[spelling.get(symbol, symbol) for symbol in own] for own in heard]
    wrong = sum(Levenshtein.distance(text.split(), own) for text, own in zip(texts, spelled, strict=True))
    return 100 * wrong / sum(len(text.split()) for text in texts)


def with_noise(heard: Heard, decibels: float, seed: int) -> Heard:
    """The same sounds with white noise so far below the mean power of each."""
    chance = np.random.default_rng(seed)
    sounds = {}
    for kind, sound in heard.sounds.items():
        deviation = np.sqrt(np.mean(np.square(sound)) / 10 ** (decibels / 10))
        sounds[kind] = sound + np.float32(deviation) * chance.standard_normal(len(sound), np.float32)
    return replace(heard, sounds=sounds)


def judge(
    strings: Sequence[Heard], recogniser: Model, rate: int, spelling: Mapping[str, str]
) -> dict[str, dict[str, float]]:
    """Errors and seconds of each group of voices, and of each voice."""
    known = {
        name for each in recogniser.recipe.data.train for name in (each.speakers or all_but(strings, each.without))
    }
    kinds = list(strings[0].sounds)
    heard = {kind: write_down(recogniser, [each.sounds[kind] for each in strings]) for kind in kinds}
    groups: dict[str, list[int]] = {"voices it knows": [], "a voice it has never heard": []}
    for place, each in enumerate(strings):
        for group in ("voices it knows" if each.speaker in known else "a voice it has never heard", each.speaker):
            groups.setdefault(group, []).append(place)
    table = {}
    for group, places in filter(lambda each: each[1], groups.items()):
        texts = [strings[place].text for place in places]
        row = {kind: errors(texts, [heard[kind][place] for place in places], spelling) for kind in kinds}
        seconds = {
            kind: fmean(len(strings[place].sounds[kind]) / rate for place in places) for kind in ("recorded", "spoken")
        }
        row |= {f"seconds {kind}": value for kind, value in seconds.items()}
        table[group] = row | {"ended": 100 * fmean(strings[place].ended for place in places)}
    return table


def all_but(strings: Sequence[Heard], without: Sequence[str]) -> set[str]:
    return {each.speaker for each in strings} - {*without}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("speaker", type=Path, help="the folder of a model that speaks")
    parser.add_argument("recogniser", type=Path, help="the folder of one that writes down what it hears")
    parser.add_argument("--split", default="valid", choices=["valid", "test"])
    parser.add_argument("--count", type=int, default=50, help="strings of each voice")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="Griffin and Lim's rounds")
    parser.add_argument("--noise", type=float, help="decibels that white noise lies below the sounds; none without it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="a file for the table")
    given = parser.parse_args()
    speaker, recogniser = load(given.speaker), load(given.recogniser)
    prepared = prepare_sounds(speaker.recipe.data, given.speaker / "training" / "corpus", silent)
    strings = draw_strings(speaker, prepared, given.split, given.count, given.seed, given.rounds)
    if given.noise is not None:
        strings = [with_noise(each, given.noise, given.seed + place) for place, each in enumerate(strings)]
    table = judge(strings, recogniser, prepared.options.rate, prepared.options.spelling)
    columns = list(next(iter(table.values())))
    print(f"{'':28}" + "".join(f"{name:>18}" for name in columns))
    for group, row in table.items():
        print(f"{group:28}" + "".join(f"{row[name]:18.2f}" for name in columns))
    if given.json:
        given.json.write_text(json.dumps(table, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
