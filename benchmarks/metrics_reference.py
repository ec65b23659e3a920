"""Our metrics beside published values, on the outputs of the data set metrics-reference.

Run it with `.venv/bin/python benchmarks/metrics_reference.py` after `regard data get metrics-reference --from DIR`, and
with the data set wordnet where METEOR is to have its synonyms. It prints the table that stands in docs/ledger.md.

The values of ROUGE are those that ROUGE-1.5.5 printed, in the middle of its bootstrap, as google-research's tests hold
them; those of METEOR (the Java program, version 1.5) and CIDEr are nlg-eval's, those of BLEU and chrF sacreBLEU's own.
"""

import argparse
import statistics
import tarfile
from collections.abc import Iterator
from pathlib import Path

from regard.data.catalogue.entries import locate
from regard.data.lines import read_lines
from regard.metrics import score
from regard.metrics.cider import cider
from regard.metrics.ngrams import words
from regard.metrics.rouge import COMPARISONS, stemmed_words

Row = tuple[str, str, str, float]  # what, on what, published with its digits, ours
PARTS = ("precision", "recall", "f1")


def place(path: str) -> Path:
    return locate(f"metrics-reference:{path}")


def lines(path: str) -> list[str]:
    return list(read_lines(place(path)))


def translations() -> Iterator[Row]:
    """Two systems of WMT 2017, English to German."""
    folder = "wmt17-en-de-systems/"
    reference = lines(f"{folder}reference.txt.gz")
    for system, bleu, chrf in (("online-A.0", "20.8", "52.0"), ("uedin-nmt.4722", "28.3", "57.7")):
        outputs = lines(f"{folder}newstest2017.{system}.en-de.txt.gz")
        yield "bleu", system, bleu, score(outputs, reference, "bleu").value
        yield "chrf", system, chrf, score(outputs, reference, "chrf").value


def summaries() -> Iterator[Row]:
    """ROUGE's precision, recall and F, of words and of stems."""
    pair = lines("rouge-testdata/prediction_large.txt"), lines("rouge-testdata/target_large.txt")
    yield from rouge_rows("rouge1", "large", pair, ("0.49879", "0.31950", "0.38554"), stemmed=False)
    yield from rouge_rows("rouge1", "large", pair, ("0.52434", "0.33580", "0.40524"))
    yield from rouge_rows("rougeL", "large", pair, ("0.52104", "0.33377", "0.40275"))
    texts = of_many_lines()
    pair = tuple([texts[f"{side}_multi.{number}.txt"] for number in range(250)] for side in ("prediction", "target"))
    yield from rouge_rows("rouge1", "multi", pair, ("0.59877", "0.38091", "0.46411"))
    yield from rouge_rows("rouge2", "multi", pair, ("0.36516", "0.23109", "0.28209"))
    yield from rouge_rows("rougeLsum", "multi", pair, ("0.59491", "0.37846", "0.46113"))


def rouge_rows(
    kind: str, name: str, pair: tuple[list[str], ...], published: tuple[str, ...], stemmed: bool = True
) -> Iterator[Row]:
    cut = stemmed_words if stemmed else words
    found = [COMPARISONS[kind](cut, written, wanted) for written, wanted in zip(*pair, strict=True)]
    for part, value in zip(PARTS, published, strict=True):
        ours = statistics.mean(getattr(overlap, part) for overlap in found)
        yield f"{kind} {part}, {'stems' if stemmed else 'words'}", name, value, ours


def of_many_lines() -> dict[str, str]:
    """The files of the folder pyrouge_files, whether it is packed or not."""
    folder = place("rouge-testdata/pyrouge_files")
    if folder.is_dir():
        return {path.name: path.read_text(encoding="utf-8") for path in folder.rglob("*.txt")}
    with tarfile.open(folder) as archive:
        members = [(Path(member.name).name, archive.extractfile(member)) for member in archive if member.isfile()]
        return {name: stream.read().decode("utf-8") for name, stream in members if stream}


def captions() -> Iterator[Row]:
    """nlg-eval's two sentences with two references each, and its single one."""
    outputs = lines("nlg-eval/hyp.txt")
    references = [lines("nlg-eval/ref1.txt"), lines("nlg-eval/ref2.txt")]
    yield "cider (D)", "nlg-eval", "1.242192", score(outputs, references, "cider").value
    yield "cider (plain, times ten)", "nlg-eval", "1.242192", 10 * cider(clipped=False)(outputs, references)[0]
    pairs = score(outputs, references, "meteor")
    synonyms = "without" if "synonym:off" in pairs.signature else "with"
    yield f"meteor, {synonyms} synonyms", "nlg-eval", "0.295797", pairs.value
    single = score(["this is a good test"], [["this is a test"], ["this is also a test"]], "meteor")
    yield f"meteor, {synonyms} synonyms", "nlg-eval, single", "0.444344", single.value


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    print("| metric | outputs | published | ours | difference |\n| --- | --- | ---: | ---: | ---: |")
    for what, where, published, ours in [*translations(), *summaries(), *captions()]:
        digits = len(published.partition(".")[2])
        gap = round(ours, digits) - float(published)
        print(f"| {what} | {where} | {published} | {ours:.{digits}f} | {gap:+.{digits}f} |")


if __name__ == "__main__":
    main()
