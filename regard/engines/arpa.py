"""n-gram models to and from ARPA files, which KenLM, SRILM and others use, and to memory-mapped files."""

import lzma
import re
import unicodedata
import zlib
from pathlib import Path

import torch

from regard.base.faults import Fault
from regard.base.files import whole_file
from regard.base.progress import Remark
from regard.base.recipe import Recipe, write
from regard.base.version import __version__
from regard.data.catalogue.unpack import open_content, packing
from regard.data.tokenisers.spaces import SpaceTokeniser
from regard.engines.folders import MODEL_FOLDER, whole_folder
from regard.families import check_recipe
from regard.models.ngram.arpa import BEGIN_WORD, END_WORD, UNKNOWN_WORD, read_arpa
from regard.models.ngram.arpa_text import arpa_blocks
from regard.models.ngram.mapped import write_mapped
from regard.models.ngram.stored import model_as_arrays
from regard.tasks.language.counting import CountedLanguage
from regard.training import checkpoint

_SPACE = re.compile(r"[\0\t-\r ]")
_BRACKETED = re.compile(r"(<+)(?:unk|/?s)(>+)")  # the special words of ARPA files, in any number of brackets


def export_arpa(task: CountedLanguage, out: Path, remark: Remark) -> None:
    """Write the model of a task as an ARPA file."""
    if suffix := packing(out.name):
        raise Fault(f"{out} would be plain text under a compressed file's name; omit its {suffix}.")
    names = _names(task, remark)
    with whole_file(out) as file:
        file.writelines(arpa_blocks(task.model, names))


def export_mapped(task: CountedLanguage, recipe: Recipe, out: Path) -> None:
    """Write the model of a task, with its tokeniser and recipe, as one file that is memory-mapped when opened."""
    header = f"Written by regard {__version__}: the recipe of an n-gram model."
    write_mapped(out, task.model, write(recipe, header), task.tokeniser.files("tokeniser"))


def _names(task: CountedLanguage, remark: Remark) -> list[str | None]:
    """Return the names of all tokens in the file: special ones as in ARPA, and words that look like them in one more
    pair of brackets.
    """
    tokeniser = task.tokeniser
    special = {tokeniser.unknown: UNKNOWN_WORD, task.begin: BEGIN_WORD, task.end: END_WORD}
    behind: list[str | None] = [None] * (task.begin + 1 - tokeniser.size)  # a begin token of the model's own
    names = [*tokeniser.pieces(range(tokeniser.size)), *behind]
    for token, name in enumerate(names):
        if name is None or token in special:
            names[token] = special.get(token)
        elif token == tokeniser.pad:
            names[token] = None
        elif _SPACE.search(name):
            raise Fault(f"An ARPA file cannot hold the token {name!r}, because white space separates its words.")
        elif _brackets(name):
            names[token] = f"<{name}>"
            remark(f"The word {name} is written as <{name}>, because such words in brackets are special in ARPA files.")
    return names


def _brackets(word: str) -> int:
    """Return in how many pairs of brackets a special word of ARPA files stands here; 0 if it is another word."""
    found = _BRACKETED.fullmatch(word)
    return len(found[1]) if found and len(found[1]) == len(found[2]) else 0


def import_arpa(path: Path, out: Path) -> None:
    """Make a model folder `out` from an ARPA file, plain or compressed; its words are separated by spaces."""
    special = {UNKNOWN_WORD: SpaceTokeniser.unknown, BEGIN_WORD: SpaceTokeniser.begin, END_WORD: SpaceTokeniser.end}
    try:
        with open_content(path) as stream:
            words, model = read_arpa(stream, str(path), special)
    except FileNotFoundError:
        raise Fault(f"There is no file {path}.") from None
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise Fault(f"{path} cannot be read: {error}.") from None
    plain = [word[1:-1] if _brackets(word) > 1 else word for word in words]
    normal = [unicodedata.normalize("NFC", word) for word in plain]
    if len(set(normal)) < len(normal):
        twice = next(word for number, word in enumerate(normal) if word in normal[:number])
        raise Fault(f"{path} has the word '{twice}' in two Unicode forms that are the same in NFC, which regard uses.")
    recipe = check_recipe(
        {
            "family": "ngram",
            "task": "language",
            "data": {"train": f"imported from {path.name}; its text is not here", "tokeniser": {"kind": "spaces"}},
            "model": {"order": model.order, "smoothing": "imported"},
        }
    )
    header = f"Written by regard {__version__}: the recipe of {path.name}, an n-gram model that was imported."
    weights = {name: torch.from_numpy(array) for name, array in model_as_arrays(model).items()}
    files = {checkpoint.RECIPE: write(recipe, header).encode(), **SpaceTokeniser(normal).files("tokeniser")}
    with whole_folder(out, MODEL_FOLDER) as partial:
        checkpoint.update_folder(partial, files | {checkpoint.WEIGHTS: checkpoint.weights_to_bytes(weights)})
