"""The folder of an export for a fast engine: its origin, and whether it is complete and up to date.

None of this loads torch, so that a model can translate without it.
"""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from regard.base.faults import Fault, TextFault
from regard.base.files import checksum, is_inner_file, read_regular_file, write_file
from regard.base.model_folder import ABOUT, CERTAINTY, RECIPE, SCORES, WEIGHTS, read_folder, read_manifest, read_recipe
from regard.base.plugin_record import PLUGINS
from regard.base.recipe import Options, check, faults_of
from regard.data.tokenisers.tokeniser import Tokeniser, TokeniserOptions, load_tokenisers
from regard.decoding.options import DecodingOptions

CTRANSLATE2, ONNX = "ctranslate2", "onnx"  # subfolders of a model folder where exports are looked for
SHORTLIST, LISTED = "vmap.txt", "shortlist.npz"  # CTranslate2's, which fixes the name, and the one next to ONNX graphs
RECORD = "export.json"
_UNCOPIED = (RECIPE, SCORES, ABOUT, CERTAINTY, PLUGINS)  # files of a model folder that exports do not depend on
_FORMAT = 1
_WITH_GRAPHS = ("transformer", "gpt", "encoder", "bert")  # families


class Record(BaseModel):
    """Record of an export: how it was made, from which model files, and its own checksums."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    format: int
    quantisation: str
    made_from: dict[str, str]
    files: dict[str, str]


def origins(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the checksums of the model files that its export depends on: weights and tokenisers."""
    return {name: checksum(content) for name, content in files.items() if name not in _UNCOPIED}


def write_record(folder: Path, quantisation: str, made_from: dict[str, str]) -> None:
    """Write the record that completes a new export."""
    files = {path.name: checksum(path.read_bytes()) for path in sorted(folder.iterdir())}
    record = Record(format=_FORMAT, quantisation=quantisation, made_from=made_from, files=files)
    write_file(folder / RECORD, record.model_dump_json(indent=1).encode())


def has_graphs(family: str) -> bool:
    """Return True if models of the family can have ONNX graphs."""
    return family in _WITH_GRAPHS


def no_graphs(family: str) -> Fault:
    """Return the fault that a family has no ONNX graphs."""
    return Fault(f"Only a Transformer, gpt, encoder or bert has ONNX graphs; this model is of the family {family}.")


def is_export(folder: Path) -> bool:
    """Return True if `regard export` made this folder."""
    return (folder / RECORD).is_file()


def read_export(folder: Path) -> dict[str, bytes]:
    """Read the files of an export in a model folder; check that they are intact and up to date with the model."""
    model = folder.parent
    if folder.is_symlink():
        raise Fault(f"{folder} is a link; an export must be a folder inside its model folder.")
    if not is_export(folder):
        raise Fault(f"{model} holds no export; make one with `{_command(folder)}`.")
    record = read_record(folder)
    manifest = read_manifest(model)
    if any(checksum_of_file not in manifest.get(name, []) for name, checksum_of_file in record.made_from.items()):
        raise Fault(f"{folder} was made before the model changed; {again(folder, record)}.")
    for name in {SHORTLIST, LISTED} - record.files.keys():
        if (folder / name).exists():
            raise Fault(f"{folder / name} is not in {RECORD}, so it cannot be trusted; {again(folder, record)}.")
    return {
        name: _read_checked(folder, name, [checksum_of_file], again(folder, record))
        for name, checksum_of_file in record.files.items()
    }


class Surroundings(NamedTuple):
    """Parts of a model that an engine needs besides the network."""

    tokenisers: tuple[Tokeniser, Tokeniser]
    decoding: DecodingOptions  # the search set in the recipe
    longest: int  # tokens of a text, including its end
    learnt: int  # length of the longest text that the model learnt from
    language: str  # of the texts


def read_surroundings(folder: Path) -> Surroundings:
    """Read these parts from the model folder that contains an export, after checking its files."""
    model = folder.parent
    made_from = read_record(folder).made_from
    read_folder(model, [name for name in made_from if name != WEIGHTS])  # the weights are in the export
    table = read_recipe(model)
    with faults_of(model / RECIPE):
        recipe = check(_Recipe, table)
    longest, learnt = recipe.model.longest, recipe.data.cleaning.longest + 1
    tokenisers = load_tokenisers(model, recipe.data.tokeniser)
    return Surroundings(tokenisers, recipe.decoding, longest, min(longest, learnt), recipe.data.source_language)


class _Some(Options):
    """Options that ignore others, which are for torch alone."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class _Cleaning(_Some):
    longest: int = Field(ge=1, le=2**24)


class _Data(_Some):
    tokeniser: TokeniserOptions
    cleaning: _Cleaning
    source_language: str


class _Model(_Some):
    longest: int = Field(ge=1, le=2**24)


class _Recipe(_Some):
    data: _Data
    model: _Model
    decoding: DecodingOptions


class _Translates(Protocol):
    def translate(self, texts: Sequence[str], options: DecodingOptions) -> object: ...


def try_out(engine: _Translates, folder: Path) -> None:
    """Translate a word, so that an export that cannot is refused when it is loaded."""
    try:
        engine.translate(["a"], DecodingOptions(beam=1, longest_ratio=1e-6, longest_extra=4))
    except TextFault:  # the weights are at fault, which is reported for the first text that meets it
        return
    except Fault:
        raise
    except Exception as error:  # errors of two C++ libraries on files that are intact but wrong
        reason = next(iter(str(error).splitlines()), type(error).__name__).rstrip(".")
        raise Fault(f"{folder} cannot translate ({reason}); {again(folder, read_record(folder))}.") from None


def again(folder: Path, record: Record | None = None) -> str:
    """Return the advice to repeat an export, with the options in its record."""
    options = []
    if record is not None:
        options += ["--quantisation", record.quantisation]
        options += ["--shortlist"] if {SHORTLIST, LISTED} & record.files.keys() else []
    return f"make it again with `{_command(folder, *options, '--overwrite')}`"


def _command(folder: Path, *options: str) -> str:
    return shlex.join(["regard", "export", str(folder.parent), "--to", folder.name, *options])


def read_record(folder: Path) -> Record:
    """Read the record of an export."""
    try:
        record = Record.model_validate_json(read_regular_file(folder / RECORD))
    except (OSError, ValidationError):
        raise Fault(f"{folder / RECORD} is damaged; {again(folder)}.") from None
    if record.format != _FORMAT:
        raise Fault(f"{folder} was made by another version of regard; {again(folder)}.")
    return record


def _read_checked(folder: Path, name: str, allowed: list[str], remedy: str) -> bytes:
    if not is_inner_file(folder, name):
        raise Fault(f"{name[:100]!r} should be a file in {folder}, but is outside it; {remedy}.")
    try:
        content = read_regular_file(folder / name)
    except OSError as error:
        raise Fault(f"{folder / name} is missing or cannot be read ({error.strerror}); {remedy}.") from None
    if checksum(content) not in allowed:
        raise Fault(f"{folder / name} is damaged: its checksum is not the one it was written with; {remedy}.")
    return content
