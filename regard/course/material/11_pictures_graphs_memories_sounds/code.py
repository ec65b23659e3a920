# %% shapes
from pathlib import Path

import numpy as np
from PIL import Image

import regard
from regard.course import picture, trained
from regard.data.generated.shapes import picture_of

pixels, captions = zip(*[picture_of([1, number], side=96) for number in range(4)], strict=True)
Image.fromarray(np.concatenate(pixels, axis=1)).save("shapes.png")
for number, rows in enumerate(captions, 1):
    print(number, rows[0], "|", rows[-1])

picture("shapes.png")

# %% captioner
smaller = {
    "data.side": 24,
    "data.shapes": {"train": 4000, "valid": 100, "test": 200},
    "model.embedding": 32,
    "model.width": 64,
    "model.compared": 32,
    "model.dropout": 0.0,
    "model.encoder": {"channels": [24, 48], "kernel": 3},
    "training.steps": 800,
    "training.batch": 32,
    "training.validate_every": 400,
    "training.optimizer.warmup": 40,
    "training.optimizer.learning_rate": 4e-3,
}
captioner = trained("captioner", "captions-shapes", smaller)
print(f"{captioner.parameters:,} parameters")

# %% caption
kind = "star"  # set: circle, square, triangle, star
colour = "red"  # set: red, green, blue, yellow, purple, orange
from regard.data.generated.shapes import Shape, draw_shapes

shapes = [Shape(kind, colour, "large", 0.25, 0.5), Shape("circle", "blue", "large", 0.75, 0.5)]
Image.fromarray(draw_shapes(shapes, side=96, ground=240)).save("mine.png")
print(captioner.caption(["mine.png"])[0].text)

# %% looks
picture(captioner.look("mine.png"))

# %% graph
first = 1.0  # set: -3 to 3
from math import exp

features = {0: (0, 0), 1: (1, 0), 2: (first, 1), 3: (0, 2)}
sees = {0: [0, 1, 2], 1: [1, 0, 2], 2: [2, 0, 1, 3], 3: [3, 2]}  # a node sees itself and its neighbours


def look(node, u):
    """Return the weights of a node and the mean of the features that they give."""
    scores = {other: sum(a * b for a, b in zip(u, features[other], strict=True)) for other in sees[node]}
    leaky = {other: max(score, 0.2 * score) for other, score in scores.items()}
    total = sum(map(exp, leaky.values()))
    weights = {other: exp(score) / total for other, score in leaky.items()}
    return weights, [sum(weights[other] * features[other][place] for other in weights) for place in (0, 1)]


for node in sees:
    weights, mixed = look(node, u=(1, 0))
    print(node, "weights", {other: round(weight, 3) for other, weight in weights.items()}, "mixed", np.round(mixed, 3))

# %% heads
heads = {"first": (1, 0), "second": (0, 1), "neither": (0, 0)}
for node in sees:
    mixed = [look(node, u)[1] for u in heads.values()]
    print(node, "concatenated", np.round(np.concatenate(mixed), 2), "averaged", np.round(np.mean(mixed, axis=0), 2))

# %% cora [data planetoid]
cora = trained("cora", "gat-cora", {"training.steps": 60})
print("right topics, as a share:", regard.evaluate(cora, metrics=["accuracy"], quiet=True)[0].shown)
picture(cora.look("1708"))

# %% stories
from random import Random

people, places = ["Ana", "Pedro", "Olga"], ["garden", "kitchen", "library", "market", "school"]


def story(dice):
    holders = {thing: dice.choice(people) for thing in dice.sample(["milk", "book", "key"], 2)}
    facts = [(person, f"{person} took the {thing}.", None) for thing, person in holders.items()]
    facts += [(who, f"{who} went to the {to}.", to) for who in people for to in dice.sample(places, dice.randint(1, 2))]
    dice.shuffle(facts)
    asked = dice.choice(list(holders))
    answer = [place for person, _, place in facts if person == holders[asked] and place][-1]
    return [*(text for _, text, _ in facts), f"Where is the {asked}?\t{answer}"]


dice = Random(1)
for split, count in [("train", 2000), ("test", 300)]:
    told = [f"{number} {line}\n" for _ in range(count) for number, line in enumerate(story(dice), 1)]
    Path(f"stories_{split}.txt").write_text("".join(told), encoding="utf-8")
print("".join(told[max(place for place, line in enumerate(told) if line.startswith("1 ")) :]), end="")

# %% memory
hops = 2  # set: 1 to 3
recipe = {
    "family": "memory",
    "data": {"train": "stories_train.txt", "test": "stories_test.txt"},
    "model": {"hops": hops, "width": 20},
    "training": {"steps": 900, "batch": 32, "validate_every": 300, "linear_start": 300},
}
memory = trained("memory", recipe)
print("wrong answers, in percent:", regard.evaluate(memory, quiet=True)[0].shown)

# %% question
thing = "milk"  # set: milk, key
asking = f"""Olga went to the market.
Ana took the milk.
Pedro went to the kitchen.
Ana went to the garden.
Pedro took the key.
Ana went to the school.
Where is the {thing}?"""
print(memory.answer([asking])[0].answer)
picture(memory.look(asking))

# %% sounds [data fsdd]
digits = "74"  # set: 74, 31, 26, 90
from regard.data.sounds.files import sound_file
from regard.data.sounds.options import SoundFiles
from regard.data.sounds.recordings import read_recordings

recordings = read_recordings(SoundFiles(recordings="fsdd:recordings"), 8000)
names = zip(recordings.texts, recordings.speakers, recordings.numbers, strict=True)
rows = {text: row for row, (text, speaker, number) in enumerate(names) if (speaker, number) == ("jackson", 0)}
gap = np.zeros(1600)  # a fifth of a second
pieces = [piece for digit in digits for piece in (recordings.sound(rows[digit]), gap)]
Path("spoken.wav").write_bytes(sound_file(np.concatenate([gap, *pieces]), 8000))
few = {
    "data.strings": {"shortest": 1, "longest": 2, "gap": [0.0, 0.3], "noise": [30.0, 40.0]},
    "model": {"encoder": "recurrent", "width": 128, "layers": 1, "stack": 6},
    "training.steps": 300,
    "training.batch": 16,
    "training.validate_every": 100,
    "training.optimizer": {"learning_rate": 4e-3, "schedule": "cosine", "warmup": 20},
}
listener = trained("listener", "ctc-digits", few)
print("heard:", listener.transcribe(["spoken.wav"])[0].text)
picture(listener.look("spoken.wav"))
