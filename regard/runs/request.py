"""Training requests, and the recipe for each: a given one, or one made for text files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.base.recipe import apply_settings, check, differences, parse, read_table, value_at
from regard.data.corpora.memories import is_memory
from regard.data.corpora.options import PairData
from regard.data.tables.formats import NAMES, kind_by_name
from regard.families import check_settings, recipe_kind
from regard.runs.from_text.defaults import TextFiles, recipe_for
from regard.runs.from_text.fine_tuning import recipe_from
from regard.runs.from_text.own_data import OwnFiles, check_columns, with_own_data
from regard.runs.mono.asked import AskedTexts
from regard.runs.planning.allowance import check_minutes
from regard.runs.recipes import recipe_text
from regard.training.checkpoint import RunFolder, read_recipe
from regard.training.options import TrainingOptions


def bend(table: dict[str, Any], settings: Sequence[str], is_own: bool) -> dict[str, Any]:
    """Return a recipe's table with its defaults adapted to what the user set.

    The user set the `settings`, and the whole table if `is_own`; shipped recipes and those made for text files are
    defaults.
    """
    whole, from_user = apply_settings(table, settings), apply_settings(table if is_own else {}, settings)
    if "start_from" in whole and "family" not in whole:
        folder = Path(str(whole["start_from"])).expanduser()
        if not RunFolder(folder).exists():
            return table  # refused when the run is opened
        parent = read_recipe(folder)
        whole = {name: parent[name] for name in ("family", "task") if name in parent} | whole
    kind = recipe_kind(whole)
    training = kind.model_fields["training"].annotation
    if isinstance(training, type) and issubclass(training, TrainingOptions):
        _refuse_empty_mean(training, whole, from_user)
    return kind.bend(table, from_user)


def _refuse_empty_mean(kind: type[TrainingOptions], table: dict[str, Any], from_user: dict[str, Any]) -> None:
    """Refuse an average of checkpoints if the run saves none and the user set both options.

    If one of the two is a default, the run keeps its last weights and says so.
    """
    chosen = [value_at(from_user, "training", name) for name in ("final", "save_every")]
    steps = value_at(table, "training", "steps") or kind.model_fields["steps"].default
    if chosen[0] == "average" and isinstance(every := chosen[1], int) and isinstance(steps, int) and every > steps:
        within = quantity(steps, "step")
        raise Fault(
            f"training: final = 'average' needs checkpoints, but none is saved in {within}; "
            f"make save_every {steps:,} or less, or omit it."
        )


# How to give a file of data, by kind of file.
_PAIRS = "`regard train --pairs {file} --columns SOURCE:TARGET` for a translator"
_LABELLED = "`regard train RECIPE --data {file} --columns TEXT:LABEL` for classes"
_TAGGED = "`regard train RECIPE --data {file} --columns WORD:TAG` for tags"
_GIVEN_AS = {
    **dict.fromkeys(("tsv", "csv", "jsonl"), f"{_PAIRS}, {_LABELLED}"),
    **dict.fromkeys(("conllu", "conll"), _TAGGED),
    **dict.fromkeys(("tmx", "xliff"), "`regard train --pairs {file} --languages en-pt`"),
}


@dataclass(frozen=True)
class Tables:
    """Files for a recipe to learn from, and how to read these, or files of pairs: columns and header."""

    data: Sequence[Path] = ()
    valid_data: Sequence[Path] = ()
    test_data: Sequence[Path] = ()
    columns: str | None = None
    header: bool | None = None


@dataclass(frozen=True)
class TrainingRequest:
    """Request for a training, from the command line or Python.

    A recipe is a table, a TOML file or the name of a shipped recipe; text files may take its place. With a recipe, the
    data of `tables` replaces the files that it names.
    """

    recipe: str | Mapping[str, Any] | None = None
    settings: Sequence[str] = ()
    source: Path | None = None
    target: Path | None = None
    pairs: Sequence[Path] = ()
    valid_source: Path | None = None
    valid_target: Path | None = None
    valid_pairs: Sequence[Path] = ()
    tables: Tables = field(default_factory=Tables)
    languages: str | None = None
    mono: AskedTexts = field(default_factory=AskedTexts)
    start: Path | None = None
    old_share: float | None = None
    out: Path | None = None
    resume: bool = False
    minutes: float | None = None
    began: float | None = None  # when the minutes began, on the monotonic clock; None: with the request
    overwrite: bool = False
    processes: int | None = None
    restarts: int = 0
    dry_run: bool = False


@dataclass(frozen=True)
class RunPlan:
    """A recipe as a table, the name of its run, and sentences that say what was chosen for it."""

    table: dict[str, Any]
    name: str = ""
    choices: Sequence[str] = field(default_factory=list)
    is_own: bool = False  # True if the user wrote the recipe


def plan_of(request: TrainingRequest) -> RunPlan:
    """Return the plan for a request; refuse every contradiction in it."""
    text = _files("", request.source, request.target, request.pairs)
    valid = _files("valid-", request.valid_source, request.valid_target, request.valid_pairs)
    _check(request, text, valid)
    if text:
        further = (tuple(request.pairs[1:]), tuple(request.valid_pairs[1:]))
        files = TextFiles(
            text, valid, request.languages, *further, request.tables.columns, request.tables.header, request.mono
        )
        plan = _plan_files(request, _in_the_direction_of(request.start, files))
    elif request.recipe is not None:
        plan = _plan_recipe(request.recipe)
        if request.tables.data:
            plan.table.update(with_own_data(plan.table, _own_files(request)))
        if request.mono:
            _add_mono(plan.table, request.mono)
    else:
        plan = RunPlan(_recipe_of_run(request.out))
    if request.start is not None:
        plan.table["start_from"] = str(request.start.resolve())
    return replace(plan, table=bend(plan.table, request.settings, plan.is_own))


def _in_the_direction_of(start: Path | None, files: TextFiles) -> TextFiles:
    """Return files whose translation memories, unless languages are given, are read as the first model translates."""
    if start is None or files.languages is not None or not is_memory(files.train[0].name):
        return files
    data = read_recipe(start).get("data", {})
    languages = [data.get(side, "") for side in ("source_language", "target_language")]
    return replace(files, languages="-".join(languages)) if all(len(code) == 2 for code in languages) else files


def _add_mono(table: dict[str, Any], texts: AskedTexts) -> None:
    """Add texts of one language to the data of a translator's recipe, in place."""
    data = table.get("data", {})
    if "family" in table and recipe_kind(table).model_fields["data"].annotation is not PairData:
        raise Fault(f"--mono adds text to the pairs of a translator, and a {table['family']} learns from none.")
    table["data"] = {**data, "mono": [*data.get("mono", []), *texts.table()]}


