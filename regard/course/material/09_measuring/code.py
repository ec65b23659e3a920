# %% by_hand
from collections import Counter
from math import exp, prod

texts = ("рыжий кот прилег на лавку", "кот лежит на лавке", "на лавку легла кошка")
output, *references = (text.split() for text in texts)


def ngrams(words, n):
    return Counter(tuple(words[place : place + n]) for place in range(len(words) - n + 1))


precisions = []
for n in (1, 2, 3, 4):
    allowed = ngrams(references[0], n) | ngrams(references[1], n)  # the larger of two counts
    matches = ngrams(output, n) & allowed  # the smaller of two counts
    precisions.append(matches.total() / ngrams(output, n).total())
    print(f"p{n} = {matches.total()}/{ngrams(output, n).total()}  ", [" ".join(words) for words in matches])

# %% brevity
output_length = 5  # set: 1 to 8
penalty = min(1.0, exp(1 - 4 / output_length))  # both references have 4 words
two_orders = penalty * prod(precisions[:2]) ** (1 / 2)
four_orders = penalty * prod(precisions) ** (1 / 4)
print(f"brevity penalty {penalty:.3f}, BLEU up to pairs {two_orders:.3f}, BLEU {four_orders:.3f}")

# %% explain
from pathlib import Path

from regard.course import run

for name, words in (("cat", output), ("one", references[0]), ("two", references[1])):
    Path(f"{name}.txt").write_text(" ".join(words) + "\n", encoding="utf-8")
run("regard score --hypothesis cat.txt --reference one.txt --reference two.txt --explain --orders 2")

# %% smoothings
from regard.metrics import score
from regard.metrics.bleu import Smoothing

for way in ("none", "floor", "exp", "add-k"):
    found = score([" ".join(output)], [[" ".join(reference)] for reference in references], smoothing=Smoothing(way))
    print(f"{way:6} {found.value:6.2f}  {found.signature}")

# %% systems
from regard.course import trained
from regard.data.demo.corpus import pairs

for name, split, count in (("pairs", "train", 6000), ("valid", "valid", 200)):
    lines = (f"{english}\t{portuguese}\n" for english, portuguese in pairs(split, count=count))
    Path(f"{name}.tsv").write_text("".join(lines), encoding="utf-8")
small = {
    "family": "transformer",
    "data": {"train": "pairs.tsv", "valid": "valid.tsv", "tokeniser": {"kind": "words"}},
    "model": {"width": 64, "heads": 4, "feed_forward": 128, "encoder_layers": 1, "decoder_layers": 1},
    "training": {"steps": 250, "batch_tokens": 1024, "validate_every": 250, "validation_beam": 0},
}
small["model"] |= {"norm": "before", "dropout": 0.0}
small["training"] |= {"label_smoothing": 0.0}
small["training"]["optimizer"] = {"learning_rate": 0.01, "schedule": "linear", "warmup": 30}
models = {seed: trained(f"seed-{seed}", small, {"seed": seed}) for seed in (1, 2, 3)}

# %% seeds
test = pairs("valid")[200:]  # 300 pairs that no model has seen, neither in training nor in validation
english, portuguese = ([pair[side] for pair in test] for side in (0, 1))
Path("reference.txt").write_text("\n".join(portuguese) + "\n", encoding="utf-8")
outputs = {}
for seed, model in models.items():
    outputs[seed] = [output.text for output in model.translate(english, beam=1)]
    Path(f"seed-{seed}.txt").write_text("\n".join(outputs[seed]) + "\n", encoding="utf-8")
    bleu, chrf = (score(outputs[seed], portuguese, metric).value for metric in ("bleu", "chrf"))
    print(f"seed {seed}: BLEU {bleu:.1f}, chrF {chrf:.1f}   {outputs[seed][0][:60]}")

# %% signatures
for tokenise in ("13a", "none", "char"):
    found = score(outputs[1], portuguese, "bleu", tokenise=tokenise)
    print(f"{found.value:5.1f}  {found.signature}")
