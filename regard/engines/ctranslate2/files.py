"""Check the text files of an export before CTranslate2 reads them: it trusts them, and a wrong one can crash it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import ConfigDict, Field

from regard.base.faults import Fault
from regard.base.parsing import MOST_LISTED, parse_json
from regard.base.recipe import Options, check, faults_of
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.engines.exported import SHORTLIST

CONFIG = "config.json"
_SEPARATE = ("source_vocabulary.json", "target_vocabulary.json")  # if the two sides have separate vocabularies


class _Config(Options):
    """Configuration of CTranslate2 besides the weights."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    add_source_bos: bool = False
    add_source_eos: bool
    bos_token: str
    eos_token: str
    unk_token: str
    decoder_start_token: str
    layer_norm_epsilon: float = Field(gt=0, lt=1)
    multi_query_attention: bool = False


def check_files(
    folder: Path, files: Mapping[str, bytes], source: Tokeniser, target: Tokeniser
) -> tuple[list[str], list[str]]:
    """Return the names of the source and target tokens; refuse files of a model with other tokenisers."""
    source_names, target_names = _read_names(files, source, target, folder)
    _check_config(folder / CONFIG, files.get(CONFIG, b""), target, target_names)
    if SHORTLIST in files:
        _check_shortlist(folder / SHORTLIST, files[SHORTLIST], source_names, target_names)
    return source_names, target_names


def _read_names(
    files: Mapping[str, bytes], source: Tokeniser, target: Tokeniser, folder: Path
) -> tuple[list[str], list[str]]:
    shared, size = "shared_vocabulary.json", target.size
    if shared in files and source.size == size:
        names = _names(folder, files, shared, size)
        return names, names
    source_file, target_file = (shared, shared) if shared in files else _SEPARATE
    return _names(folder, files, source_file, source.size), _names(folder, files, target_file, size)


def _names(folder: Path, files: Mapping[str, bytes], file: str, size: int) -> list[str]:
    if file not in files:
        raise Fault(f"{folder} is not complete: it has no {file}.")
    names = parse_json(files[file], str(folder / file), MOST_LISTED)
    are_names = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if not are_names or not len(names) == len(set(names)) == size:
        raise Fault(f"{folder / file} does not hold the names of the model's {size:,} tokens.")
    return names


def _check_config(path: Path, content: bytes, target: Tokeniser, names: Sequence[str]) -> None:
    table = parse_json(content, str(path))
    with faults_of(path):
        config = check(_Config, table, CONFIG)
    begin, end, unknown = names[target.begin], names[target.end], names[target.unknown]
    special = (config.bos_token, config.decoder_start_token, config.eos_token, config.unk_token)
    if special != (begin, begin, end, unknown):
        raise Fault(f"{path} is damaged: its special tokens are not those of the model.")


def _check_shortlist(path: Path, content: bytes, source_names: Sequence[str], target_names: Sequence[str]) -> None:
    """Check the shortlist: its first line lists the target tokens of every sentence, after a tab, the others those of a
    source token each.
    """
    written = {*target_names}
    try:
        *lines, last = content.decode("utf-8").split("\n")
        named = {name: listed.split(" ") for name, listed in (line.split("\t") for line in lines)}
    except ValueError:  # not UTF-8, or another number of parts
        named = {}
    first, *others = [*named] or ["none"]
    is_whole = first == "" and last == "" and len(named) == len(lines)
    if not (
        is_whole
        and {*others} <= {*source_names}
        and all(written.issuperset(candidates) for candidates in named.values())
    ):
        raise Fault(f"{path} is damaged: it does not list tokens of the model.")