def _check(request: TrainingRequest, text: tuple[Path, ...], valid: tuple[Path, ...]) -> None:
    """Refuse contradictions, and paths that cannot be written into a recipe."""
    if request.recipe is not None and text:
        raise Fault("Give a recipe or text files, not both. To train a recipe on your own files, use --data FILE.")
    _check_own_data(request, bool(text))
    request.mono.check(bool(text) or request.recipe is not None)
    if request.restarts and request.processes is None:
        raise Fault("--restarts needs --processes; processes started by another tool must be restarted by that tool.")
    for option, number, least in (("processes", request.processes, 1), ("restarts", request.restarts, 0)):
        if number is not None and (not isinstance(number, int) or number < least):
            raise Fault(f"--{option} is {number!r}, expected {least} or more.")
    check_minutes(request.minutes)
    if request.resume and request.overwrite:
        raise Fault("--resume continues a run and --overwrite replaces it; give one of them.")
    if not text and not request.resume and request.recipe is None:
        raise Fault("Give a recipe (`regard recipes` lists some), --source and --target, or --pairs.")
    if not text and (valid or (request.languages and not request.tables.data)):
        raise Fault("Validation files and --languages belong to text files; a recipe has its own.")
    if request.old_share is not None and not (text and request.start):
        raise Fault("--old-share needs text files and --from; a recipe lists old and new text in data.train.")
    files = (
        *text,
        *valid,
        *request.pairs,
        *request.valid_pairs,
        *request.tables.data,
        *request.tables.valid_data,
        *request.tables.test_data,
        *request.mono.paths,
    )
    for path in (*files, *filter(None, (request.start, request.out))):
        try:
            str(path.resolve()).encode()
        except UnicodeEncodeError:
            raise Fault(f"The name {str(path)!a} is not UTF-8, so a recipe cannot hold it; rename it.") from None


def _check_own_data(request: TrainingRequest, has_text: bool) -> None:
    """Refuse files and columns without what they belong to."""
    tables = request.tables
    if tables.data and request.recipe is None and not has_text:
        raise Fault(
            "--data needs a recipe, as in `regard train trec --data FILE --columns text:label`; "
            "pairs to translate are given with --pairs FILE."
        )
    if tables.data and has_text:
        raise Fault("Give --data with a recipe, or text files, not both.")
    if (tables.valid_data or tables.test_data) and not tables.data:
        raise Fault("--valid-data and --test-data need --data.")
    if tables.columns is None and tables.header is None:
        return
    if not (tables.data or request.pairs or request.valid_pairs):
        raise Fault("--columns and --header are for files with columns: --pairs, or a recipe and --data.")
    if has_text and tables.columns is not None and check_columns(tables.columns) != 2:
        raise Fault(f"--columns is '{tables.columns}', expected source and target columns, as in 1+3:2.")


def _own_files(request: TrainingRequest) -> OwnFiles:
    languages = TextFiles((), languages=request.languages).pair_of_languages() if request.languages else None
    tables = request.tables
    return OwnFiles.checked(tables.data, tables.valid_data, tables.test_data, tables.columns, tables.header, languages)


