# %% cross_entropy
from math import exp, log

given = {"amo": 0.1, "livros": 0.2}  # what the model gives to the right words
for word, p in given.items():
    print(f"{word:7} p = {p}   1 - p = {1 - p:.1f}   -ln p = {-log(p):.3f}")
total = sum(-log(p) for p in given.values())
print(f"sum {total:.3f} = -ln {exp(-total):.2f}, perplexity {exp(total / len(given)):.2f}")

# %% smoothing
share = 0.1  # set: 0.0 to 0.5


def smoothed_loss(p):
    """Return the loss if the right one of four words has probability p and the others share the rest."""
    target, other_target = 1 - share + share / 4, share / 4
    return -target * log(p) - 3 * other_target * log((1 - p) / 3)


for p in (0.7, 0.8, 0.9, 0.99, 0.999):
    print(f"p = {p:<5}  -ln p = {-log(p):.3f}   smoothed {smoothed_loss(p):.3f}")
best = min((n / 1000 for n in range(1, 1000)), key=smoothed_loss)
print(f"the smoothed loss is lowest at p = {best}")

# %% forcing
from regard.course import picture, run, trained

translator = trained("translator", "demo")
run('regard show loss translator --text "I love books." --target "Eu amo gatos."')

# %% descent
for rate in (0.1, 0.45, 1.1):
    x = 1.0
    path = [x]
    for _ in range(8):
        x -= rate * 2 * x  # the slope of x² is 2x
        path.append(x)
    print(f"rate {rate:<4}  " + "  ".join(f"{x:6.3f}" for x in path))

# %% recipe
from pathlib import Path

from regard.data.demo.corpus import pairs

for name, split, count in (("many", "train", 3000), ("few", "train", 200), ("held", "valid", 200)):
    lines = (f"{english}\t{portuguese}\n" for english, portuguese in pairs(split, count=count))
    Path(f"{name}.tsv").write_text("".join(lines), encoding="utf-8")

sizes = {"width": 64, "heads": 2, "feed_forward": 128, "encoder_layers": 1, "decoder_layers": 1}
small = {
    "family": "transformer",
    "data": {"train": "many.tsv", "valid": "held.tsv", "tokeniser": {"kind": "words"}},
    "model": {**sizes, "norm": "before", "dropout": 0.0},
    "training": {"steps": 100, "batch_tokens": 512, "validate_every": 20, "validation_beam": 0},
}
small["training"] |= {"label_smoothing": 0.0, "optimizer": {"schedule": "constant", "warmup": 0}}

# %% rates
too_large = 0.3  # set: 0.01 to 1.0
import regard
from regard.base.figures import in_figures

for rate in (0.0001, 0.003, too_large):
    model = trained(f"rate-{rate}", small, {"training.optimizer.learning_rate": rate})
    perplexity = regard.evaluate(model, "valid", metrics=["perplexity"], quiet=True)[0].value
    print(f"rate {rate:<6}  perplexity of held-out pairs {in_figures(perplexity, 0):>6}")
picture(f"rate-{too_large}/curve.png")

# %% schedule
for step in (1, 50, 100, 400, 650):
    demo = 0.003 * min(step / 100, (700 - step) / (700 - 100))
    print(f"step {step:5}  our translator {demo:.1e}")
for step in (1, 2000, 4000, 16000, 64000):
    paper = 512**-0.5 * min(step**-0.5, step * 4000**-1.5)
    print(f"step {step:5}  the paper's base model {paper:.1e}")

# %% overfitting
dropout = 0.0  # set: 0.0 to 0.5
settings = {"data.train": "few.tsv", "model.dropout": dropout, "training.steps": 300, "training.patience": 4}
settings |= {"training.optimizer.learning_rate": 0.005, "training.optimizer.warmup": 20}
model = trained("few", small, settings)
perplexity = regard.evaluate(model, "valid", metrics=["perplexity"], quiet=True)[0].value
print(f"dropout {dropout}: perplexity of held-out pairs {in_figures(perplexity, 0)}")
picture("few/curve.png")

