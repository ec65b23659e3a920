"""The request that the options of `regard translate` make, and what of it a file that is not finished remembers."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from regard.base.faults import Fault
from regard.base.files import checksum
from regard.base.model_folder import SCORES, read_manifest, read_recipe
from regard.base.recipe import apply_settings, check
from regard.console.option_names import DRAWING, OptionNames
from regard.data.lines import read_lines
from regard.decoding.options import DecodingOptions
from regard.engines.exported import CTRANSLATE2, ONNX, RECORD
from regard.engines.fast import CALLED
from regard.verbs.translate.plan import number_of_outputs
from regard.verbs.translate.request import TranslateRequest

FIELDS = (  # that an option fills as it is
    "beam",
    "length_penalty",
    "n_best",
    "mbr",
    "samples",
    "channel_weight",
    "prior_weight",
    "fuse_weight",
    "split_sentences",
    "too_long",
    "replace_unknown",
    "engine",
    "explain",
)
BY_LINE = ("prefix", "required", "forced")  # that files fill, line by line
# All that decide the translations; of models and of a vocabulary the contents do, not their names.
_RECORDED = [*(each for each in FIELDS if each != "too_long"), *DRAWING, "settings", "sample", "forbidden", "precision"]
_OWN_OPTIONS = ("beam", "length_penalty", "n_best")  # of a search, which --set may name as well


def translate_request(options: Mapping[str, Any]) -> TranslateRequest:
    """The request that options make, for lines that are yet to be read.

    Options that are fields of a request have the field's name.
    """
    if options["precision"] == "bf16" and options["engine"] not in ("auto", "torch"):
        raise Fault(f"{CALLED[options['engine']]} cannot do --precision bf16; omit it, or set --engine to torch.")
    given = {name: options[name] for name in FIELDS if options[name] is not None}
    settings = apply_settings({}, options["settings"] or [])
    sample = _sampling(settings, options)
    given |= {name: settings.pop(name) for name in _OWN_OPTIONS if name in settings and name not in given}
    if sample is not None:
        count = sample.pop("samples", None)
        given |= {"n_best": count} if count is not None and not given.keys() & {"n_best", "mbr"} else {}
    table = {
        "text": [],
        "search": settings,
        "forbidden": list(options["forbidden"] or []),
        "sample": sample,
        "with": [str(folder) for folder in options["together"] or []],
        "channel": None if options["channel"] is None else str(options["channel"]),
        "prior": None if options["prior"] is None else str(options["prior"]),
        "fuse": None if options["fuse"] is None else str(options["fuse"]),
        "vocabulary": None if options["vocabulary"] is None else list(read_lines(Path(options["vocabulary"]))),
        "dictionary": {} if options["dictionary"] is None else read_dictionary(Path(options["dictionary"])),
        **{name: [] for name in BY_LINE if options[name] is not None},  # they are given, though no line is read yet
        **given,
    }
    return TranslateRequest.read(table, OptionNames())


def read_dictionary(path: Path) -> dict[str, str]:
    """The words of a file and what they become; of a word that stands there twice the first counts."""
    found: dict[str, str] = {}
    for number, line in enumerate(read_lines(path), 1):
        word, tab, translation = line.partition("\t")
        if not (tab and word.strip() and translation.strip()):
            raise Fault(f"{path}, line {number}: expected a word, a tab, and what it becomes.")
        found.setdefault(word.strip(), translation.strip())
    return found


def _sampling(settings: dict[str, Any], options: Mapping[str, Any]) -> dict[str, Any] | None:
    """How outputs are drawn, by options of their own and by --set, which lets go of it; nothing if they are not."""
    given = {name: options[name] for name in DRAWING if options[name] is not None}
    draws = options["sample"] or options["mbr"] is not None
    if given and not draws:
        named = " and ".join(f"--{name.replace('_', '-')}" for name in given)
        raise Fault(f"{named} would do nothing without --sample.")
    if "sampling" in settings and not draws:
        raise Fault("Options of sampling would do nothing without --sample.")
    table = settings.pop("sampling", {})
    if not isinstance(table, dict):
        raise Fault("Sampling takes a table of options; give one of them, as --set sampling.min_p=0.05.")
    return table | given if draws else None


def lines_for_each(folder: Path, request: TranslateRequest) -> int:
    """How many lines of output a line of the input gives, found without loading the model."""
    if request.explain:
        return 1
    return number_of_outputs(request, check(DecodingOptions, read_recipe(folder)["decoding"]))


def record_of(model: Path, context: typer.Context) -> dict[str, Any]:
    """All that decides the translations but the lines, as a record can hold it: options, and checksums of files.

    Whether lines that are too long are split is no part of it: those that were kept are the same, so who was stopped by
    such a line can go on with it split.
    """
    given = context.params
    values = {each: given[each] for each in _RECORDED} | {each: given[each] is not None for each in BY_LINE}
    options = {each.name: max(each.opts, key=len) for each in context.command.params}
    exports = [_checksum_of(model / tool / RECORD) for tool in (CTRANSLATE2, ONNX)]
    return {
        **{options[name]: list(value) if isinstance(value, tuple) else value for name, value in values.items()},
        "the model": _contents(model),
        "its export": exports if given["engine"] != "torch" else None,
        "the model of --channel": _contents(Path(given["channel"])) if given["channel"] else None,
        "the model of --prior": _contents(Path(given["prior"])) if given["prior"] else None,
        "the model of --fuse": _contents(Path(given["fuse"])) if given["fuse"] else None,
        "a model of --with": [_contents(Path(folder)) for folder in given["together"] or []],
        "the text of --dictionary": _checksum_of(Path(given["dictionary"])) if given["dictionary"] else None,
        "the text of --vocabulary": _checksum_of(Path(given["vocabulary"])) if given["vocabulary"] else None,
    }


def _checksum_of(path: Path) -> str | None:
    """That of a file, if there is one; a pipe can be read but once, and not here."""
    return checksum(path.read_bytes()) if path.is_file() else None


def _contents(folder: Path) -> str:
    """One checksum for all that decides what a model writes."""
    files = {name: made for name, made in read_manifest(folder).items() if name != SCORES}
    return checksum(json.dumps(files, sort_keys=True).encode())