def _files(prefix: str, source: Path | None, target: Path | None, pairs: Sequence[Path]) -> tuple[Path, ...]:
    """Return the files of a split: a source and a target, the first file of pairs, or none."""
    two = f"--{prefix}source and --{prefix}target"
    if pairs:
        if source or target:
            raise Fault(f"Give {two}, or --{prefix}pairs, not both.")
        return (pairs[0],)
    if source is None and target is None:
        return ()
    if source is None or target is None:
        raise Fault(f"{two} belong together; give both.")
    return source, target


def recipe_table(name: str) -> tuple[dict[str, Any], str]:
    """Read the recipe at a path, or the shipped recipe of that name."""
    path = Path(name)
    refuse_data(path)
    if is_shipped(name):
        return parse(recipe_text(name), name), name
    try:
        return read_table(path), path.stem
    except Fault as fault:
        if path.suffix == ".toml":
            raise
        how = f"{_PAIRS}, {_LABELLED}, {_TAGGED}".format(file=path)
        raise Fault(*fault.sentences, f"If {path} is data, not a recipe, write {how}.") from None


def is_shipped(name: str) -> bool:
    """Return True if the text names a shipped recipe rather than a path."""
    path = Path(name)
    return not (path.is_file() or path.suffix == ".toml")


def refuse_data(path: Path) -> None:
    """Refuse a data file where a recipe is expected, and say how to give it."""
    kind = kind_by_name(path.name)
    if kind is None:
        return
    how = _GIVEN_AS[kind].format(file=path)
    raise Fault(f"{path} is {NAMES[kind]}, not a recipe; give it as data: {how}.")


def refuse_comparison(table: Mapping[str, Any], name: str) -> None:
    """Refuse a comparison, which cannot be trained by itself."""
    if "compare" in table:
        raise Fault(f"{name} is a comparison of several recipes; run it with `regard compare {name}`.")


def recipe_of(recipe: str | Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the table and name of a recipe; a table is named after its family."""
    return recipe_table(recipe) if isinstance(recipe, str) else (dict(recipe), str(recipe.get("family", "model")))


def _plan_recipe(recipe: str | Mapping[str, Any]) -> RunPlan:
    """Plan a recipe that can be trained by itself."""
    table, name = recipe_of(recipe)
    refuse_comparison(table, name)
    return RunPlan(table, name, is_own=not (isinstance(recipe, str) and is_shipped(recipe)))


def _recipe_of_run(folder: Path | None) -> dict[str, Any]:
    """Read the recipe of the run to resume."""
    if folder is None:
        raise Fault("Name the run to resume with --out, or give a recipe or text files to train.")
    if not RunFolder(folder).exists():
        raise Fault(f"{folder} has no recipe to resume; give the recipe or text files that the run began with.")
    return read_recipe(folder)


def _plan_files(request: TrainingRequest, files: TextFiles) -> RunPlan:
    """Make a recipe for the files, with sentences on what was chosen; a resumed run already has one."""
    files.check()
    if not request.resume:
        _check_settings(request, files)  # before any text is read
    name = _name_of_run(request, files) if request.out is None else ""
    folder = request.out or Path("runs") / name
    if request.resume and RunFolder(folder).exists():
        return RunPlan(_same_files(files, folder), name)
    _check_settings(request, files)
    if request.start:
        table, choices = recipe_from(request.start, files, request.old_share or 0.0, torch.cuda.is_available())
    else:
        table, choices = recipe_for(files, torch.cuda.is_available())
    return RunPlan(table, name, choices)


def _check_settings(request: TrainingRequest, files: TextFiles) -> None:
    """Refuse settings that no recipe for these files can have."""
    family = read_recipe(request.start).get("family") if request.start else None
    table = {"data": files.corpora()} | ({"family": family} if family else {})
    check_settings(apply_settings(table, request.settings))


def _name_of_run(request: TrainingRequest, files: TextFiles) -> str:
    """Return a run's name from its languages; unnamed if it starts from a model, which has its own."""
    unnamed = "src-tgt"
    begun_before = request.resume and RunFolder(Path("runs") / unnamed).exists()
    if request.start is None and not begun_before:
        return "-".join(files.pair_of_languages())
    return "-".join(files.named_languages() or [unnamed])


def _same_files(files: TextFiles, folder: Path) -> dict[str, Any]:
    """Return the recipe of a resumed run, which must have begun with these files."""
    table = read_recipe(folder)
    new, old = check(PairData, files.corpora()), check(PairData, table["data"])
    corpora = {split: getattr(new, split) for split in files.corpora()}
    # Mixed-in old text follows the new.
    same = [one.model_copy(update={"weight": other.weight}) for one, other in zip(new.train, old.train, strict=False)]
    corpora["train"] = [*same, *new.train[len(same) :], *old.train[len(new.train) :]]
    if changed := differences(old, old.model_copy(update=corpora)):
        raise Fault(
            f"{folder} cannot be resumed with other data:",
            *(f"data.{change}" for change in changed),
            f"To start a new run from its weights: regard train … --from {folder} --out {folder}-2",
        )
    return table