# %% five_ways
run("regard show decoding -o decoding.png --overwrite")

# %% beam
picture(translator.look_beam("Were the bridges long?", width=3))

# %% widths
test = pairs("test")
outputs = {}
for k in (1, 3, 5):
    outputs[k] = [output.text for output in translator.translate([english for english, _ in test], beam=k)]
    right = sum(output == portuguese for output, (_, portuguese) in zip(outputs[k], test, strict=True))
    print(f"k = {k}: {right} of {len(test)} outputs equal the reference")
changed = [n for n in range(len(test)) if outputs[1][n] != outputs[5][n]]
print(f"{len(changed)} outputs change from k = 1 to k = 5, such as")
for n in changed[:3]:
    print(f"  {test[n][0]}\n    k = 1: {outputs[1][n]}\n    k = 5: {outputs[5][n]}")

# %% length
for alpha in (0, 0.6, 1):
    for text, log_p, tokens in (("Sim.", -2.0, 3), ("Sim, as pontes eram longas.", -2.6, 8)):
        score = log_p / ((5 + tokens) / 6) ** alpha
        print(f"alpha {alpha:<3}  {score:.3f}  {text}")

# %% temperature
temperature = 0.5  # set: 0.1 to 3.0
shines = {"sun": 0.55, "moon": 0.25, "lamp": 0.12, "star": 0.05, "cat": 0.03}
over_logits = {word: p ** (1 / temperature) for word, p in shines.items()}
over_probabilities = {word: exp(p / temperature) for word, p in shines.items()}
for word, p in shines.items():
    ours = over_logits[word] / sum(over_logits.values())
    printed = over_probabilities[word] / sum(over_probabilities.values())
    print(f"{word:5} p = {p:.2f}   over logits {ours:.3f}   over probabilities {printed:.3f}")


# %% nucleus
def nucleus(words, top_p):
    """Return the fewest words, likeliest first, whose probabilities reach top_p."""
    kept, total = [], 0.0
    for word in sorted(words, key=words.get, reverse=True):
        kept.append(word)
        total += words[word]
        if total >= top_p:
            break
    return kept


love = {"books": 0.14, "cats": 0.13, "cakes": 0.12, "music": 0.11, "rain": 0.1}
love |= {"bread": 0.1, "maps": 0.09, "films": 0.08, "dogs": 0.07, "tea": 0.06}
for name, words in (("outside shines the …", shines), ("I love …", love)):
    for top_p in (0.9, 0.95):
        print(f"{name:21} p = {top_p:<4} keeps {len(nucleus(words, top_p))}: {' '.join(nucleus(words, top_p))}")

# %% writer
Path("english.txt").write_text("".join(f"{english}\n" for english, _ in pairs("train", count=6000)), encoding="utf-8")
recipe = {
    "family": "gpt",
    "data": {"train": "english.txt", "hold_out": 0.05, "tokeniser": {"kind": "words"}},
    "model": {"width": 64, "heads": 2, "layers": 2, "feed_forward": 128, "context": 64, "dropout": 0.0},
    "training": {"steps": 250, "batch": 8, "validate_every": 250},
}
recipe["training"]["optimizer"] = {"learning_rate": 0.005, "schedule": "linear", "warmup": 30}
writer = trained("writer", recipe)

# %% repetition
top_p = 0.9  # set: 0.1 to 1.0
from itertools import pairwise


def repeated(text):
    """Return the share of word pairs that the text had before."""
    words = text.split()
    return 1 - len(set(pairwise(words))) / (len(words) - 1)


ways = {"greedy": {"beam": 1}, "beam 4": {"beam": 4}, "temperature 1": {"sample": {"seed": 1}}}
ways[f"top-p {top_p}"] = {"sample": {"top_p": top_p, "seed": 1}}
for name, options in ways.items():
    texts = writer.generate(["The", "My", "Who", "They"], tokens=60, past_end=True, **options)
    print(f"{name}: {sum(repeated(text[0].text) for text in texts) / 4:.0%} repeated")
    print("   ", " ".join(texts[0][0].text.split()[:18]))
