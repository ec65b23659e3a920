"""Sentences of the demo corpus that are specified rather than drawn: `always` in `splits.toml`."""

from collections.abc import Sequence

from regard.base.faults import Fault
from regard.base.recipe import Options
from regard.data.demo.entries import Lexicon
from regard.data.demo.noun_phrases import Phrase, pronoun_phrase
from regard.data.demo.patterns import Pattern
from regard.data.demo.scenes import DemoScene


class NounSketch(Options):
    """A noun with its determiner, and perhaps an adjective."""

    determiner: str
    noun: str
    adjective: str | None = None
    plural: bool = False

    def phrase(self, lexicon: Lexicon) -> Phrase:
        noun = lexicon.nouns[self.noun]
        return Phrase(
            noun,
            plural=self.plural,
            feminine=noun.feminine,
            forms=(2, 3) if self.plural else (1, 1),
            determiner=lexicon.words.determiners[self.determiner],
            adjective=lexicon.adjectives[self.adjective] if self.adjective else None,
        )


class Sketch(Options):
    """A sentence in the present: the English template of its pattern, and its content.

    A subject or object is a noun, the name of a pronoun, or a person's name.
    """

    pattern: str
    subject: NounSketch | str
    verb: str | None = None
    object: NounSketch | str | None = None
    adjective: str | None = None

    def scene(self, lexicon: Lexicon, patterns: Sequence[Pattern]) -> DemoScene:
        """Return the scene that the sketch describes."""
        pattern = next((candidate for candidate in patterns if candidate.english == self.pattern), None)
        if pattern is None:
            raise Fault(f"splits.toml: patterns.toml has no pattern '{self.pattern}'.")
        scene = DemoScene(pattern, "present")
        try:
            scene.put("subject", _phrase(self.subject, lexicon))
            if self.object is not None:
                scene.put("object", _phrase(self.object, lexicon))
            if self.verb is not None:
                scene.verb = lexicon.verbs[self.verb]
            if self.adjective is not None:
                scene.adjective = lexicon.adjectives[self.adjective]
                scene.copula = scene.adjective.copula
        except KeyError as missing:
            raise Fault(f"splits.toml: the grammar has no {missing}, which a sentence of 'always' needs.") from None
        return scene


def _phrase(sketch: NounSketch | str, lexicon: Lexicon) -> Phrase:
    if isinstance(sketch, NounSketch):
        return sketch.phrase(lexicon)
    if sketch not in lexicon.words.pronouns:
        names = lexicon.words.names
        if sketch not in (*names.feminine, *names.masculine):
            raise KeyError(sketch)
        return Phrase(names=(sketch,), feminine=sketch in names.feminine)
    return pronoun_phrase(lexicon.words, sketch)
