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
for source, target in parts["test"][:4]:
    print(f"{source}\n    {target}")

# %% loss_by_hand
p_eu = 0.1  # set: 0.001 to 1
p_amo = 0.2  # set: 0.001 to 1
from math import exp, log

print("token      p   1 - p   -ln p")
for token, p in [("eu", p_eu), ("amo", p_amo)]:
    print(f"{token:5} {p:6.3f}  {1 - p:6.3f}  {-log(p):6.3f}")
total = -log(p_eu) - log(p_amo)
print(f"sum           {2 - p_eu - p_amo:6.3f}  {total:6.3f}")
print(f"{p_eu:g} times {p_amo:g} is {p_eu * p_amo:.4f}, and exp(-{total:.3f}) is {exp(-total):.4f}")

# %% train
width = 128  # set: 16 to 256
from regard.course import run, trained

recipe = {
    "family": "seq2seq",
    "data": {
        "source_language": "en",
        "target_language": "pt",
        **{name: [f"things-{name}.en", f"things-{name}.pt"] for name in parts},
        "tokeniser": {"kind": "spaces", "shared": False},
    },
    "model": {"decoder": "bottleneck", "cell": "gru", "embedding": 32, "width": width, "dropout": 0.0},
    "training": {"steps": 1200, "batch_tokens": 1024, "validate_every": 400, "label_smoothing": 0.0, "best_by": "loss"},
}
recipe["training"] |= {"validation_beam": 0, "optimizer": {"learning_rate": 1e-2, "schedule": "linear", "warmup": 50}}
folder = "bottleneck" if width == 128 else f"bottleneck-{width}"
model = trained(folder, recipe)
print(f"{model.parameters:,} parameters")

# %% forced_loss
source = "rita sees the red car and the old house and the black cat and the small table"
target = "rita vê o carro vermelho e a casa velha e o gato preto e a mesa pequena"
run(f'regard show loss {folder} --text "{source}" --target "{target}" --overwrite -o loss.png')

# %% own_words
article = "o"  # set: o, a
written = model.translate(["ana buys the red car"], before=["ana", "compra", article], beam=1)[0]
for token, score in zip(written.tokens, written.token_scores, strict=False):
    print(f"{token:10} p = {exp(score):.3f}")

# %% longer
number = 2  # set: 1 to 8
things = ["red car", "old house", "black cat", "small table", "new book", "white apple", "old dog", "red key"][:number]
print(model.translate(["rita sees the " + " and the ".join(things)], beam=1)[0].text)

# %% by_length
from regard.metrics import score

written = [output.text for output in model.translate([source for source, _ in parts["test"]], beam=1)]
print("things  sentences  exactly right  BLEU")
for number in range(1, 6):
    rows = [row for row, (source, _) in enumerate(parts["test"]) if source.count(" the ") == number]
    outputs, references = [written[row] for row in rows], [parts["test"][row][1] for row in rows]
    right = sum(output == reference for output, reference in zip(outputs, references, strict=True))
    print(f"{number:6}  {len(rows):9}  {right / len(rows):13.0%}  {score(outputs, references).value:4.0f}")

# %% by_place
number = 5  # set: 2 to 5
rows = [row for row, (source, _) in enumerate(parts["test"]) if source.count(" the ") == number]
right = [0] * (4 * number + 1)  # words of a sentence
for row in rows:
    for place, (word, true) in enumerate(zip(written[row].split(), parts["test"][row][1].split(), strict=False)):
        right[place] += word == true
for thing in range(number):
    noun, adjective = right[4 * thing + 3] / len(rows), right[4 * thing + 4] / len(rows)
    print(f"thing {thing + 1}: noun {noun:4.0%}, adjective {adjective:4.0%}  {'#' * round(30 * noun)}")
