# %% by_hand
right_side = "hidden"  # set: hidden, seen
sentences = ["the cat is happy", "the cat is happy", "the cat was happy", "the cat is here", "the cat drinks milk"]
sentences += ["the cat drinks water", "the cat drinks tea"]
fitting = [words for words in map(str.split, sentences) if right_side == "hidden" or words[3] == "happy"]
for word in ["is", "was", "drinks"]:
    count = sum(words[2] == word for words in fitting)
    print(f"{word:7} {count} of {len(fitting)} = {count / len(fitting):.2f}")

# %% masks
kind = "decoder"  # set: encoder, decoder, both
source, target = ["O", "gato", "está", "feliz"], ["The", "cat", "is", "happy"]
words = source + target if kind == "both" else source
for row, word in enumerate(words):
    seen = ""
    for column in range(len(words)):
        if kind == "encoder":
            may_look = True
        elif kind == "decoder":
            may_look = column <= row
        else:  # all see the source; the target also sees itself up to its own place
            may_look = column < len(source) or len(source) <= column <= row
        seen += " ■" if may_look else " ·"
    print(f"{word:6}{seen}")

# %% gpt
from pathlib import Path

import regard
from regard.course import picture, trained
from regard.data.demo.corpus import linked_pairs, pairs

for split in ["train", "valid", "test"]:
    lines = [english for english, _ in pairs(split)]
    Path(f"english-{split}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
files = {split: f"english-{split}.txt" for split in ["train", "valid", "test"]}
sizes = {"layers": 2, "width": 96, "heads": 4, "feed_forward": 384, "dropout": 0.0, "attention_dropout": 0.0}
often = {"validate_every": 200, "save_every": 200, "keep": 1}
training = often | {"steps": 500, "batch": 32}
training |= {"optimizer": {"learning_rate": 4e-3, "schedule": "linear", "warmup": 50}}
data = files | {"tokeniser": {"kind": "words"}}
gpt = trained("small_gpt", {"family": "gpt", "data": data, "model": sizes | {"context": 32}, "training": training})
picture(gpt.look_next("The cat", bars=8))

# %% temperature
temperature = 0.7  # set: 0.05 to 3
prompt = "The cat"  # set: The cat, When did, Ana and, I never
for text in gpt.generate([prompt], tokens=12, samples=6, sample={"temperature": temperature, "seed": 1})[0]:
    print(text.text)

# %% looking_back
picture(gpt.look("The cats were in the garden.", layer=2, heads="max"))

# %% sizes
vocabulary, width = 10_000, 512
print(f"embedding {vocabulary:,} × {width}: {vocabulary * width:,} numbers")
for name, context in {"GPT-1": 512, "GPT-2": 1024, "GPT-3": 2048, "GPT-4": 32768}.items():
    print(f"{name}  context {context:6,}  scores of a head {context**2:13,}")

# %% bert
pieces = {"tokeniser": {"kind": "wordpiece", "vocabulary": 1500}}
training = often | {"steps": 700, "batch": 96, "span": 12, "masking": {"share": 0.2}}
training |= {"optimizer": {"learning_rate": 4e-3, "schedule": "linear", "warmup": 60}}
reading = {"family": "bert", "task": "masked", "data": files | pieces, "model": sizes | {"longest": 64}}
bert = trained("small_bert", reading | {"training": training})
for score in regard.evaluate("small_bert", split="test"):
    print(f"{score.metric:12} {score.value:.3f}")

# %% fill
text = "The cat [MASK] happy."  # set: The cat [MASK] happy., She will [MASK] to the park., Two [MASK] are happy.
for word, share in sorted(bert.answer([text])[0].probabilities.items(), key=lambda item: -item[1])[:6]:
    print(f"{share:6.1%}  {word}")

# %% both_sides
gaps = 4  # set: 1 to 6
text = "The cat" + " [MASK]" * gaps + "."
print(text, "→", bert.answer([text])[0].answer)
try:
    bert.generate(["The cat"])
except Exception as refusal:
    print(refusal)

# %% labels
labelled = 50  # set: 20 to 500
parts = {"verb-subject": ("verb", "subject"), "verb-object": ("verb", "object")}
parts |= {f"{word}-noun": (word, None) for word in ["adjective", "determiner", "number"]}


def tagged(pair):
    words = pair.source.rstrip(".?").split()
    tags = ["other"] * len(words)
    for role, links in pair.source_roles.items():
        for link in links:
            for place, tag in zip(link, parts.get(role, (None, None)), strict=True):
                tags[place] = tag or tags[place]
    return "".join(f"{word} {tag}\n" for word, tag in zip(words, tags, strict=True)) + "\n"


for split, count in [("train", labelled), ("valid", 100), ("test", 500)]:
    Path(f"tags-{split}-{count}.txt").write_text("".join(map(tagged, linked_pairs(split)[:count])), encoding="utf-8")
print(tagged(linked_pairs("test")[5]))

# %% tuning
tags = {"train": f"tags-train-{labelled}.txt", "valid": "tags-valid-100.txt", "test": "tags-test-500.txt"}
tags |= {"columns": ["word", "tag"], "scheme": "tags"}
model = sizes | {"longest": 64, "letters": {"reader": "none"}, "output": "softmax"}
short = {"steps": 150, "batch_tokens": 512, "validate_every": 50, "save_every": 150, "keep": 1}
short |= {"optimizer": {"learning_rate": 1e-3, "schedule": "linear", "warmup": 15}}
recipe = {"family": "bert", "task": "tagging", "data": tags | pieces, "model": model, "training": short}
trained("tuned_tagger", recipe | {"start_from": "small_bert"})
trained("new_tagger", recipe)
for name in ["tuned_tagger", "new_tagger"]:
    scores = {score.metric: score.value for score in regard.evaluate(name, split="test")}
    print(f"{name:13} right {scores['accuracy']:.1%}, of new words {scores['accuracy_of_unknown']:.1%}")

# %% perplexities
counts = trained("four_grams", {"family": "ngram", "data": data, "model": {"order": 4}})
states = {"cell": "lstm", "layers": 1, "embedding": 96, "width": 128}
training = often | {"steps": 500, "batch": 32, "span": 32}
training |= {"optimizer": {"learning_rate": 5e-3, "schedule": "linear", "warmup": 50}}
lstm = trained("small_lstm", {"family": "rnnlm", "data": data, "model": states, "training": training})
print("perplexity   seen combinations   new combinations")
for name in ["four_grams", "small_lstm", "small_gpt"]:
    seen, new = (regard.evaluate(name, split=split)[0].value for split in ["valid", "test"])
    print(f"{name:11} {seen:18.1f} {new:18.1f}")
