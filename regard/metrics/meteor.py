"""METEOR: pair words by form, stem and meaning, and penalise scattered pairs (Banerjee and Lavie 2005).

Parameters and score are those of version 1.5 (Denkowski and Lavie 2014). Words are paired if they are equal (weight 1),
if their stems are (0.6 in English), or if they share a meaning in WordNet (0.8); `alignment.py` chooses the pairing.
Function words count less than content words, by 1 − δ to δ. With w the sum of the pairs' weights on either side, each
weight times δ or 1 − δ,

    P = w of the words written / δ or 1 − δ of all words written,   R = the same of the words wanted
    F = P R / (α P + (1 − α) R)
    METEOR = (1 − γ (chunks / pairs)^β) · F

If everything is paired and every sentence is one chunk, there is no penalty. Sums run over the test set, with the
reference that gives each sentence its best score. The value runs from 0 to 1.

The paraphrase stage is left out, since the authors' table is not available. The synonym stage needs the data set
`wordnet`; the signature says whether it was used. Languages other than English have stems if Snowball knows them, no
synonyms, and only punctuation as function words. A language without tuned parameters uses those that the authors call
universal. These do not cover stems, so the English weight is used. Tokens are sacreBLEU's 13a, in lower case.

METEOR as an F1, as in lectures, is what remains without tuning: every word counts the same (δ = ½), precision as much
as recall (α = ½), and scattered pairs are not penalised (γ = 0), so that F = 2 P R / (P + R).
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
    """Tuned parameters of METEOR, by their letters in the paper, and the weights of its stages."""

    alpha: float
    beta: float
    gamma: float
    delta: float
    stem: float = 0.6
    synonym: float = 0.8


# Tuned to human rankings, as in the authors' version 1.5, which has no Czech stems.
ENGLISH = Parameters(alpha=0.85, beta=0.2, gamma=0.6, delta=0.75)
TUNED = {
    "cs": Parameters(alpha=0.95, beta=0.2, gamma=0.6, delta=0.8),
    "de": Parameters(alpha=0.95, beta=1.0, gamma=0.55, delta=0.55, stem=0.8),
    "en": ENGLISH,
    "es": Parameters(alpha=0.65, beta=1.3, gamma=0.5, delta=0.8, stem=0.8),
    "fr": Parameters(alpha=0.9, beta=1.4, gamma=0.6, delta=0.65, stem=0.2),
}
# For any other language; it has no stem stage.
UNIVERSAL = Parameters(alpha=0.7, beta=1.4, gamma=0.3, delta=0.7)


def plain(language: str) -> Parameters:
    """Return the parameters of a language with which METEOR is an F1 of paired words."""
    return replace(TUNED.get(language, UNIVERSAL), alpha=0.5, gamma=0.0, delta=0.5)


# The authors count as function words those that make up at least a thousandth of a large corpus. Their list belongs to
# their program; these are such words of the Penn Treebank's news, except for nouns of business such as million.
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
    """Return METEOR for a language code; a language unknown to Snowball is scored on equal words only."""
    if not language.isalpha() or not language.islower():
        raise Fault(f"METEOR needs a language code such as en or pt, but '{language}' is not one.")
    chosen = parameters or TUNED.get(language, UNIVERSAL)
    stemmer = STEMMERS.get(language)

    def rows(hypotheses: Sequence[str], sentences: Sequence[Sequence[str]]) -> list[Row]:
        functions = FUNCTION_WORDS if language == "en" else frozenset()
        lexicon = _Lexicon(chosen, stemmer, wordnet() if language == "en" else None, functions)
        best = []
        for hypothesis, references in zip(hypotheses, sentences, strict=True):
            written = lexicon.words(hypothesis)
            options = [_row(lexicon, written, lexicon.words(text)) for text in references]
            best.append(max(options, key=lambda row: _finish(chosen, row)))
        return best

    def how() -> str:
        stems = f"{stemmer}*{chosen.stem:g}" if stemmer else "off"
        synonyms = f"wordnet*{chosen.synonym:g}" if language == "en" and wordnet() else "off"
        numbers = "|".join(f"{name}:{getattr(chosen, name):g}" for name in ("alpha", "beta", "gamma", "delta"))
        stages = f"stem:{stems}|synonym:{synonyms}|paraphrase:off"
        return f"case:lc|norm:NFC|tok:13a|ref:best|lang:{language}|{stages}|{numbers}|range:0-1"

    return Summed(rows, lambda total: _finish(chosen, total), how)


class _Word(NamedTuple):
    """Everything a word can be paired by, and its worth."""

    form: str
    stem: str  # the form itself in languages without a stemmer
    meanings: frozenset[Synset]
    worth: float


_WORTH = attrgetter("worth")


class _Lexicon(dict[str, _Word]):
    """Words met so far, each looked up once, and which of them pair."""

    def __init__(
        self, parameters: Parameters, stemmer: str | None, meanings: WordNet | None, functions: frozenset[str]
    ) -> None:
        super().__init__()
        self.parameters, self.stemmer, self.meanings, self.functions = parameters, stemmer, meanings, functions

    def words(self, text: str) -> list[_Word]:
        """Return the tokens of a text, in lower case."""
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
        """Return, for each output word, the places of reference words it may pair with, and the weight of each pair.

        The weight is that of the first stage at which the two match.
        """
        places: dict[str, list[int]] = defaultdict(list)
        for place, word in enumerate(wanted):
            places[word.stem].append(place)
        result = []
        for word in written:
            choices: dict[int, float] = {}
            for place in places.get(word.stem, ()):
                choices[place] = 1.0 if wanted[place] is word else self.parameters.stem  # each word is one object
            result.append(choices)
        if self.meanings:
            self._add_synonyms(result, written, wanted)
        return result

    def _add_synonyms(
        self, result: Sequence[dict[int, float]], written: Sequence[_Word], wanted: Sequence[_Word]
    ) -> None:
        for choices, word in zip(result, written, strict=True):
            for place, other in enumerate(wanted):
                if not word.meanings.isdisjoint(other.meanings):
                    choices.setdefault(place, self.parameters.synonym)


def _row(lexicon: _Lexicon, written: Sequence[_Word], wanted: Sequence[_Word]) -> Row:
    """Return the worth of paired and of all words on either side; chunks, pairs, unpaired words, sentences."""
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
