"""Truth of translators: the source words that a word translates, as the demo's grammars know them."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from regard.data.demo import DEMO
from regard.data.demo.corpus import SPLITS, LinkedPair, demo_sentences, linked_pair
from regard.data.demo.filled_patterns import DemoSentence
from regard.data.generated.corpora import generator_of
from regard.loading import Loaded
from regard.seeing.pair_reports import token_words
from regard.seeing.trust.known import KnownDecision
from regard.seeing.why.decision import Question
from regard.tasks.translation.task import Translation


@dataclass(frozen=True)
class WordLinks:
    """The true units of a token are the tokens of all source words linked to its word.

    A pronoun also needs its antecedent, which decides its gender. In a corpus of pronouns, only they are asked for.
    """

    task: Translation
    corpus: str  # demo, demo-ru, …

    @property
    def name(self) -> str:
        language = "Russian" if self.corpus.endswith("-ru") else "Portuguese"
        return f"{'pronouns and antecedents' if 'pronouns' in self.corpus else 'word links'}, {language}"

    @classmethod
    def of(cls, model: Loaded) -> "WordLinks | None":
        """Return the truth of a translator that was trained on one of the demo's corpora."""
        data = model.recipe.data
        corpora = {generator_of(name) for corpus in data.train for name in corpus.names}
        (corpus,) = corpora if len(corpora) == 1 else (None,)
        return cls(model.task, corpus) if corpus in DEMO else None

    def decisions(self) -> Iterator[KnownDecision]:
        """Yield one word of each test pair, by turns an earlier or a later one."""
        for number, sentence in enumerate(_sentences_by_source(self.corpus, "test").values()):
            pair = linked_pair(sentence)
            words = sorted(self._words(pair))
            if words:
                word = words[number % len(words)]
                target_words = token_words(self.task.target_for(pair.source), pair.target)
                yield KnownDecision(pair.source, pair.target, target_words.index(word))

    def units(self, item: Any, question: Question) -> frozenset[int] | None:
        text, output = question.text.strip(), question.output.strip()
        found = (_sentences_by_source(self.corpus, split).get(text) for split in reversed(SPLITS))
        sentence = next(filter(None, found), None)
        if sentence is None or sentence.target.text != output:
            return None
        pair = linked_pair(sentence)
        target_words = token_words(self.task.target_for(text), output)
        words = {target_words[place] for place in question.queries or () if place < len(target_words)}
        sources = frozenset().union(*(source_words(pair, word) for word in words))
        return frozenset(
            unit for unit, word in enumerate(token_words(self.task.source_for(text), text)) if word in sources
        )

    def _words(self, pair: LinkedPair) -> set[int]:
        """Return the target words to ask for: those with a sure link; in a corpus of pronouns, only pronouns."""
        words = {target for _, target in pair.links.sure}
        if "pronouns" in self.corpus:
            words &= {pronoun for pronoun, _ in pair.target_roles.get("antecedent", ())}
        return words


def source_words(pair: LinkedPair, word: int) -> frozenset[int]:
    """Return the source words that decide a target word: those linked to it, and the antecedents of a pronoun.

    A word without a sure link has none.
    """
    if word not in {target for _, target in pair.links.sure}:
        return frozenset()
    linked = {source for source, target in (*pair.links.sure, *pair.links.possible) if target == word}
    is_pronoun = word in {pronoun for pronoun, _ in pair.target_roles.get("antecedent", ())}
    antecedents = {noun for _, noun in pair.source_roles.get("antecedent", ())} if is_pronoun else set()
    return frozenset(linked | antecedents)


@cache
def _sentences_by_source(corpus: str, split: str) -> dict[str, DemoSentence]:
    return {sentence.source.text: sentence for sentence in demo_sentences(split, corpus)}
