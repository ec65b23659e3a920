"""Labels of the words in generated sentences: tag, number, gender, position and links.

Number and gender belong to a whole phrase, so an article has those of its noun, even in English, which shows neither.
A verb has the number of its subject. Gender is that of the language that the corpus translates into.
"""

from collections.abc import Sequence

from regard.data.demo.corpus import demo_sentences
from regard.data.demo.filled_patterns import DemoSentence
from regard.data.demo.noun_phrases import Phrase
from regard.data.demo.wording import PHRASES, SECOND, Word, Wording, roles
from regard.data.word_labels import GENDER, NUMBER, POSITION, TAGS, LabelledSentence, positions

CORPORA = {"pt": "demo", "ru": "demo-ru"}  # by the language that English is translated into
ENGLISH = "en"
_HELPERS = ("do", "does", "did")
_GENDERS = {"m": "masculine", "f": "feminine", "n": "neuter"}
# Tags of words by the last part of their meaning; the noun of a phrase may also be a pronoun or a name.
_PARTS = {
    "adjective": "adjective",
    "determiner": "determiner",
    "article": "determiner",
    "owner-determiner": "determiner",
    "number": "numeral",
    "preposition": "preposition",
    "owner-of": "preposition",
    "noun-and": "conjunction",
    "and": "conjunction",
    "because": "conjunction",
    "verb": "verb",
    "action": "verb",
    "future": "auxiliary",
    "not": "negation",
    "time": "adverb",
    "adverb": "adverb",
    "very": "adverb",
    "old": "adjective",
    "years": "noun",
    "where": "question word",
    "when": "question word",
    "why": "question word",
    "what": "question word",
}
_AGREEING = ("noun", "adjective", "determiner", "article", "number")  # parts with the number and gender of the phrase
_OF_OWNERS = ("owner", "owner-determiner")


def labelled_pairs(
    split: str, corpus: str = "demo", count: int | None = None
) -> list[tuple[LabelledSentence, LabelledSentence]]:
    """Return both sides of the pairs of a split, or of the first `count`, with the labels of their words."""
    is_russian = corpus.endswith("-ru")
    return [
        (_labelled(sentence, sentence.source, is_russian), _labelled(sentence, sentence.target, is_russian))
        for sentence in demo_sentences(split, corpus, count)
    ]


def _labelled(sentence: DemoSentence, wording: Wording, is_russian: bool) -> LabelledSentence:
    words, phrases = wording.words, [_phrase(word, sentence, wording) for word in wording.words]
    labels: dict[str, Sequence[str | None]] = {
        TAGS: [_tag(word, sentence) for word in words],
        NUMBER: [phrase and _number(phrase) for phrase in phrases],
        GENDER: [
            None if phrase is None or _has(word, "verb") else _gender(phrase, is_russian)
            for word, phrase in zip(words, phrases, strict=True)
        ],
        POSITION: positions(len(words)),
    }
    return LabelledSentence(wording.text, wording.text.split(), labels, roles(wording))


def _tag(word: Word, sentence: DemoSentence) -> str | None:
    """Return the part of speech; None for words that belong to none of them, such as the *there* of *there is*."""
    for meaning in word.means:
        name, _, inside = meaning.partition("/")
        slot, _, part = name.removeprefix(SECOND).rpartition(".")
        if part in ("noun", "owner") and slot:
            phrase = sentence.phrases[name.rpartition(".")[0]]
            owner = phrase.owner if part == "owner" else phrase
            assert owner is not None
            return "pronoun" if owner.pronoun else "name" if owner.names else "noun"
        if part == "time" and inside:  # a part of *last week*, which is no adverb by itself
            return None
        if part == "not" and word.near:
            return "auxiliary"  # didn't
        if part in _PARTS:
            return _PARTS[part]
    if any(name.endswith(".preposition") for name in word.near):
        return "preposition"
    return "auxiliary" if word.text.lower() in _HELPERS else None


def _phrase(word: Word, sentence: DemoSentence, wording: Wording) -> Phrase | None:
    """Return the phrase whose number and gender the word has; None if it has none, or is one of two names."""
    for meaning in word.means:
        clause = SECOND if meaning.startswith(SECOND) else ""
        slot, _, part = meaning.removeprefix(clause).rpartition(".")
        if not slot and part in ("verb", "adjective"):
            subject = wording.subjects[bool(clause)] if part == "verb" else "subject.noun"
            return sentence.phrases.get(clause + subject.removesuffix(".noun"))
        if slot in PHRASES and part in _OF_OWNERS:
            return sentence.phrases[clause + slot].owner
        if slot in PHRASES and part.partition("/")[0] in _AGREEING:
            phrase = sentence.phrases[clause + slot]
            return None if len(phrase.names) > 1 else phrase
    return None


def _has(word: Word, meaning: str) -> bool:
    return any(name.removeprefix(SECOND) == meaning for name in word.means)


def _number(phrase: Phrase) -> str:
    return "plural" if phrase.plural else "singular"


def _gender(phrase: Phrase, is_russian: bool) -> str | None:
    """Return the gender of a phrase in the language that is translated into; None if it could be any."""
    named = phrase.antecedent or phrase
    if is_russian and named.noun:
        from regard.data.demo.russian_entries import russian_lexicon

        return _GENDERS.get(russian_lexicon().nouns[named.noun.name].gender)
    return None if phrase.feminine is None else "feminine" if phrase.feminine else "masculine"
