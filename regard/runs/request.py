"""Training requests, and the recipe that follows: a given one, or one made for text files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.base.recipe import apply_settings, check, differences, parse, read_table, value_at
from regard.data.corpora.options import PairData
from regard.data.tables.formats import NAMES, kind_by_name
from regard.families import check_settings, recipe_kind
from regard.runs.from_text.defaults import TextFiles, recipe_for
from regard.runs.from_text.fine_tuning import recipe_from
from regard.runs.from_text.own_data import OwnFiles, check_columns, with_own_data
from regard.runs.recipes import recipe_text
from regard.training.checkpoint import RunFolder, read_recipe
from regard.training.options import TrainingOptions


def bend(table: dict[str, Any], settings: Sequence[str], is_own: bool) -> dict[str, Any]:
    """Return a recipe's table, its values adapted to what the user said where they are not the user's own.

    The user said the settings, and the whole table where `is_own`; shipped recipes and those made for text files are
    defaults.
    """
    whole, said = apply_settings(table, settings), apply_settings(table if is_own else {}, settings)
    if "start_from" in whole and "family" not in whole:  # its parent has one, which is read later
        return table
    kind = recipe_kind(whole)
    training = kind.model_fields["training"].annotation
    if isinstance(training, type) and issubclass(training, TrainingOptions):
        _refuse_empty_mean(training, whole, said)
    return kind.bend(table, said)


def _refuse_empty_mean(kind: type[TrainingOptions], table: dict[str, Any], said: dict[str, Any]) -> None:
    """Refuse a mean of checkpoints of which a run saves none, if the user asked both for it and for how it saves.

    Where one of the two is a default, the run keeps its last weights and says so.
    """
    chosen = [value_at(said, "training", name) for name in ("final", "save_every")]
    steps = value_at(table, "training", "steps") or kind.model_fields["steps"].default
    if chosen[0] == "average" and isinstance(every := chosen[1], int) and isinstance(steps, int) and every > steps:
        within = quantity(steps, "step")
        raise Fault(
            f"training: final = 'average' needs checkpoints, but none is saved in {within}; "
            f"make save_every {steps:,} or less, or leave it out."
        )


# How files of data are given, by their kinds.
_PAIRS = "`regard train --pairs {file} --columns SOURCE:TARGET` for a translator"
_LABELLED = "`regard train RECIPE --data {file} --columns TEXT:LABEL` for classes"
_TAGGED = "`regard train RECIPE --data {file} --columns WORD:TAG` for tags"
_GIVEN_AS = {
    **dict.fromkeys(("tsv", "csv", "jsonl"), f"{_PAIRS}, {_LABELLED}"),
    **dict.fromkeys(("conllu", "conll"), _TAGGED),
}


@dataclass(frozen=True)
class Tables:
    """Files for a recipe to learn from, and how these files, or those of pairs, are read: by columns and a header."""

    data: Sequence[Path] = ()
    valid_data: Sequence[Path] = ()
    test_data: Sequence[Path] = ()
    columns: str | None = None
    header: bool | None = None


@dataclass(frozen=True)
class TrainingRequest:
    """Request for a training, from the command line or Python.

    A recipe is a table, a TOML file or the name of one that comes with regard; in its place may stand text files. With
    a recipe, the data of `tables` takes the place of the files that it names.
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
    start: Path | None = None
    old_share: float | None = None
    out: Path | None = None
    resume: bool = False
    minutes: float | None = None
    began: float | None = None  # when the minutes began, by the monotonic clock; None: with the request
    overwrite: bool = False
    processes: int | None = None
    restarts: int = 0
    dry_run: bool = False


@dataclass(frozen=True)
class RunPlan:
    """A recipe as a table, the name of its run, and what was chosen for it, in sentences."""

    table: dict[str, Any]
    name: str = ""
    choices: Sequence[str] = field(default_factory=list)
    is_own: bool = False  # whether the user wrote the recipe


