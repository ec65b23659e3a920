# %% bag
from collections import Counter
from itertools import pairwise

good = ["очень", "хорошо", "совсем", "не", "плохо"]
bad = ["не", "очень", "хорошо", "совсем", "плохо"]
print("the same bag:", Counter(good) == Counter(bad))
print("the same pairs:", Counter(pairwise(good)) == Counter(pairwise(bad)))
print("pairs of the first alone:", *(Counter(pairwise(good)) - Counter(pairwise(bad))))

# %% bigrams
five = ["the cat sleeps", "the dog sleeps", "the cat sees the dog", "a dog sees the cat", "a cat eats"]
pairs_of_words, before = Counter(), Counter()
for sentence in five:
    words = ["<s>", *sentence.split(), "</s>"]
    pairs_of_words.update(pairwise(words))
    before.update(words[:-1])

for first in ("<s>", "the", "cat", "dog"):
    follow = {second: f"{n}/{before[first]}" for (one, second), n in pairs_of_words.items() if one == first}
    print(f"after {first:4}", follow)


# %% product
def likelihood(first, second):
    return pairs_of_words[first, second] / before[first]


def probability(sentence, p):
    words = ["<s>", *sentence.split(), "</s>"]
    total = 1.0
    for first, second in pairwise(words):
        total *= p(first, second)
    return total


for sentence in ("the cat sleeps", "a cat sees the dog", "a dog eats"):
    print(f"{probability(sentence, likelihood):.5f}  {sentence}")

# %% smoothing
k = 1.0  # set: 0.01 to 5
import math

vocabulary = {second for _, second in pairs_of_words} | {"<unk>"}  # <unk> stands for every unknown word


def smoothed(first, second):
    return (pairs_of_words[first, second] + k) / (before[first] + k * len(vocabulary))


print("p(sleeps | cat):", f"{likelihood('cat', 'sleeps'):.3f} becomes {smoothed('cat', 'sleeps'):.3f}")
print("p(eats | dog):  ", f"{likelihood('dog', 'eats'):.3f} becomes {smoothed('dog', 'eats'):.3f}")
for sentence in ("the cat sleeps", "a dog eats"):
    p = probability(sentence, smoothed)
    perplexity = math.exp(-math.log(p) / (len(sentence.split()) + 1))
    print(f"{sentence}: probability {p:.6f}, perplexity {perplexity:.2f}")

# %% library
from pathlib import Path

import regard

Path("five.txt").write_text("\n".join(five) + "\n")
Path("new.txt").write_text("the cat sleeps\na dog eats\n")
by_hand = {"order": 2, "smoothing": "add-k", "k": k}
counts = regard.train(
    {"family": "ngram", "data": {"train": "five.txt"}, "model": by_hand}, out="counts", overwrite=True, quiet=True
)
for sentence in counts.score(["the cat sleeps", "a dog eats"]):
    print(f"{sentence.text}: probability {math.exp(sentence.score):.6f}, perplexity {sentence.perplexity:.2f}")
print("both:", f"{regard.evaluate(counts, source='new.txt', quiet=True)[0].value:.2f}")

# %% texts
from regard.data.demo.corpus import pairs


def three_languages(split, count):
    portuguese, russian = dict(pairs(split, "demo", count)), dict(pairs(split, "demo-ru", count))
    english = [sentence for sentence in portuguese if sentence in russian]
    return {"en": english, "pt": [portuguese[s] for s in english], "ru": [russian[s] for s in english]}


def words_of(text):
    return text.replace(".", " .").replace("?", " ?").split()  # the mark at the end is a word of its own


learn, unseen = three_languages("train", 6000), three_languages("valid", 500)
for language in learn:
    words = [word for text in learn[language] for word in words_of(text)]
    print(f"{language}: {len(words):6,} words, {len(set(words)):5,} different;  {learn[language][8]}")

# %% orders
smoothing = "kneser-ney"  # set: kneser-ney, back-off, add-k


def count_words(language, order, cut=str):
    for name, texts in (("learn.txt", learn), ("unseen.txt", unseen)):
        Path(name).write_text("\n".join(cut(text) for text in texts[language]) + "\n", encoding="utf-8")
    data = {"train": "learn.txt", "test": "unseen.txt", "tokeniser": {"kind": "words"}}
    options = {"order": order, "smoothing": smoothing, "discount_fallback": smoothing != "add-k"}
    recipe = {"family": "ngram", "data": data, "model": options}
    model = regard.train(recipe, out=f"{language}-{order}", overwrite=True, quiet=True)
    return model, {score.metric: score.value for score in regard.evaluate(model, quiet=True)}


print("order   perplexity: en     pt     ru   nats a sentence: en     pt     ru")
for order in range(1, 6):
    found = [count_words(language, order)[1] for language in learn]
    perplexities = "".join(f"{scores['perplexity']:7.1f}" for scores in found)
    losses = "".join(f"{scores['loss_per_text']:7.1f}" for scores in found)
    print(f"{order}            {perplexities}             {losses}")

# %% endings
letters = 4  # set: 1 to 12


def cut(text):
    return " ".join(word[:letters] for word in text.strip(".?").split())


for language in learn:
    whole = count_words(language, 3, lambda text: text.strip(".?"))[1]["loss_per_text"]
    short = count_words(language, 3, cut)[1]["loss_per_text"]
    print(f"{language}: whole words {whole:.1f}, first {letters} letters {short:.1f} nats a sentence")

# %% generate
order = 3  # set: 1 to 5
temperature = 1.0  # set: 0.2 to 2
english, _ = count_words("en", order)
for text in english.generate(["The"], tokens=14, samples=5, sample={"temperature": temperature, "seed": 1})[0]:
    print(text.text)


# %% sparse
def grams(texts, n):
    for text in texts:
        words = ["<s>"] * (n - 1) + words_of(text) + ["</s>"]
        yield from (tuple(words[at : at + n]) for at in range(len(words) - n + 1))


print("order  unseen n-grams of new text, %: en     pt     ru")
for n in range(1, 6):
    shares = []
    for language in learn:
        known, new = set(grams(learn[language], n)), list(grams(unseen[language], n))
        shares.append(100 * sum(gram not in known for gram in new) / len(new))
    print(f"{n}                               " + "".join(f"{share:7.1f}" for share in shares))

# %% alike
trigrams, _ = count_words("en", 3)
for colour in ("white", "red"):
    text = trigrams.score([f"I see the {colour} house."])[0]
    print(f"p(house | the {colour}) = {math.exp(text.token_scores[4]):.4f}")
print("red house occurs", sum("red house" in text for text in learn["en"]), "times")

# %% memory
from regard.course import picture

for text in ("Will the writer read the book", "The writer will read the book"):
    mark = trigrams.score([f"{text}?"])[0].token_scores[-2]
    print(f"{text} …  p(?) = {math.exp(mark):.4f}")
picture(trigrams.look_next("Will the writer read the book", bars=6))