lowered = [[text.lower() for text in texts] for texts in (outputs[1], portuguese)]
print(f"{score(*lowered).value:5.1f}  13a, all in lower case before")

# %% endings
reference = "маленькая девочка читала новые книги в старом доме"
variants = {
    "every ending wrong": "маленький девочку читали новых книгу в старому дома",
    "another sentence": "большой мальчик купил красный велосипед на шумном рынке",
    "new and old swapped": "маленькая девочка читала старые книги в новом доме",
    "another order, same sense": "в старом доме маленькая девочка читала новые книги",
}
metrics = ("bleu", "chrf", "rougeL", "meteor-ru", "ribes")
print(f"{'':26}" + "".join(f"{metric:>10}" for metric in metrics))
for name, text in variants.items():
    values = [score([text], [reference], metric).value for metric in metrics]
    print(f"{name:26}" + "".join(f"{value:10.2f}" for value in values))

# %% translator
import regard

translator = trained("translator", "demo")
for found in regard.evaluate(translator, metrics=["bleu", "chrf", "perplexity"], quiet=True):
    print(f"{found.metric:10} {found.value:6.2f}  {found.signature}")

# %% randomisation
other = 3  # set: 2 to 3
sentences = 300  # set: 10 to 300
import random

dice = random.Random(1)
right = {seed: [a == b for a, b in zip(outputs[seed], portuguese, strict=True)][:sentences] for seed in (1, other)}
gaps = [one - two for one, two in zip(right[1], right[other], strict=True)]
shuffles = [sum(gap if dice.random() < 0.5 else -gap for gap in gaps) for _ in range(2000)]
p = (1 + sum(abs(gap) >= abs(sum(gaps)) for gap in shuffles)) / (1 + 2000)  # the real gap counts once
print(f"seed 1: {sum(right[1])} of {sentences} sentences right; seed {other}: {sum(right[other])}; p = {p:.4f}")

# %% histogram
import matplotlib.pyplot as plt

from regard.course import picture

figure, axes = plt.subplots(figsize=(6, 2.4))
axes.hist(shuffles, bins=range(min(shuffles), max(shuffles) + 2), align="left", color="#8fb0d3")
axes.axvline(sum(gaps), color="#d1602b", linewidth=2)
axes.set(xlabel="gap in right sentences after a shuffle; the line is the real one", ylabel="shuffles")
picture(figure)
plt.close(figure)

# %% against
run("regard score --hypothesis seed-1.txt --reference reference.txt --against seed-3.txt")

# %% judges
import json

head = {"comparison": "example", "a": "model", "b": "person", "items": 8, "person": "b"}
votes = {
    "better": {"judge-1": "bbtaabbt", "judge-2": "bbtabbbt"},
    "person": {"judge-1": "bbbabbbt", "judge-2": "bbtabbab"},
}
for question, by_judge in votes.items():
    lines = [head | {"question": question}]
    for judge, letters in by_judge.items():
        for item, letter in enumerate(letters, 1):
            choice = {"a": "a", "b": "b", "t": "tie"}[letter]
            vote = {"judge": judge, "item": str(item), "order": ["a", "b"], "choice": choice, "time": ""}
            lines.append({"comparison": "example"} | vote)
    Path(f"{question}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
run("regard judge --report better.jsonl")
run("regard judge --report person.jsonl")

# %% luck
tries = 20  # set: 1 to 200
dice = random.Random(7)
scores = [sum(dice.random() < 0.5 for _ in range(300)) / 300 for _ in range(tries)]
again = sum(dice.random() < 0.5 for _ in range(300)) / 300
print(f"{tries} systems, all right in half of all sentences; the best has {max(scores):.1%} on 300 of them")
print(f"the same system on 300 others: {again:.1%}")
overlap = set(pairs("train")) & set(pairs("test"))
print(f"pairs in both training and test data of the demo: {len(overlap)}")
