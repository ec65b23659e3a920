# %% by_hand
query_1 = 1.0  # set: -3 to 3
query_2 = 0.0  # set: -3 to 3
from math import exp

states = {"the": (1, 0), "green": (0, 1), "apples": (2, 1)}
scores = {word: query_1 * h[0] + query_2 * h[1] for word, h in states.items()}
total = sum(exp(score) for score in scores.values())
weights = {word: exp(score) / total for word, score in scores.items()}
for word in states:
    print(f"{word:7} score {scores[word]:6.2f}   exp {exp(scores[word]):8.3f}   weight {weights[word]:.3f}")
context = [sum(weights[word] * states[word][place] for word in states) for place in (0, 1)]
print(f"context ({context[0]:.3f}, {context[1]:.3f})")

# %% as_tensors
import torch

from regard.attention import Attention
from regard.attention.scores import dot

keys = torch.tensor([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]])[None, None]  # batch, head, place, depth
query = torch.tensor([[1.0, 0.0]])[None, None]
look = Attention(dot, looks_from="target", looks_at="source")
full = look.full(query, keys, keys)  # the states are both keys and values
print("weights", [round(weight, 3) for weight in full.weights[0, 0, 0].tolist()])
print("context", [round(number, 3) for number in full.context[0, 0, 0].tolist()])

# %% pairs
import random
from pathlib import Path

nouns = {"house": "a casa", "table": "a mesa", "apple": "a maçã", "key": "a chave"}
nouns |= {"dog": "o cachorro", "cat": "o gato", "book": "o livro", "car": "o carro"}
adjectives = {"white": "branc", "red": "vermelh", "black": "pret", "small": "pequen", "new": "nov", "old": "velh"}
verbs = {"sees": "vê", "buys": "compra", "wants": "quer", "finds": "encontra", "sells": "vende", "paints": "pinta"}
names = ["ana", "pedro", "rita", "bruno", "clara", "daniel"]
dice = random.Random(1)


def pair(things):
    name, verb = dice.choice(names), dice.choice([*verbs])
    chosen = [(dice.choice([*adjectives]), *dice.choice([*nouns.items()])) for _ in range(things)]
    source = " and ".join(f"the {adjective} {noun}" for adjective, noun, _ in chosen)
    target = " e ".join(f"{other} {adjectives[adjective]}{other[0]}" for adjective, _, other in chosen)
    return f"{name} {verb} {source}", f"{name} {verbs[verb]} {target}"


# %% files
examples = [pair(dice.randint(1, 5)) for _ in range(20_000)]
parts = {"train": examples[:18_700], "valid": examples[18_700:19_000], "test": examples[19_000:]}
for name, part in parts.items():
    for place, language in enumerate(["en", "pt"]):
        Path(f"things-{name}.{language}").write_text("".join(f"{both[place]}\n" for both in part), encoding="utf-8")
sources, targets = ([both[place] for both in parts["test"]] for place in (0, 1))
print(f"{len(examples):,} pairs, for example:", sources[0], targets[0], sep="\n")

# %% train
decoder = "luong"  # set: luong, bahdanau
from regard.course import picture, run, trained

data = {name: [f"things-{name}.en", f"things-{name}.pt"] for name in parts}
data |= {"source_language": "en", "target_language": "pt", "tokeniser": {"kind": "spaces", "shared": False}}
model = {"decoder": "bottleneck", "cell": "gru", "embedding": 32, "width": 128, "dropout": 0.0}
training = {"steps": 1200, "batch_tokens": 1024, "validate_every": 400, "label_smoothing": 0.0, "best_by": "loss"}
training |= {"validation_beam": 0, "optimizer": {"learning_rate": 1e-2, "schedule": "linear", "warmup": 50}}
recipe = {"family": "seq2seq", "data": data, "model": model, "training": training}
bottleneck = trained("bottleneck", recipe)
settings = {"model.decoder": decoder, "model.score": "additive", "training.steps": 400}
folder = "attention" if decoder == "luong" else f"attention-{decoder}"
attention = trained(folder, recipe, {**settings, "training.optimizer.learning_rate": 4e-3})
print(f"{bottleneck.parameters:,} parameters without attention, {attention.parameters:,} with it")

# %% by_length
written = [[output.text for output in model.translate(sources, beam=1)] for model in (bottleneck, attention)]
print("things  exactly right without  with attention")
for number in range(1, 6):
    rows = [row for row, source in enumerate(sources) if source.count(" the ") == number]
    right = [sum(outputs[row] == targets[row] for row in rows) / len(rows) for outputs in written]
    print(f"{number:6}  {right[0]:21.0%}  {right[1]:14.0%}")

# %% longer
number = 7  # set: 5 to 12
things = ["red car", "old house", "black cat", "small table", "new book", "white apple"] * 2
long = "rita sees the " + " and the ".join(things[:number])
print("without", bottleneck.translate([long], beam=1)[0].text)
print("with   ", attention.translate([long], beam=1)[0].text)

# %% look
sentence = "rita sees the old key and the new dog"  # set: rita sees the old key and the new dog, ana buys the red car
picture(attention.look(sentence))

# %% lines
picture(attention.look(sentence, lines=True))

# %% links
lines = []
for source in sources:
    links = ["0-0", "1-1"]
    for place in range(2, len(source.split()), 4):  # the, adjective, noun; article, noun, adjective
        links += [f"{place}-{place}", f"{place + 1}-{place + 2}", f"{place + 2}-{place + 1}"]
        links += [f"{place + 3}-{place + 3}"] * (place + 3 < len(source.split()))  # and
    lines.append(" ".join(links) + "\n")
Path("things.links").write_text("".join(lines), encoding="utf-8")
print(sources[0], targets[0], lines[0], sep="\n")

# %% aer
run(f"regard evaluate {folder} --metric aer --alignments things.links")

# %% watching
import regard

with regard.watching(attention, parts=["scores", "values", "outputs"]) as gazes:
    attention.translate([sentence])
gaze = gazes[0]
print("from", gaze.looks_from, "to", gaze.looks_at, tuple(gaze.weights.shape))
again = gaze.parts["scores"].softmax(-1)
print("softmax of the scores equals the weights:", torch.allclose(again, gaze.weights, atol=1e-5))
mixed = again @ gaze.parts["values"]
print("weights times values equal the context: ", torch.allclose(mixed, gaze.parts["outputs"], atol=1e-4))
for token, row in zip(gaze.queries[0], gaze.weights[0, 0], strict=True):
    print(f"{token:10} looks most at {gaze.keys[0][int(row.argmax())]:6} with weight {row.max():.2f}")

# %% instead
word = "o"  # set: ana, compra, o, carro, vermelho
source, target = "ana buys the red car", "ana compra o carro vermelho"
others = {"ana": "rita", "buys": "sells", "red": "old", "car": "house"}  # there is no other word for "the"
place = target.split().index(word)
with regard.watching(attention) as gazes:
    whole = attention.translate_as([source], [target])[0].token_scores[place]
print(f"{word}: weight of each source word, and growth of the loss with another word in its place")
for number, old in enumerate(source.split()):
    changed = attention.translate_as([source.replace(old, others.get(old, old))], [target])[0].token_scores[place]
    growth = f"{others[old]:6} {whole - changed:6.2f}" if old in others else ""
    print(f"{old:5} {gazes[0].weights[0, 0, place, number]:5.2f}   {growth}")
