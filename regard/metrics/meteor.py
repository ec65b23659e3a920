"""METEOR: words paired by form, stem and meaning, and how far apart the pairs are torn (Banerjee and Lavie 2005).

With the parameters and the score of version 1.5 (Denkowski and Lavie 2014). Words are paired when they are equal
(weight 1), when their stems are (0.6 in English), or when they share a meaning in WordNet (0.8); `alignment.py` says
which pairing is taken. Function words count less than content words, by 1 − δ to δ. With w the sum of the pairs'
weights on either side, each weight times δ or 1 − δ,

    P = w of the words written / δ or 1 − δ of all words written,   R = the same of the words wanted
    F = P R / (α P + (1 − α) R)
    METEOR = (1 − γ (chunks / pairs)^β) · F

Where everything is paired and every sentence is one chunk, nothing is taken off. Sums run over the test set, of several
references with the one that gives the sentence the best score of its own. The value runs from 0 to 1.

The stage of paraphrases is left out, for want of the table that the authors' program has. The stage of synonyms needs
the data set `wordnet`; the signature says whether it was there. Languages other than English have stems, where Snowball
knows them, no synonyms and no function words but punctuation. A language that was not tuned has the parameters that the
authors call universal. Those leave stems out, so their weight is the English one. Tokens are sacreBLEU's 13a, in lower
case.

METEOR as an F1, as lectures put it, is what remains without what was tuned: every word counts alike (δ = ½), precision
as much as recall (α = ½), and nothing is taken off for torn pairs (γ = 0), so that F = 2 P R / (P + R).
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import NamedTuple

from regard.base.faults import Fault
from regard.metrics.alignment import align, chunks
from regard.metrics.ngrams import tokens
from regard.metrics.stems import stem
from regard.metrics.summed import Row, Summed
from regard.metrics.wordnet import Synset, WordNet, wordnet


@dataclass(frozen=True)
class Parameters:
    """Parameters that METEOR was tuned with, by their letters in the paper, and the weights of its stages."""

    alpha: float
    beta: float
    gamma: float
    delta: float
    stem: float = 0.6
    synonym: float = 0.8


# Tuned to rankings by people, as the authors' version 1.5 has them. It has no stems of Czech.
ENGLISH = Parameters(alpha=0.85, beta=0.2, gamma=0.6, delta=0.75)
TUNED = {
    "cs": Parameters(alpha=0.95, beta=0.2, gamma=0.6, delta=0.8),
    "de": Parameters(alpha=0.95, beta=1.0, gamma=0.55, delta=0.55, stem=0.8),
    "en": ENGLISH,
    "es": Parameters(alpha=0.65, beta=1.3, gamma=0.5, delta=0.8, stem=0.8),
    "fr": Parameters(alpha=0.9, beta=1.4, gamma=0.6, delta=0.65, stem=0.2),
}
# For any other language; stems are not among its stages.
UNIVERSAL = Parameters(alpha=0.7, beta=1.4, gamma=0.3, delta=0.7)


def plain(language: str) -> Parameters:
    """Return the parameters of a language by which METEOR is an F1 of the words that it pairs."""
    return replace(TUNED.get(language, UNIVERSAL), alpha=0.5, gamma=0.0, delta=0.5)


# The authors count as function words those that make up a thousandth or more of a large corpus. Their own list belongs
# to their program; these are such words of the Penn Treebank's news, but for the nouns of its trade, as million.
FUNCTION_WORDS = frozenset({
    "the", "of", "to", "a", "in", "and", "'s", "that", "for", "is", "it", "said", "on", "by", "at", "as", "from",
    "with", "was", "be", "are", "its", "he", "but", "has", "an", "n't", "will", "have", "new", "or", "they", "this",
    "which", "would", "about", "says", "more", "were", "his", "had", "their", "up", "one", "than", "who", "some",
    "been", "also", "other", "not", "we", "if", "when", "i", "last", "all", "first", "two", "because", "after",
    "could", "there", "out", "only", "do", "such", "can", "most", "into", "may", "over", "many",
})  # fmt: skip
# Snowball's algorithms by the languages' codes.
STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "et": "estonian", "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi",
    "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "nl": "dutch",
    "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian",
    "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip


def meteor(language: str = "en", parameters: Parameters | None = None) -> Summed:
    """METEOR for a language, named by its code; one that Snowball does not know is scored on equal words alone."""
    if not language.isalpha() or not language.islower():
        raise Fault(f"METEOR needs the code of a language, such as en or pt, and '{language}' is none.")
    chosen = parameters or TUNED.get(language, UNIVERSAL)
    stemmer = STEMMERS.get(language)

    def rows(hypotheses: Sequence[str], sentences: Sequence[Sequence[str]]) -> list[Row]:
        functions = FUNCTION_WORDS if language == "en" else frozenset()
        lexicon = _Lexicon(chosen, stemmer, wordnet() if language == "en" else None, functions)
        found = []
        for hypothesis, own in zip(hypotheses, sentences, strict=True):
            written = lexicon.words(hypothesis)
            each = [_row(lexicon, written, lexicon.words(text)) for text in own]
            found.append(max(each, key=lambda row: _finish(chosen, row)))
        return found

    def how() -> str:
        stems = f"{stemmer}*{chosen.stem:g}" if stemmer else "off"
        synonyms = f"wordnet*{chosen.synonym:g}" if language == "en" and wordnet() else "off"
        numbers = "|".join(f"{name}:{getattr(chosen, name):g}" for name in ("alpha", "beta", "gamma", "delta"))
        stages = f"stem:{stems}|synonym:{synonyms}|paraphrase:off"
        return f"case:lc|norm:NFC|tok:13a|ref:best|lang:{language}|{stages}|{numbers}|range:0-1"

    return Summed(rows, lambda total: _finish(chosen, total), how)


class _Word(NamedTuple):
    """All that a word can be paired by, and what it is worth."""

    form: str
    stem: str  # the form itself in languages without a stemmer
    meanings: frozenset[Synset]
    worth: float


_WORTH = attrgetter("worth")


class _Lexicon(dict[str, _Word]):
    """The words that were met, each looked up once, and which of them go together."""

    def __init__(
        self, parameters: Parameters, stemmer: str | None, meanings: WordNet | None, functions: frozenset[str]
    ) -> None:
        super().__init__()
        self.parameters, self.stemmer, self.meanings, self.functions = parameters, stemmer, meanings, functions

    def words(self, text: str) -> list[_Word]:
        """The tokens of a text, in lower case."""
        return list(map(self.__getitem__, tokens(text.lower())))

    def __missing__(self, form: str) -> _Word:
        delta, has_letters = self.parameters.delta, form.isalnum() or any(map(str.isalnum, form))
        word = self[form] = _Word(
            form,
            stem(self.stemmer, form) if self.stemmer else form,
            self.meanings.meanings(form) if self.meanings else frozenset(),
            delta if has_letters and form not in self.functions else 1 - delta,
        )
        return word

    def candidates(self, written: Sequence[_Word], wanted: Sequence[_Word]) -> list[dict[int, float]]:
        """For each word written the places of the words wanted that it may go with, and what the pair weighs.

        That is the weight of the first stage at which the two go together.
        """
        places: dict[str, list[int]] = defaultdict(list)
        for place, word in enumerate(wanted):
            places[word.stem].append(place)
        found = []
        for word in written:
            own: dict[int, float] = {}
            for place in places.get(word.stem, ()):
                own[place] = 1.0 if wanted[place] is word else self.parameters.stem  # each word is here but once
            found.append(own)
        if self.meanings:
            self._add_synonyms(found, written, wanted)
        return found

    def _add_synonyms(
        self, found: Sequence[dict[int, float]], written: Sequence[_Word], wanted: Sequence[_Word]
    ) -> None:
        for own, word in zip(found, written, strict=True):
            for place, other in enumerate(wanted):
                if not word.meanings.isdisjoint(other.meanings):
                    own.setdefault(place, self.parameters.synonym)


def _row(lexicon: _Lexicon, written: Sequence[_Word], wanted: Sequence[_Word]) -> Row:
    """Worth of what is paired and of all words, on either side; chunks, pairs, words left alone, sentences."""
    pairs = align(lexicon.candidates(written, wanted))
    return (
        sum([weight * written[place].worth for place, _, weight in pairs]),
        sum(map(_WORTH, written)),
        sum([weight * wanted[place].worth for _, place, weight in pairs]),
        sum(map(_WORTH, wanted)),
        chunks(pairs),
        len(pairs),
        len(written) + len(wanted) - 2 * len(pairs),
        1,
    )


def _finish(parameters: Parameters, total: Sequence[float]) -> float:
    ours, all_ours, theirs, all_theirs, runs, pairs, alone, sentences = total
    if not pairs:
        return 0.0
    precision, recall = ours / all_ours, theirs / all_theirs
    mean = precision * recall / (parameters.alpha * precision + (1 - parameters.alpha) * recall)
    torn = 0.0 if not alone and runs <= sentences else runs / pairs
    return (1 - parameters.gamma * torn**parameters.beta) * mean
