"""What may be asked of a training, and the recipe that follows from it: a given one, or one made for text files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from regard.base.faults import Fault
from regard.base.recipe import apply_settings, check, differences, parse, read_table
from regard.data.corpora.options import Corpus, PairData
from regard.families import check_settings
from regard.runs.checkpoint import RunFolder, read_recipe
from regard.runs.from_text.defaults import TextFiles, recipe_for
from regard.runs.from_text.fine_tuning import recipe_from
from regard.runs.recipes import recipe_text


@dataclass(frozen=True)
class TrainingRequest:
    """What may be asked of a training: on the command line, and in Python.

    A recipe is a table, a TOML file or the name of one that comes with regard; in its place may stand text files.
    """

    recipe: str | Mapping[str, Any] | None = None
    settings: Sequence[str] = ()
    source: Path | None = None
    target: Path | None = None
    pairs: Path | None = None
    valid_source: Path | None = None
    valid_target: Path | None = None
    valid_pairs: Path | None = None
    languages: str | None = None
    start: Path | None = None
    old_share: float | None = None
    out: Path | None = None
    resume: bool = False
    minutes: float | None = None
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


def plan_of(asked: TrainingRequest) -> RunPlan:
    """The recipe of what is asked for, after every contradiction in it is refused."""
    text = _files("", asked.source, asked.target, asked.pairs)
    valid = _files("valid-", asked.valid_source, asked.valid_target, asked.valid_pairs)
    _check(asked, text, valid)
    if text:
        plan = _plan_files(asked, TextFiles(text, valid, asked.languages))
    elif asked.recipe is not None:
        plan = _plan_recipe(asked.recipe)
    else:
        plan = RunPlan(_recipe_of_run(asked.out))
    if asked.start is not None:
        plan.table["start_from"] = str(asked.start.resolve())
    return plan


def _check(asked: TrainingRequest, text: tuple[Path, ...], valid: tuple[Path, ...]) -> None:
    """Refuse what contradicts itself, and paths that cannot be written into a recipe."""
    if asked.recipe is not None and text:
        raise Fault("Give a recipe or text files, not both.")
    if asked.restarts and asked.processes is None:
        raise Fault("--restarts goes with --processes; what another tool started, that tool must restart.")
    if asked.resume and asked.overwrite:
        raise Fault("--resume goes on with a run and --overwrite replaces it; give one of them.")
    if not text and not asked.resume and asked.recipe is None:
        raise Fault("Give a recipe (`regard recipes` lists some), --source and --target, or --pairs.")
    if not text and (valid or asked.languages):
        raise Fault("Files to validate with and --languages go with text files; a recipe has its own.")
    if asked.old_share is not None and not (text and asked.start):
        raise Fault(
            "--old-share goes with text files and --from; a recipe lists old text beside the new in data.train."
        )
    for path in (*text, *valid, *filter(None, (asked.start, asked.out))):
        try:
            str(path.resolve()).encode()
        except UnicodeEncodeError:
            raise Fault(f"The name {str(path)!a} is not UTF-8, so a recipe cannot hold it; give it another.") from None


def _files(prefix: str, source: Path | None, target: Path | None, pairs: Path | None) -> tuple[Path, ...]:
    """The files of a split: a source and a target, one file of pairs, or none."""
    two = f"--{prefix}source and --{prefix}target"
    if pairs is not None:
        if source or target:
            raise Fault(f"Give {two}, or --{prefix}pairs, not both.")
        return (pairs,)
    if source is None and target is None:
        return ()
    if source is None or target is None:
        raise Fault(f"{two} belong together; give both.")
    return source, target


def recipe_table(name: str) -> tuple[dict[str, Any], str]:
    """The recipe at a path, or the one of that name that comes with regard."""
    path = Path(name)
    if path.is_file() or path.suffix == ".toml":
        return read_table(path), path.stem
    return parse(recipe_text(name), name), name


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
    return RunPlan(table, name)


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
    name = "-".join(files.pair_of_languages())
    folder = asked.out or Path("runs") / name
    if asked.resume and RunFolder(folder).exists():
        return RunPlan(_same_files(files, folder), name)
    start = asked.start
    family = read_recipe(start).get("family") if start else None
    known = {"data": files.corpora()} | ({"family": family} if family else {})
    check_settings(apply_settings(known, asked.settings))  # before all the text is read
    if start:
        table, choices = recipe_from(start, files, asked.old_share or 0.0, torch.cuda.is_available())
    else:
        table, choices = recipe_for(files, torch.cuda.is_available())
    return RunPlan(table, name, choices)


def _same_files(files: TextFiles, folder: Path) -> dict[str, Any]:
    """The recipe of a run that goes on, which must have been begun with these files."""
    table = read_recipe(folder)
    given = {split: [check(Corpus, corpus)] for split, corpus in files.corpora().items()}
    old = check(PairData, table["data"])
    # Old text that was mixed in stands behind the new.
    given["train"] = [given["train"][0].model_copy(update={"weight": old.train[0].weight}), *old.train[1:]]
    if changed := differences(old, old.model_copy(update=given)):
        raise Fault(
            f"{folder} cannot be resumed with other data:",
            *(f"data.{change}" for change in changed),
            f"To go on from its weights with these: regard train … --from {folder} --out {folder}-2",
        )
    return table
