"""Take the first pairs of large corpora, for a quick look at the result."""

from itertools import islice
from pathlib import Path

from regard.base.progress import Remark
from regard.data.corpora.options import TAB, Corpus, PairData
from regard.data.corpora.prepared import is_prepared
from regard.data.corpora.text import read_pairs

LOOKED_AT = 5_000  # pairs of a corpus; these are prepared in a second


def first_pairs(data: PairData, folder: Path, remark: Remark) -> PairData:
    """Write the first pairs of each training corpus into `folder` and return data that names them, unless prepared."""
    if data.prepared and is_prepared(Path(data.prepared).expanduser()):
        return data
    train = [_first_of(corpus, folder, str(number)) for number, corpus in enumerate(data.train)]
    if data.mono:
        remark("texts of one language (data.mono) are left out here; their pairs are made when the training begins")
        data = data.model_copy(update={"mono": []})
    if train == data.train:
        return data
    remark(
        f"the data is not prepared yet, so this covers the first {LOOKED_AT:,} pairs of each corpus, which "
        "may have a smaller vocabulary than the whole"
    )
    return data.model_copy(update={"prepared": None, "train": train})


def _first_of(corpus: Corpus, folder: Path, name: str) -> Corpus:
    """Return a corpus of the first pairs, or the corpus itself if it has no more."""
    pairs = list(islice(read_pairs(corpus), LOOKED_AT + 1))
    if len(pairs) <= LOOKED_AT:
        return corpus
    files = {side: folder / f"{name}.{side}" for side in ("source", "target")}
    for file, texts in zip(files.values(), zip(*pairs[:LOOKED_AT], strict=True), strict=True):
        file.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    plain = {"pairs": None, "columns": None, "separator": TAB, "form": None}
    return corpus.model_copy(update=plain | {side: str(file) for side, file in files.items()})
