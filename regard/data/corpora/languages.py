"""Identify the language of text by its letters (Lui and Baldwin 2012, langid).

Short texts mislead, so many lines decide together: they are joined into pieces, and nearly all of these must agree.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from regard.base.faults import Fault

PIECE = 200  # characters at least; with fewer, related languages are confused
MOST_PIECES = 40
FEWEST_PIECES = 2
AGREEING = 0.75  # share of the pieces
NO_LANGUAGE = "zxx"  # the ISO 639 code for text in no language


def two_languages(languages: str) -> tuple[str, str]:
    """Return the codes of --languages, as in en-pt."""
    source, hyphen, target = languages.partition("-")
    if not (hyphen and source and target):
        raise Fault(f"--languages is '{languages}', expected two codes with a hyphen, as in en-pt.")
    return source, target


def identifier_of(languages: Sequence[str] | None = None) -> Any:
    """Return an identifier that ranks languages by probability: those given, or all with two-letter codes."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    labels = set(identifier.labels)
    usual = {label for label in labels if len(label) == 2} | {NO_LANGUAGE}
    chosen = labels & (usual if languages is None else set(languages))
    identifier.set_languages(chosen)
    return identifier if chosen else None


def find_language(lines: Iterable[str]) -> str | None:
    """Return the code of the language of some lines, or None if they are too few or disagree."""
    pieces = _pieces(lines)
    if len(pieces) < FEWEST_PIECES:
        return None
    votes = Counter(_every_language().rank(piece)[0][0] for piece in pieces)
    (best, count), *_ = votes.most_common()
    return best if best != NO_LANGUAGE and count >= AGREEING * len(pieces) else None


def _pieces(lines: Iterable[str]) -> list[str]:
    """Return lines with letters, joined into pieces long enough to identify a language."""
    pieces, piece = [], ""
    for line in lines:
        if sum(map(str.isalpha, line)) * 2 < len(line):
            continue
        piece = f"{piece} {line}".strip()
        if len(piece) >= PIECE:
            pieces.append(piece)
            piece = ""
        if len(pieces) == MOST_PIECES:
            break
    return pieces


@cache
def _every_language() -> Any:
    return identifier_of()