def plan_of(asked: TrainingRequest) -> RunPlan:
    """The recipe of what is asked for, after every contradiction in it is refused."""
    text = _files("", asked.source, asked.target, asked.pairs)
    valid = _files("valid-", asked.valid_source, asked.valid_target, asked.valid_pairs)
    _check(asked, text, valid)
    if text:
        further = (tuple(asked.pairs[1:]), tuple(asked.valid_pairs[1:]))
        plan = _plan_files(
            asked, TextFiles(text, valid, asked.languages, *further, asked.tables.columns, asked.tables.header)
        )
    elif asked.recipe is not None:
        plan = _plan_recipe(asked.recipe)
        if asked.tables.data:
            plan.table.update(with_own_data(plan.table, _own_files(asked)))
    else:
        plan = RunPlan(_recipe_of_run(asked.out))
    if asked.start is not None:
        plan.table["start_from"] = str(asked.start.resolve())
    return replace(plan, table=bend(plan.table, asked.settings, plan.is_own))


def _check(asked: TrainingRequest, text: tuple[Path, ...], valid: tuple[Path, ...]) -> None:
    """Refuse what contradicts itself, and paths that cannot be written into a recipe."""
    if asked.recipe is not None and text:
        raise Fault("Give a recipe or text files, not both. To train a recipe on files of your own, write --data FILE.")
    _check_own_data(asked, bool(text))
    if asked.restarts and asked.processes is None:
        raise Fault("--restarts goes with --processes; what another tool started, that tool must restart.")
    if asked.resume and asked.overwrite:
        raise Fault("--resume goes on with a run and --overwrite replaces it; give one of them.")
    if not text and not asked.resume and asked.recipe is None:
        raise Fault("Give a recipe (`regard recipes` lists some), --source and --target, or --pairs.")
    if not text and (valid or (asked.languages and not asked.tables.data)):
        raise Fault("Files to validate with and --languages go with text files; a recipe has its own.")
    if asked.old_share is not None and not (text and asked.start):
        raise Fault(
            "--old-share goes with text files and --from; a recipe lists old text beside the new in data.train."
        )
    given = (
        *text,
        *valid,
        *asked.pairs,
        *asked.valid_pairs,
        *asked.tables.data,
        *asked.tables.valid_data,
        *asked.tables.test_data,
    )
    for path in (*given, *filter(None, (asked.start, asked.out))):
        try:
            str(path.resolve()).encode()
        except UnicodeEncodeError:
            raise Fault(f"The name {str(path)!a} is not UTF-8, so a recipe cannot hold it; give it another.") from None


def _check_own_data(asked: TrainingRequest, has_text: bool) -> None:
    """Refuse files and columns that go with nothing."""
    tables = asked.tables
    if tables.data and asked.recipe is None and not has_text:
        raise Fault(
            "--data goes with a recipe, as in `regard train trec --data FILE --columns text:label`; "
            "pairs to translate are given with --pairs FILE."
        )
    if tables.data and has_text:
        raise Fault("Give --data with a recipe, or text files, not both.")
    if (tables.valid_data or tables.test_data) and not tables.data:
        raise Fault("--valid-data and --test-data go with --data.")
    if tables.columns is None and tables.header is None:
        return
    if not (tables.data or asked.pairs or asked.valid_pairs):
        raise Fault("--columns and --header go with files that have columns: --pairs, or a recipe and --data.")
    if has_text and tables.columns is not None and check_columns(tables.columns) != 2:
        raise Fault(f"--columns is '{tables.columns}', expected those of the source and of the target, as in 1+3:2.")


def _own_files(asked: TrainingRequest) -> OwnFiles:
    languages = TextFiles((), languages=asked.languages).pair_of_languages() if asked.languages else None
    own = asked.tables
    return OwnFiles.checked(own.data, own.valid_data, own.test_data, own.columns, own.header, languages)


def _files(prefix: str, source: Path | None, target: Path | None, pairs: Sequence[Path]) -> tuple[Path, ...]:
    """The files of a split: a source and a target, the first file of pairs, or none."""
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
    """The recipe at a path, or the one of that name that comes with regard."""
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
    """Return True if a recipe is named as those that come with regard are, rather than by a path."""
    path = Path(name)
    return not (path.is_file() or path.suffix == ".toml")


