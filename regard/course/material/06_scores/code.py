# %% scores
first = 1.0  # set: -3 to 3
import torch

query = torch.tensor([first, 2.0])
keys = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
W = torch.tensor([[0.0, 1.0], [1.0, 0.0]])  # of the bilinear score: swaps the two components
scores = {
    "dot": keys @ query,
    "scaled dot": keys @ query / 2**0.5,
    "bilinear": keys @ W @ query,
    "additive": torch.tanh(query + keys).sum(1),  # both matrices are the identity, v is (1, 1)
}
for name, score in scores.items():
    weights = score.softmax(0)
    print(f"{name:10}  scores", *[f"{s:6.2f}" for s in score], "  weights", *[f"{w:.2f}" for w in weights])

# %% variance
d = 64  # set: 1 to 1024
torch.manual_seed(1)
queries, keys = torch.randn(1000, 1, d), torch.randn(1000, 10, d)  # 1,000 queries, each with ten keys
products = (queries * keys).sum(2)
for name, score in [("plain", products), ("scaled", products / d**0.5)]:
    largest = score.softmax(1).amax(1).mean()
    print(f"{name:6}  variance of the scores {score.var():7.2f}   mean of the largest weight {largest:.2f}")

# %% saturation
factor = 1.0  # set: 0.1 to 20
weights = (factor * torch.tensor([1.0, 2.0, 3.0])).softmax(0)
print("weights           ", *[f"{w:.4f}" for w in weights])
print("slopes w (1 - w)  ", *[f"{w * (1 - w):.4f}" for w in weights])

# %% projections
states = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])  # h_1, h_2, h_3 of the encoder
state = torch.tensor([1.0, 0.0, 2.0])  # s of the decoder, wider than the h
Q = torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
K = torch.tensor([[2.0, 0.0], [0.0, 0.5]])
V = torch.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
query, keys, values = Q @ state, states @ K.T, states @ V.T
score = keys @ query / 2**0.5
weights = score.softmax(0)
print("query", query.tolist(), "  scores", [round(s, 2) for s in score.tolist()])
print(
    "weights", [round(w, 2) for w in weights.tolist()], "  context", [round(c, 2) for c in (weights @ values).tolist()]
)

# %% hard
draws = 20  # set: 1 to 5000
weights, values = torch.tensor([0.1, 0.2, 0.7]), torch.tensor([1.0, 2.0, 5.0])
print(f"soft: the mix is {weights @ values:.2f}")
torch.manual_seed(1)
chosen = values[torch.multinomial(weights, draws, replacement=True)]
print("hard: chosen values", *chosen[:12].int().tolist(), f"…   mean of {draws}: {chosen.mean():.2f}")

# %% reinforce
baseline = "none"  # set: none, mean
paths = 4  # set: 1 to 100
weights, rewards = torch.tensor([0.1, 0.2, 0.7]), torch.tensor([-3.0, -2.0, -2.5])  # rewards: log p of the right word
expected = weights @ rewards
b = expected if baseline == "mean" else 0.0
torch.manual_seed(1)
places = torch.multinomial(weights, 1000 * paths, replacement=True)
one_hot = torch.nn.functional.one_hot(places, 3)
estimates = ((rewards[places] - b)[:, None] * (one_hot - weights)).view(1000, paths, 3).mean(1)
print("exact gradient      ", *[f"{g:6.3f}" for g in weights * (rewards - expected)])
print("mean of 1,000 trials", *[f"{g:6.3f}" for g in estimates.mean(0)])
print("spread of one trial ", *[f"{g:6.3f}" for g in estimates.std(0)])

# %% collapse
path = "--hh-e-ll-lo"  # set: --hh-e-ll-lo, hheelllloo, h-e-l-l-o, ---hello---
from itertools import groupby


def collapse(path):
    """Merge repeated symbols, then remove blanks."""
    return "".join(symbol for symbol, _ in groupby(path)).replace("-", "")


print(path, "→", "".join(symbol for symbol, _ in groupby(path)), "→", collapse(path))

# %% paths
frames = 4  # set: 2 to 8
from itertools import product

every = ["".join(path) for path in product("-ab", repeat=frames)]
spelling = [path for path in every if collapse(path) == "ab"]
print(len(every), "paths in all, and", len(spelling), "of them spell ab:", *spelling[:15])

# %% forward
torch.manual_seed(1)
y = torch.randn(frames, 3).softmax(1).double()  # a row for each frame, columns -, a, b
enumerated = sum(y[range(frames), ["-ab".index(symbol) for symbol in path]].prod() for path in spelling)

states = [0, 1, 0, 2, 0]  # ab with blanks around
alpha = torch.zeros(5, dtype=torch.double)
alpha[0], alpha[1] = y[0, 0], y[0, 1]
for t in range(1, frames):
    before = alpha.clone()
    for s in range(5):
        from_before = before[s] + (before[s - 1] if s > 0 else 0)
        skips_blank = s > 1 and states[s] not in (0, states[s - 2])
        alpha[s] = y[t, states[s]] * (from_before + (before[s - 2] if skips_blank else 0))
loss = torch.nn.functional.ctc_loss(y.log()[:, None], torch.tensor([[1, 2]]), (frames,), (2,), reduction="sum")
print(f"by all paths {enumerated:.6f}   by the forward table {alpha[-1] + alpha[-2]:.6f}   torch {(-loss).exp():.6f}")

# %% words
import random
import re
from pathlib import Path

from regard.data.demo.corpus import pairs

table = str.maketrans("абвгдезийклмнопрстуфыэ", "abvgdeziyklmnoprstufye", "ьъ")  # the last two are left out
table |= str.maketrans({"ё": "yo", "ж": "zh", "х": "kh", "ц": "ts", "ч": "ch", "ш": "sh"})
table |= str.maketrans({"щ": "shch", "ю": "yu", "я": "ya"})
sentences = " ".join(russian for _, russian in pairs("train", "demo-ru", 6000)).lower()
words = sorted(set(re.findall("[а-яё]+", sentences)))
random.Random(1).shuffle(words)
lines = [word.translate(table) + "\t" + word for word in words]
for name, part in {"train": lines[250:], "valid": lines[150:250], "test": lines[:150]}.items():
    Path(f"latin.{name}.tsv").write_text("\n".join(part) + "\n")
    print(name, len(part), part[:3])

# %% ctc
steps = 200  # set: 5 to 400
per_letter = 2  # set: 1 to 3
import regard
from regard.course import picture, trained

corpora = {part: {"pairs": f"latin.{part}.tsv"} for part in ["train", "valid", "test"]}
tokens = {"kind": "characters", "shared": False, "byte_fallback": False}
optimizer = {"learning_rate": 0.01, "schedule": "cosine", "warmup": 5}
recipe = {
    "family": "ctc-text",
    "seed": 1,
    "data": corpora | {"tokeniser": tokens, "cleaning": {"leakage": False}},
    "model": {"cell": "gru", "layers": 1, "width": 96, "dropout": 0.1, "frames": per_letter},
    "training": {"steps": steps, "batch_tokens": 1024, "label_smoothing": 0.0, "final": "last", "optimizer": optimizer},
}
russian = trained("latin_to_russian", recipe)
for score in regard.evaluate(russian, metrics=["exact", "cer"], quiet=True):
    print(score)
for word in ["borshch", "yozhik", "moy", "sol"]:
    print(word, "→", russian.translate([word])[0].text)

# %% alignment
word = "shchuka"  # set: shchuka, borshch, yozhik, khoroshaya
picture(russian.look(word))
