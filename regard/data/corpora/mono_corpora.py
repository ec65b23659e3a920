"""Training corpora made from texts of one language, and the weights of all corpora."""

from collections.abc import Sequence
from pathlib import Path

from regard.data.corpora.mono import Mono
from regard.data.corpora.options import Corpus, PairData


def mono_files(folder: Path, number: int) -> tuple[Path, Path]:
    """Return the files of both sides that a model wrote from text `number`, next to the prepared corpus `folder`."""
    place = folder.resolve()
    made = place.with_name(f"{place.name}.mono")
    return made / f"{number}.source", made / f"{number}.target"


def with_mono(options: PairData, folder: Path) -> PairData:
    """Return data whose training corpora include those made from texts of one language."""
    made = [_corpus(text, folder, number) for number, text in enumerate(options.mono, 1)]
    return options.model_copy(update={"train": [*options.train, *made], "mono": []}) if made else options


def _corpus(text: Mono, folder: Path, number: int) -> Corpus:
    if text.way == "copy":
        return Corpus(source=text.file, target=text.file, held_out=False, tagged=text.is_tagged)
    source, target = mono_files(folder, number)
    return Corpus(source=str(source), target=str(target), held_out=False, tagged=text.is_tagged)


def corpus_weights(options: PairData, counts: Sequence[int]) -> list[float | None]:
    """Return the weights of all corpora, those of texts of one language last, given the numbers of their pairs.

    None counts a corpus by its size. A share of s is a weight of s / (1 - all shares) times that of everything else.
    """
    weights = [corpus.weight for corpus in options.train]
    shares = [text.share for text in options.mono]
    if not any(shares):
        return [*weights, *shares]
    plain = [*weights, *(None if share is None else 0.0 for share in shares)]
    known = [count if weight is None else weight for weight, count in zip(plain, counts, strict=True)]
    scale = sum(known) / (1 - sum(share or 0.0 for share in shares))
    given = [None] * len(weights) + shares
    return [weight if share is None else share * scale for weight, share in zip(known, given, strict=True)]
