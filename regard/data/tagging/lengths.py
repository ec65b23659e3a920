"""The longest sentences that a tagger reads."""

from collections.abc import Mapping

from regard.base.faults import Fault


def refuse_longer(words: int, pieces: int, what: str, limits: Mapping[str, int], most_pieces: int | None) -> None:
    """Refuse a sentence with more words than the lowest of the limits, which are named, or with more word pieces."""
    if most_pieces is not None and pieces > most_pieces:
        raise Fault(f"{what} of {pieces:,} word pieces, but this model reads {most_pieces:,} at most (model.longest).")
    name = min(limits, key=limits.__getitem__)
    if words > limits[name]:
        raise Fault(f"{what} of {words:,} words, but this model reads {limits[name]:,} at most ({name}).")
