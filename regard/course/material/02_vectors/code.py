# %% lookup
from regard.course import run

run("regard show embedding -o embedding.png --overwrite")

# %% by_hand
word = 5  # set: 1 to 6
import torch

numbers = [
    [0.3, -0.2, 0.8, 0.5, 0.1, -0.4],
    [-0.6, 0.7, 0.1, -0.9, -0.3, 0.2],
    [0.2, 0.4, -0.5, 0.6, 1.4, -0.1],
    [0.9, -0.8, 0.3, -0.2, 0.2, 0.7],
    [-0.1, 0.6, -0.7, 0.4, 0.5, 0.3],
]
W = torch.tensor(numbers)
U = torch.tensor([[0, 2, 0.1, 2, 0.1], [0, 1, 2, -0.5, 1]])
onehot = torch.zeros(6)
onehot[word - 1] = 1
print("W · onehot   ", [round(x, 2) for x in (W @ onehot).tolist()])
print("column of W  ", [round(x, 2) for x in W[:, word - 1].tolist()])
print("rows of U · x", [round(x, 2) for x in (U @ W @ onehot).tolist()])

# %% softmax
scores = torch.tensor([0, 2.9, 0.1, 1.4, -0.5, 0, 0])
print("exp    ", [round(x, 2) for x in scores.exp().tolist()], "sum", round(scores.exp().sum().item(), 2))
print("softmax", [round(x, 2) for x in scores.softmax(0).tolist()])

# %% negative
rate = 0.5  # set: 0.1 to 3
centre = torch.tensor([0.5, 0.1], requires_grad=True)  # dog
context = torch.tensor([0.2, 0.4], requires_grad=True)  # sleeps, which stood next to it
noise = torch.tensor([0.6, -0.3], requires_grad=True)  # blue, drawn at random
for step in range(4):
    near, far = torch.sigmoid(centre @ context), torch.sigmoid(centre @ noise)
    print(f"step {step}: σ(dog · sleeps) = {near.item():.3f}, σ(dog · blue) = {far.item():.3f}")
    loss = -near.log() - (1 - far).log()
    gradients = torch.autograd.grad(loss, [centre, context, noise])
    with torch.no_grad():
        for vector, gradient in zip((centre, context, noise), gradients, strict=True):
            vector -= rate * gradient

# %% train
window = 2  # set: 1 to 10
from pathlib import Path

import regard
from regard.data.demo.corpus import pairs


def learn_vectors(texts, name):
    Path(f"{name}.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    data = {"train": f"{name}.txt", "lower_case": True, "tokeniser": {"kind": "words", "at_least": 3}}
    options = {"method": "skip-gram", "width": 32, "window": window, "negatives": 5}
    recipe = {"family": "word2vec", "seed": 1, "data": data, "model": options, "training": {"epochs": 20}}
    return regard.train(recipe, out=name, overwrite=True, quiet=True)


sentences = [english for english, _ in pairs("train", count=6000)]
vectors = learn_vectors(sentences, "words")
for found in vectors.neighbours(["dog", "red", "drinks", "ana", "three"], count=5):
    print(f"{found.query:7}", *(f"{word} {cosine:.2f} " for word, cosine in found.neighbours))

# %% cosine
table = vectors.lexicon().vectors
rows = dict(zip(table.words, torch.tensor(table.matrix), strict=True))


def cosine(first, second):
    a, b = rows[first], rows[second]
    return (a @ b / (a.norm() * b.norm())).item()


for first, second in (("red", "white"), ("beautiful", "house"), ("red", "sleeps"), ("hot", "cold")):
    print(f"{first}, {second}: {cosine(first, second):.2f}")

# %% analogy
for a, b, c in (("is", "was", "are"), ("eats", "ate", "drinks"), ("boy", "boys", "girl"), ("king", "queen", "brother")):
    answers = vectors.analogy(a, b, c, count=4).neighbours
    print(f"{a} is to {b} as {c} is to:", *(f"{word} {near:.2f} " for word, near in answers))

# %% map
run("regard map words dog red drinks ana three school --around 6 --method t-sne -o map.png --overwrite")

# %% two_words
import re

mixed = learn_vectors([re.sub(r"\b(king|red)\b", "kired", text) for text in sentences], "mixed")
for word, near in mixed.neighbours(["kired"], count=5)[0].neighbours:
    print(f"kired, {word}: {near:.2f}")
print("before:", f"king, singer {cosine('king', 'singer'):.2f};  red, yellow {cosine('red', 'yellow'):.2f}")

# %% rare
from collections import Counter

counts = Counter(" ".join(sentences).lower().replace(".", " .").replace("?", " ?").split())
for least, most in ((3, 5), (6, 20), (21, 100), (101, 10000)):
    lengths = [rows[w].norm().item() for w in rows if least <= counts[w] <= most]
    mean = sum(lengths) / len(lengths)
    print(f"{len(lengths):3} words that occur {least:3} to {most:5} times: mean length {mean:.2f}")

# %% portuguese [data mac-morpho]
news = {"train": {"file": "mac-morpho:mac-morpho.txt.gz", "tag_mark": "_"}, "lower_case": True}
news["tokeniser"] = {"at_least": 10}
options = {"method": "skip-gram", "width": 48, "window": 5, "negatives": 5}
passes = {"epochs": 5, "learning_rate": 0.05}
recipe = {"family": "word2vec", "seed": 1, "data": news, "model": options, "training": passes}
portuguese = regard.train(recipe, out="jornal", overwrite=True, quiet=True)
for found in portuguese.neighbours(["presidente", "banco", "futebol", "segunda-feira", "médico"], count=5):
    print(f"{found.query:14}", *(f"{word} {near:.2f} " for word, near in found.neighbours))

# %% tagger [data mac-morpho]
small = {
    "model.width": 64,
    "model.layers": 1,
    "model.letters.width": 32,
    "model.inputs.width": 32,
    "model.dropout": 0.1,
}
short = {"training.steps": 600, "training.validate_every": 600, "training.batch_tokens": 512}
quick = {"training.optimizer.learning_rate": 0.01, "data.hold_out.test": 0.8, "data.hold_out.valid": 0.01}
tagger = regard.train("mac-morpho", small | short | quick, out="tagger", overwrite=True, quiet=True)
for sentence in tagger.answer(["Ele conta a história .", "Ele abriu uma conta em o banco ."]):
    print(*(f"{word}/{tag}" for word, tag in zip(sentence.words, sentence.answers, strict=True)))
