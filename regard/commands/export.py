"""`regard export`: write a model for other tools or for a fast engine."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from regard.base.faults import Fault
from regard.base.places import find_place
from regard.base.rows import EXPORTS, FORMATS
from regard.console import console_progress, refuse_existing, remark
from regard.verbs.words import options as word_options

if TYPE_CHECKING:
    from regard.data.vectors.files import Format
    from regard.engines.ctranslate2.export import Quantisation as CTranslate2Numbers
    from regard.engines.onnx.export import Quantisation
    from regard.engines.shortlist import Shortlist
    from regard.loading import Loaded
    from regard.verbs.words.request import VectorSide

_VECTORS = ("word2vec", "word2vec-binary", "glove", "fasttext")
_NGRAMS = ("arpa", "mapped")
_FILES = ("html", *_NGRAMS, *_VECTORS)  # formats that are one file rather than a folder


def _check_format(name: str) -> str:
    if name not in EXPORTS:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(map(repr, EXPORTS))}.")
    return name


_To = Annotated[
    str,
    typer.Option("--to", metavar=f"<{'|'.join(FORMATS)}>", help="Format to write.", callback=_check_format),
]
_Out = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--out",
        help="Folder to write, or file for html, n-grams and word vectors; ctranslate2 and onnx default to the model "
        "folder.",
    ),
]
_Numbers = Literal["int4", "int8", "int16", "float16", "bfloat16", "float32"]
_NUMBERS = {  # that a format can have, the default first
    "ctranslate2": ("int8", "int16", "float16", "bfloat16", "float32"),
    "onnx": ("float32", "int8", "int4"),
    "html": ("int8", "int4"),
}
_Quantisation = Annotated[
    _Numbers | None,
    typer.Option(
        help="Number format of the weights for ctranslate2, for onnx (int4, int8, float32), or for html (int4, int8).",
        show_default="int8; float32 for onnx",
    ),
]
_Shortlist = Annotated[
    bool,
    typer.Option("--shortlist", help="Restrict outputs to tokens that the training data has seen as translations."),
]
_Runtime = Annotated[
    Path | None,
    typer.Option(
        "--runtime",
        help="The npm package onnxruntime-web for html, as a folder or .tgz file; otherwise it is downloaded once.",
        show_default=False,
    ),
]


def command(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    to: _To,
    out: _Out = None,
    quantisation: _Quantisation = None,
    shortlist: _Shortlist = False,
    side: word_options.Side = None,
    runtime: _Runtime = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier export.")] = False,
) -> None:
    """Export MODEL for CTranslate2 or ONNX, which `regard translate` then uses, or for other tools.

    html is one file with a model and a page that runs it in a browser, without server or network.
    The other formats are Marian, GPT-2 and BERT in Hugging Face's layout, ARPA files, and word vectors in the formats
    of word2vec, GloVe and fastText. A mapped file holds an n-gram model that other commands open instantly.
    """
    _check_options(to, quantisation, shortlist, side, runtime)
    place = _place(model, to, out)
    if write := EXPORTS[to].write:
        _write_outside(write, model, place, to, overwrite)
        return
    match to:
        case "html":
            rounding: Literal["int4", "int8"] = "int4" if quantisation == "int4" else "int8"
            _write_html(model, place, runtime, shortlist, overwrite, rounding)
        case "arpa" | "mapped":
            _write_ngrams(model, place, to, overwrite)
        case "word2vec" | "word2vec-binary" | "glove" | "fasttext":
            _write_vectors(model, place, to, side, overwrite)
        case _:
            _write_folder(model, place, to, quantisation, shortlist, overwrite)


def _write_folder(
    model: Path, place: Path, to: str, quantisation: _Numbers | None, shortlist: bool, overwrite: bool
) -> None:
    from regard.engines.folders import FOLDERS, check_replaceable

    if model.resolve().is_relative_to(place.resolve()):
        raise Fault(f"{place} is or contains the model itself; write the export elsewhere.")
    check_replaceable(place, FOLDERS[to])
    refuse_existing(place, overwrite)
    match to:
        case "ctranslate2":
            from regard.engines.ctranslate2.export import export_ctranslate2

            with console_progress() as progress:
                export_ctranslate2(
                    model, place, cast("CTranslate2Numbers", quantisation or "int8"), shortlist, progress
                )
        case "marian":
            from regard.engines.marian.export import export_marian
            from regard.verbs.translate.model import load_translation_model

            export_marian(load_translation_model(model, device="cpu"), place, remark)
        case "gpt2":
            from regard.engines.gpt2.export import export_gpt2
            from regard.model import load

            export_gpt2(load(model, device="cpu"), place, remark)
        case "bert":
            from regard.engines.bert.export import export_bert
            from regard.model import load

            export_bert(load(model, device="cpu"), place)
        case "onnx":
            _write_onnx(model, place, cast("Quantisation", quantisation or "float32"), shortlist)
    remark(f"{place} is {model} for {to}")


def _check_options(
    to: str, quantisation: str | None, shortlist: bool, side: "VectorSide | None", runtime: Path | None
) -> None:
    """Refuse options that have no effect for a format."""
    if to not in _NUMBERS and quantisation:
        raise Fault(f"--quantisation is for ctranslate2, onnx and html and has no effect for {to}.")
    if quantisation and quantisation not in _NUMBERS[to]:
        *some, last = _NUMBERS[to]
        raise Fault(f"--quantisation is '{quantisation}', but for {to} it is {', '.join(some)} or {last}.")
    if to not in ("ctranslate2", "onnx", "html") and shortlist:
        raise Fault(f"--shortlist is for ctranslate2, onnx and html and has no effect for {to}.")
    if to not in _VECTORS and side:
        raise Fault(f"--side is for word vectors and has no effect for {to}.")
    if to != "html" and runtime:
        raise Fault(f"--runtime is for html and has no effect for {to}.")


def _place(model: Path, to: str, out: Path | None) -> Path:
    if out is not None:
        return out
    from regard.engines.exported import CTRANSLATE2, ONNX

    if to not in (CTRANSLATE2, ONNX):
        kind = "folder" if to in FORMATS and to not in _FILES else "file"
        raise Fault(f"Name a {kind} for the {to} model with -o.")
    return model / to


def _write_outside(write: str, model: Path, place: Path, to: str, overwrite: bool) -> None:
    """Let a plugin write the file or folder."""
    from regard.model import load

    refuse_existing(place, overwrite)
    find_place(write)(load(model, device="cpu"), place, remark)
    remark(f"{place} is {model} for {to}")


def _write_html(
    folder: Path,
    place: Path,
    runtime: Path | None,
    shortlist: bool,
    overwrite: bool,
    quantisation: Literal["int4", "int8"],
) -> None:
    from regard.onefile.export import export_html

    refuse_existing(place, overwrite)
    model, candidates = _with_shortlist(folder, shortlist)
    with console_progress() as progress:
        size = export_html(model, folder, place, runtime, candidates, quantisation, progress)
    remark(f"{place} is {folder} in one file of {size / 1e6:.1f} MB; open it in a browser")


def _write_ngrams(model: Path, place: Path, to: str, overwrite: bool) -> None:
    from regard.engines.arpa import export_arpa, export_mapped
    from regard.families import with_article
    from regard.model import load
    from regard.tasks.language.counting import CountedLanguage

    refuse_existing(place, overwrite)
    kind = "An ARPA file" if to == "arpa" else "A mapped file"
    loaded = load(model)
    if not isinstance(loaded.task, CountedLanguage):
        raise Fault(f"{kind} holds an n-gram model, and {model} is {with_article(loaded.recipe.family)}.")
    if to == "arpa":
        export_arpa(loaded.task, place, remark)
    else:
        export_mapped(loaded.task, loaded.recipe, place)
    remark(f"{place} is {model} as {kind[0].lower()}{kind[1:]}")


def _write_vectors(model: Path, place: Path, to: "Format", side: "VectorSide | None", overwrite: bool) -> None:
    from regard.data.vectors.files import write_vectors
    from regard.families.abilities import needs_words
    from regard.model import load

    refuse_existing(place, overwrite)
    loaded = load(model)
    needs_words(loaded.recipe, f"Files of {to}")
    write_vectors(place, loaded.lexicon(side or "centres").vectors, to)
    remark(f"{place} has the word vectors of {model} in {to} format")


def _write_onnx(folder: Path, place: Path, quantisation: "Quantisation", shortlist: bool) -> None:
    from regard.engines.exported import origins
    from regard.engines.onnx.export import export_onnx
    from regard.training.checkpoint import read_folder

    origin = origins(read_folder(folder))
    model, candidates = _with_shortlist(folder, shortlist)
    export_onnx(model, place, quantisation, origin, candidates)


def _with_shortlist(folder: Path, wanted: bool) -> "tuple[Loaded, Shortlist | None]":
    """Load a model, and learn its shortlist if one is wanted, which only translators have."""
    from regard.engines.shortlist import learnt_for
    from regard.loading import Loaded, load_as
    from regard.verbs.translate.model import load_translation_model

    if not wanted:
        return load_as(Loaded, folder, "cpu"), None
    model = load_translation_model(folder, "cpu")
    with console_progress() as progress:
        source, target = model.task.source, model.task.target
        return model, learnt_for(folder, model.recipe.data.prepared, source, target, progress)