def refuse_data(path: Path) -> None:
    """Refuse a file of data where a recipe is expected, and say how it is given."""
    kind = kind_by_name(path.name)
    if kind is None:
        return
    how = _GIVEN_AS[kind].format(file=path)
    raise Fault(f"{path} is {NAMES[kind]}, not a recipe; give it as data: {how}.")


def refuse_comparison(table: Mapping[str, Any], name: str) -> None:
    """Refuse what cannot be trained by itself."""
    if "compare" in table:
        raise Fault(f"{name} is a comparison of several recipes; run it with `regard compare {name}`.")


def recipe_of(recipe: str | Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """The table of a recipe and its name: a table is named after its family."""
    return recipe_table(recipe) if isinstance(recipe, str) else (dict(recipe), str(recipe.get("family", "model")))


def _plan_recipe(recipe: str | Mapping[str, Any]) -> RunPlan:
    """A recipe that can be trained by itself."""
    table, name = recipe_of(recipe)
    refuse_comparison(table, name)
    return RunPlan(table, name, is_own=not (isinstance(recipe, str) and is_shipped(recipe)))


def _recipe_of_run(folder: Path | None) -> dict[str, Any]:
    """The recipe of the run that is to go on."""
    if folder is None:
        raise Fault("Say with --out which run is to go on, or give what to train: a recipe or text files.")
    if not RunFolder(folder).exists():
        raise Fault(f"{folder} holds no recipe to go on with; give one, or text files, as when the run was begun.")
    return read_recipe(folder)


def _plan_files(asked: TrainingRequest, files: TextFiles) -> RunPlan:
    """A recipe made for the files, and what was chosen; a run that goes on has one already."""
    files.check()
    if not asked.resume:
        _check_settings(asked, files)  # before any text is read
    name = _name_of_run(asked, files) if asked.out is None else ""
    folder = asked.out or Path("runs") / name
    if asked.resume and RunFolder(folder).exists():
        return RunPlan(_same_files(files, folder), name)
    _check_settings(asked, files)
    if asked.start:
        table, choices = recipe_from(asked.start, files, asked.old_share or 0.0, torch.cuda.is_available())
    else:
        table, choices = recipe_for(files, torch.cuda.is_available())
    return RunPlan(table, name, choices)


def _check_settings(asked: TrainingRequest, files: TextFiles) -> None:
    """Refuse settings that no recipe for the files can have."""
    family = read_recipe(asked.start).get("family") if asked.start else None
    known = {"data": files.corpora()} | ({"family": family} if family else {})
    check_settings(apply_settings(known, asked.settings))


def _name_of_run(asked: TrainingRequest, files: TextFiles) -> str:
    """Return the languages of a run from text files; nobody's, where it starts from a model that has its own."""
    unnamed = "src-tgt"
    begun_before = asked.resume and RunFolder(Path("runs") / unnamed).exists()
    if asked.start is None and not begun_before:
        return "-".join(files.pair_of_languages())
    return "-".join(files.named_languages() or [unnamed])


def _same_files(files: TextFiles, folder: Path) -> dict[str, Any]:
    """The recipe of a run that goes on, which must have been begun with these files."""
    table = read_recipe(folder)
    new, old = check(PairData, files.corpora()), check(PairData, table["data"])
    given = {split: getattr(new, split) for split in files.corpora()}
    # Old text that was mixed in stands behind the new.
    again = [one.model_copy(update={"weight": other.weight}) for one, other in zip(new.train, old.train, strict=False)]
    given["train"] = [*again, *new.train[len(again) :], *old.train[len(new.train) :]]
    if changed := differences(old, old.model_copy(update=given)):
        raise Fault(
            f"{folder} cannot be resumed with other data:",
            *(f"data.{change}" for change in changed),
            f"To go on from its weights with these: regard train … --from {folder} --out {folder}-2",
        )
    return table
