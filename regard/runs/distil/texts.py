"""The text that is taught: sentences of a file or of the teacher's own training text, with references if known."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from regard.base.checksums import are_whole, damage
from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.base.files import whole_file
from regard.base.progress import Progress, Remark
from regard.data.corpora.cleaning import learnt_mask
from regard.data.corpora.languages import find_language
from regard.data.corpora.memories import is_memory
from regard.data.corpora.options import Corpus
from regard.data.corpora.pieces import judged_pieces, strip_pairs
from regard.data.corpora.prepare import prepare
from regard.data.corpora.prepared import CorpusLayout, is_prepared, read_valid
from regard.data.corpora.text import file_of, input_names, read_pairs
from regard.data.lines import read_lines
from regard.data.tables.formats import kind_by_name
from regard.runs.distil.request import DistilRequest, Teacher
from regard.runs.open import data_folder
from regard.tasks.translation.options import TranslationRecipe

CHUNK = 20_000  # lines that are read and tokenised at once
IDENTIFIED = 2_000  # lines whose language is identified

Sentence = tuple[str, str | None]  # a source, and its reference if known


class TaughtFiles(NamedTuple):
    """Files of the taught text: each source once, and all pairs if references are known."""

    sources: Path
    pairs: tuple[Path, Path]
    valid: tuple[Path, Path]

    @classmethod
    def within(cls, folder: Path) -> "TaughtFiles":
        pairs, valid = ((folder / f"{name}.source", folder / f"{name}.target") for name in ("pairs", "valid"))
        return cls(folder / "sources.txt", pairs, valid)


def write_text(
    request: DistilRequest, teacher: Teacher, files: TaughtFiles, progress: Progress, remark: Remark
) -> None:
    """Write the files of the taught text, unless that was done; `sources` is the last."""
    if files.sources.exists():
        return
    is_own = request.text is None
    prepared = _prepared(teacher, files.sources.parent / "corpus", progress, remark, needed=is_own)
    if not teacher.recipe.data.valid and prepared is not None:
        write_sides(files.valid, read_valid(prepared))
    if is_own:
        assert prepared is not None
        sentences: Iterable[Sentence] = _learnt_pairs(teacher.recipe, prepared)
    else:
        sentences = list(_file_sentences(request, teacher))
        _check_languages(request, teacher, sentences)
    _write_sentences(sentences, teacher, files, remark, str(request.text or teacher.folder))


def _prepared(teacher: Teacher, place: Path, progress: Progress, remark: Remark, needed: bool) -> Path | None:
    """Return the teacher's prepared corpus: that of its run, or one made here if its files exist; None without any.

    It knows which pairs are learnt, and which are held out for validation.
    """
    data, own = teacher.recipe.data, data_folder(teacher.recipe, teacher.folder)
    if is_prepared(own):
        return own
    names = [name for corpus in data.train for name in input_names(corpus)]
    missing = [name for name in names if not file_of(name).exists()]
    if missing and needed:
        raise Fault(
            f"The training text of {teacher.folder} is gone: there is no {missing[0]}; name sentences with --text."
        )
    if missing or not (needed or not data.valid):
        return None
    prepare(data.model_copy(update={"prepared": None}), place, progress, teacher.tokenisers, remark)
    return place


def _learnt_pairs(recipe: TranslationRecipe, prepared: Path) -> Iterator[Sentence]:
    """Yield the pairs that the teacher learnt from, without those that were dropped or held out."""
    layout = CorpusLayout(prepared)
    if not are_whole(layout.judged):
        raise damage(layout.fates, prepared)
    fates = np.load(layout.fates)
    for piece in judged_pieces(recipe.data.train, fates, CHUNK):
        pairs = strip_pairs(piece.chunk)
        yield from (pairs[position] for position in np.flatnonzero(learnt_mask(piece.fates)))


def _file_sentences(request: DistilRequest, teacher: Teacher) -> Iterator[Sentence]:
    """Yield the sentences of the user's files: lines, or the pairs of a table."""
    text, reference = request.text, request.reference
    assert text is not None
    if reference is not None:
        yield from read_pairs(Corpus(source=str(text.resolve()), target=str(reference.resolve())))
    elif kind_by_name(text.name) is not None:
        columns = list(teacher.languages) if is_memory(text.name) else None
        yield from read_pairs(Corpus(pairs=str(text.resolve()), columns=columns))
    else:
        yield from ((line, None) for line in read_lines(text))


def _check_languages(request: DistilRequest, teacher: Teacher, sentences: list[Sentence]) -> None:
    """Refuse text in another language than the teacher reads, as far as that can be told."""
    if not any(source.strip() for source, _ in sentences):
        raise Fault(f"{request.text} has no sentences.")
    if request.targets in ("nearest", "reference") and sentences[0][1] is None:
        raise Fault(f"--targets {request.targets} needs references; give them with --reference, or pairs as --text.")
    sides = zip(
        ("--text", "--reference"), teacher.languages, zip(*islice(sentences, IDENTIFIED), strict=True), strict=True
    )
    for option, language, lines in sides:
        found = find_language([line for line in lines if line]) if len(language) == 2 else None
        if found is not None and found != language:
            raise Fault(
                f"The text of {option} seems to be in the language '{found}', but {teacher.folder} translates "
                f"{'-'.join(teacher.languages)}; give text in '{language}'."
            )


def _write_sentences(
    sentences: Iterable[Sentence], teacher: Teacher, files: TaughtFiles, remark: Remark, name: str
) -> None:
    """Write sources once each, and pairs; drop what is empty or too long for the teacher."""
    longest = min(teacher.recipe.model.longest - 1, teacher.recipe.data.cleaning.longest)
    seen, counts, stream = dict[str, bool](), {"read": 0, "empty": 0, "too long": 0}, iter(sentences)
    with (
        whole_file(files.sources) as sources,  # the first to open is the last to appear
        whole_file(files.pairs[0]) as pair_sources,
        whole_file(files.pairs[1]) as pair_targets,
    ):
        while chunk := [(_line(source), _line(target or "")) for source, target in islice(stream, CHUNK)]:
            new = [source for source in dict.fromkeys(source for source, _ in chunk) if source not in seen]
            lengths = zip(new, teacher.tokenisers[0].encode_all(new), strict=True)
            seen |= {source: 0 < len(tokens) <= longest for source, tokens in lengths}
            sources.writelines(f"{source}\n".encode() for source in new if seen[source])
            for source, target in chunk:
                counts["read"] += 1
                counts["empty"] += not source
                counts["too long"] += bool(source) and not seen[source]
                if seen[source] and target:
                    pair_sources.write(f"{source}\n".encode())
                    pair_targets.write(f"{target}\n".encode())
        if not any(seen.values()):
            raise Fault(f"{name} has no sentence that {teacher.folder} can read, of at most {longest} tokens.")
    dropped = ", ".join(f"{counts[why]:,} {why}" for why in ("empty", "too long") if counts[why])
    remark(
        f"{quantity(sum(seen.values()), 'sentence')} to teach, from {quantity(counts['read'], 'line')} of {name}"
        + (f" ({dropped})" if dropped else "")
    )


def write_sides(files: tuple[Path, Path], pairs: Iterable[tuple[str, str]]) -> None:
    """Write pairs as two files of parallel lines."""
    with whole_file(files[0]) as sources, whole_file(files[1]) as targets:
        for source, target in pairs:
            sources.write(f"{_line(source)}\n".encode())
            targets.write(f"{_line(target)}\n".encode())


def _line(text: str) -> str:
    return " ".join(text.split("\n")).strip()
