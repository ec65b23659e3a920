"""The tokeniser of words to be inflected: `walk V;PST` is the letters of walk, and then the features V and PST.

Features stand behind the last space, with semicolons between them, as UniMorph and SIGMORPHON write them. A feature is
a token that no letter is: its name begins with a semicolon, so that the letter V and the feature V are two.
"""

from collections.abc import Iterator, Sequence

from regard.data.tokenisers.symbols import SILENT
from regard.data.tokenisers.words import WordTokeniser

_MARK = ";"


def split_features(text: str) -> list[str]:
    """Return the letters of a lemma and its features, each with its mark; a text without a space is letters alone."""
    lemma, space, features = text.strip().rpartition(" ")
    if not space:
        return list(features)
    return [*lemma, *(f"{_MARK}{feature}" for feature in features.split(_MARK) if feature)]


class FeatureTokeniser(WordTokeniser):
    """Letters and features as tokens; those that no training text has are unknown, and lost."""

    split = staticmethod(split_features)

    def _fragments(self, tokens: Sequence[int]) -> Iterator[str]:
        has_features = False
        for token in tokens:
            text = "" if token in SILENT else self._look_up(self._written, token)
            is_feature = len(text) > 1 and text.startswith(_MARK)
            yield f" {text[1:]}" if is_feature and not has_features else text
            has_features = has_features or is_feature
