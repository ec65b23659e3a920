# %% unroll
u = 0.5  # set: -2 to 2
from math import tanh

w, h = 1.0, 0.0
for x in [1.0, 0.0, 0.0]:
    before, h = h, tanh(w * x + u * h)
    print(f"x = {x}   h = tanh({w} * {x} + {u} * {before:.4f}) = {h:.4f}")

# %% text
from pathlib import Path

import regard
from regard.course import run, trained
from regard.data.demo.corpus import pairs

for split in ["train", "valid", "test"]:
    lines = [english for english, portuguese in pairs(split)]
    Path(f"english.{split}.txt").write_text("\n".join(lines) + "\n")
    print(len(lines), "sentences of", split, "such as:", lines[4])

data = {split: f"english.{split}.txt" for split in ["train", "valid", "test"]} | {"tokeniser": {"kind": "words"}}
for order in [2, 3, 5]:
    model = {"order": order, "discount_fallback": True}
    counts = trained(f"english_{order}_grams", {"family": "ngram", "data": data, "model": model})
    print(f"{order}-grams: perplexity {regard.evaluate(counts, quiet=True)[0].value:.1f}")

# %% reader
cell = "vanilla"  # set: vanilla, logistic, gru, lstm
steps = 600  # set: 50 to 1500
optimizer = {"kind": "adam", "learning_rate": 0.005, "schedule": "cosine", "warmup": 30, "clip": 1.0}
recipe = {
    "family": "rnnlm",
    "seed": 1,
    "data": data,
    "model": {"cell": cell, "layers": 1, "embedding": 48, "width": 96},
    "training": {"steps": steps, "batch": 32, "span": 32, "validate_every": steps, "optimizer": optimizer},
}
reader = trained(f"english_{cell}", recipe)
print(f"{cell}: perplexity {regard.evaluate(reader, quiet=True)[0].value:.1f}")
for samples in reader.generate(["The old woman", "Do you"], tokens=8, sample={"seed": 1, "temperature": 0.5}):
    print(samples[0].text)

# %% product
u = 0.5  # set: -2 to 2
start = 0.4  # set: -1 to 1
h, product = start, 1.0
for t in range(1, 21):
    h = tanh(u * h)
    factor = u * (1 - h * h)
    product *= factor
    if t in [1, 2, 3, 5, 10, 20]:
        print(f"t = {t:2}   h = {h:7.4f}   factor = {factor:6.3f}   product = {product:8.1e}")

# %% gradients
run("regard show gradients --cells vanilla,lstm,gru -o gradients.png")

# %% clipping
limit = 1.0  # set: 0.1 to 10
gradient = [3.0, 4.0]
norm = sum(g * g for g in gradient) ** 0.5
clipped = [round(g * min(1, limit / norm), 3) for g in gradient]
print(f"{gradient} has the norm {norm}; clipped at {limit} it is {clipped}")

# %% jacobians
run("regard show jacobians -o jacobians.png")

# %% memory
forget = 0.9  # set: 0.5 to 1
c = 0.0
for t in range(31):
    write = 1.0 if t == 0 else 0.0  # the input gate opens once, at the first step
    candidate, output = 0.8, 1.0
    c = forget * c + write * candidate
    h = output * tanh(c)
    if t in [0, 1, 2, 5, 10, 20, 30]:
        print(f"t = {t:2}   c = {c:.4f}   h = {h:.4f}")

# %% gates
trained("opinions", "opinions-ru")
run('regard show gates opinions --text "Еда была вкусная и мы не разочаровались."')

# %% but
run('regard show gates opinions --text "Суп был хороший, но мы не вернёмся." -o gates.png')

# %% task
import torch
from torch import nn


def batch(rows, gap):
    """Return rows of random tokens 4 to 7 behind a first token 0 to 3, and those first tokens."""
    first = torch.randint(0, 4, (rows,))
    return torch.cat([first[:, None], torch.randint(4, 8, (rows, gap))], dim=1), first


torch.manual_seed(1)
tokens, first = batch(3, 12)
for row, answer in zip(tokens.tolist(), first.tolist(), strict=True):
    print("read", *row, "  then answer", answer)


# %% network
class Memory(nn.Module):
    """A recurrent layer that reads all tokens, and a guess of the first one from its last state."""

    def __init__(self, cell, forget_bias):
        super().__init__()
        self.table = nn.Embedding(8, 8)
        self.layer = {"vanilla": nn.RNN, "lstm": nn.LSTM}[cell](8, 32, batch_first=True)
        if cell == "lstm":
            self.layer.bias_ih_l0.data[32:64] = forget_bias  # torch's order: input, forget, cell, output
        self.guess = nn.Linear(32, 4)

    def forward(self, tokens):
        return self.guess(self.layer(self.table(tokens))[0][:, -1])


print(sum(weights.numel() for weights in Memory("lstm", 2).parameters()), "weights in the LSTM")

# %% remember
gap = 20  # set: 2 to 40
forget_bias = 2.0  # set: 0 to 4
for cell in ["vanilla", "lstm"]:
    torch.manual_seed(1)
    network = Memory(cell, forget_bias)
    optimizer = torch.optim.Adam(network.parameters(), 0.005)
    for _ in range(300):
        tokens, first = batch(64, gap)
        loss = nn.functional.cross_entropy(network(tokens), first)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
    tokens, first = batch(1000, gap)
    right = (network(tokens).argmax(1) == first).float().mean().item()
    print(f"{cell} remembers {right:.0%} of the first tokens")
