# %% three_words
import torch

from regard.course import picture, run, trained

words = ["I", "love", "books"]
x = torch.tensor([[1.0, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 2]])  # a row for each word: embedding plus position
w_q = torch.tensor([[2.0, 0, 0, 0], [2, 2, 0, 0], [0, 4, 2, 0], [0, 0, 0, 0]])
w_k = torch.eye(4)
w_v = torch.diag(torch.tensor([2.0, 4, 6, 0]))
q, k, v = x @ w_q, x @ w_k, x @ w_v
print("q · k, a row for each word that looks")
for word, row in zip(words, q @ k.T, strict=True):
    print(f"{word:6}", row.int().tolist())

# %% weights
divisor = 2.0  # set: 0.5 to 8
mask = "causal"  # set: causal, none
scores = q @ k.T / divisor
if mask == "causal":
    scores = scores.masked_fill(torch.ones(3, 3).triu(1).bool(), -torch.inf)
weights = scores.softmax(-1)
for word, row, found in zip(words, weights, weights @ v, strict=True):
    print(f"{word:6} weights", [round(n, 3) for n in row.tolist()], "found", [round(n, 2) for n in found.tolist()])

# %% one_head
run("regard show attention -o head.png")

# %% two_heads
torch.manual_seed(1)
found = [torch.randn(3, 2), torch.randn(3, 2)]  # what two heads of depth 2 have found for three words
w_o = torch.randn(4, 4)

side_by_side = torch.cat(found, -1) @ w_o
added_up = found[0] @ w_o[:2] + found[1] @ w_o[2:]
print("side by side, times W_O", [round(x, 3) for x in side_by_side[0].tolist()])
print("added up               ", [round(x, 3) for x in added_up[0].tolist()])
print("largest difference     ", f"{(side_by_side - added_up).abs().max():.6f}")

# %% order
run("regard show permutation -o order.png")

# %% positions
kind = "sinusoidal"  # set: sinusoidal, rotary, alibi
run(f"regard show positions --kind {kind} -o positions.png")

# %% depth
layers = 24  # set: 2 to 60
run(f"regard show gradients --depth --layers {layers} -o depth.png")

# %% database
run("regard show feed-forward -o database.png")

# %% translator
translator = trained("translator", "demo")
for text in ["I see the red house.", "Ana doesn't eat the green apples.", "The old teachers bought a dog."]:
    print(text, "→", translator.translate([text])[0].text)

# %% forward
run('regard show forward translator --text "I see the red house." --depth 1')

# %% look
side = "cross"  # set: encoder, decoder, cross
head = 2  # set: 1 to 4
picture(translator.look("Ana doesn't eat the green apples.", side=side, layer=2, head=head))

# %% roles
run("regard heads translator --roles")

# %% units
run("regard show feed-forward translator --units 6 --tokens 4")

# %% cost
run("regard show cost --longest 512")
