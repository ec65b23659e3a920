"""The Python functions besides `regard.load`: train, score and compare models, as the commands do."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import tomli_w

from regard.base.arguments import naming_arguments
from regard.base.faults import Fault
from regard.base.notebook import Results
from regard.base.progress import Progress, ignore_remark, silent
from regard.base.recipe import apply_settings
from regard.console import console_progress, remark
from regard.families.abilities import needs
from regard.metrics import Score
from regard.model import Model, load
from regard.runs.compare.plan import make_plan
from regard.runs.compare.report import Comparison
from regard.runs.compare.request import with_comparison
from regard.runs.compare.running import Manner, folder_of, run_comparison
from regard.runs.evaluate_model import EvaluationRequest, evaluate_model
from regard.runs.from_text.own_data import OwnFiles
from regard.runs.request import Tables, TrainingRequest, recipe_of
from regard.runs.start import console_audience, silent_audience, start_training
from regard.verbs.translate.request import helpers_of

File = str | Path


@naming_arguments
def train(
    recipe: File | Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    *,
    source: File | None = None,
    target: File | None = None,
    pairs: File | Sequence[File] = (),
    valid_source: File | None = None,
    valid_target: File | None = None,
    valid_pairs: File | Sequence[File] = (),
    data: File | Sequence[File] = (),
    valid_data: File | Sequence[File] = (),
    test_data: File | Sequence[File] = (),
    columns: str | None = None,
    header: bool | None = None,
    languages: str | None = None,
    from_: File | None = None,
    old_share: float | None = None,
    out: File | None = None,
    resume: bool = False,
    minutes: float | None = None,
    seed: int | None = None,
    overwrite: bool = False,
    processes: int | None = None,
    restarts: int = 0,
    quiet: bool = False,
) -> Model:
    """Train a model as `regard train` does, and load it; Ctrl-C stops a run cleanly, so that it can be resumed.

    - `recipe`: a name, a TOML file or a table, as {"family": "ngram", "data": …}; `settings`: {"training.steps": 200};
    - in its place text files: `source` and `target`, or `pairs`; others to validate with; `languages` such as "en-pt";
    - with a recipe, `data` takes the place of the files that it names, and `valid_data` and `test_data` belong to it;
    - `columns` of pairs or data by number or name, as in "1+3:2" or "text:label"; `header`: whether line 1 names them;
    - `from_`: a model folder to start from; with text files, `old_share` mixes in as much of what it was trained on;
    - `out`: the folder of the run and its model (runs/NAME), which is refused where it holds a run already, unless
      `resume` goes on with that or `overwrite` replaces it;
    - `minutes`: plan the run to be done by then; with `resume`, stop by then;
    - `processes`: train on so many, and begin again up to `restarts` times when one fails; `quiet`: say nothing.
    """
    asked = TrainingRequest(
        recipe=str(recipe) if isinstance(recipe, Path) else recipe,
        settings=[*settings_of(settings or {}), *([f"seed={seed}"] if seed is not None else [])],
        source=_path(source),
        target=_path(target),
        pairs=_paths(pairs),
        valid_source=_path(valid_source),
        valid_target=_path(valid_target),
        valid_pairs=_paths(valid_pairs),
        tables=Tables(_paths(data), _paths(valid_data), _paths(test_data), columns, header),
        languages=languages,
        start=_path(from_),
        old_share=old_share,
        out=_path(out),
        resume=resume,
        minutes=minutes,
        overwrite=overwrite,
        processes=processes,
        restarts=restarts,
    )
    return load(_train(asked, quiet))


def _train(asked: TrainingRequest, quiet: bool) -> Path:
    """Train what is asked for, and return the folder of the run."""
    audience = silent_audience() if quiet else console_audience()
    started = start_training(asked, audience)
    if started.interrupted:
        raise KeyboardInterrupt(f"the training in {started.folder} was interrupted; resume=True goes on with it")
    return started.folder


@naming_arguments
def evaluate(
    model: Model | File,
    split: Literal["test", "valid"] = "test",
    *,
    source: File | None = None,
    reference: File | Sequence[File] = (),
    data: File | Sequence[File] = (),
    columns: str | None = None,
    header: bool | None = None,
    metrics: Sequence[str] = (),
    alignments: File | None = None,
    beam: int | None = None,
    length_penalty: float | None = None,
    fuse: Model | File | None = None,
    fuse_weight: float | None = None,
    channel: Model | File | None = None,
    channel_weight: float | None = None,
    prior: Model | File | None = None,
    prior_weight: float | None = None,
    quiet: bool = False,
) -> list[Score]:
    """Score a model as `regard evaluate` does, on a split of its own data, or on the files `source` and `reference`.

    `model` is a model folder, or what was loaded from one. A language model is scored on a `source` alone. In place of
    these, `data` are files like those that the model learnt from, and `columns` and `header` as in `train`. `metrics`
    are those of `regard score` for translators, BLEU and chrF if none are named, and the task's own for others. Other
    models have a say in a translator's outputs: a language model to `fuse` with, a `channel` of the other direction and
    its `prior`, as in `translate`. `alignments` is a file with the links of each pair, such as 0-0 1-2, for the metric
    `aer`; generated corpora bring their own. Scores of a split are kept in the folder.
    """
    own = model.folder if isinstance(model, Model) else Path(model)
    loaded = model if isinstance(model, Model) else load(model)
    needs(loaded.recipe, "evaluate")
    helpers = helpers_of(fuse, fuse_weight, channel, channel_weight, prior, prior_weight)
    references = _paths(reference)
    own_files = _paths(data)
    files = OwnFiles.checked(own_files, own_files, own_files, columns, header) if own_files else None
    asked = EvaluationRequest(
        split,
        _path(source),
        references,
        metrics,
        beam,
        length_penalty,
        helpers,
        files=files,
        alignments=_path(alignments),
    )
    progress, say = (_silence, ignore_remark) if quiet else (console_progress, remark)
    with progress() as report:
        return Results(evaluate_model(loaded, own, asked, report, say).scores)


@naming_arguments
def compare(
    recipe: File | Mapping[str, Any],
    vary: Mapping[str, Sequence[Any]] | None = None,
    variants: Mapping[str, Mapping[str, Any]] | None = None,
    settings: Mapping[str, Any] | None = None,
    *,
    seeds: int | None = None,
    metrics: Sequence[str] | None = None,
    split: Literal["test", "valid"] | None = None,
    by_length: bool | None = None,
    out: File | None = None,
    resume: bool = False,
    overwrite: bool = False,
    minutes: float | None = None,
    jobs: int = 1,
    quiet: bool = False,
) -> Comparison:
    """Train variants of a recipe with several seeds each and score them all, as `regard compare` does.

    - `recipe`: the name of one that comes with regard, a TOML file, or a table; `settings` change it for all variants;
    - `vary`: options with their values, {"model.norm": ["before", "after"]}; several give every combination;
    - `variants`: names with the options of each, {"as it is": {}, "wide": {"model.width": 256}};
    - `seeds`: runs of each variant (3); `metrics` and `split`: what to score with and on; `by_length`: scores by the
      length of the source too;
    - `out`: the folder of the comparison (runs/compare-NAME), which is refused where it holds one already, unless
      `resume` goes on with that or `overwrite` replaces it;
    - `minutes`: stop cleanly after so many; `jobs`: train so many runs side by side; `quiet`: say nothing.

    A run that fails leaves the others be: what was found has it among its `failures`.
    """
    table, name = recipe_of(str(recipe) if isinstance(recipe, Path) else recipe)
    table = apply_settings(table, list(settings_of(settings or {})))
    varied = {option: list(values) for option, values in (vary or {}).items()}
    named = {each: apply_settings({}, list(settings_of(changes))) for each, changes in (variants or {}).items()}
    others = {"seeds": seeds, "metrics": None if metrics is None else list(metrics), "by_length": by_length}
    plan = make_plan(with_comparison(table, varied, named, others), name)
    audience = silent_audience() if quiet else console_audience()
    manner = Manner(split, resume, overwrite, jobs, minutes)
    folder = folder_of(name, _path(out))
    found = run_comparison(plan, folder, manner, audience)
    if found.interrupted:
        raise KeyboardInterrupt(f"the comparison in {folder} was interrupted; resume=True goes on with it")
    if found.left:
        raise Fault(found.progress())
    if found.comparison is None:
        raise found.failure()
    return found.comparison


def settings_of(table: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """Settings as --set takes them; tables within tables are named by dots."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from settings_of(value, f"{above}{name}.")
        elif value is None:
            raise Fault(f"The setting {above}{name} is None; leave it out to have its default.")
        else:
            plain = str(value) if isinstance(value, Path) else value
            yield f"{above}{name}={tomli_w.dumps({'value': plain}).partition('=')[2].strip()}"


def _path(file: File | None) -> Path | None:
    return None if file is None else Path(file)


def _paths(files: File | Sequence[File] | None) -> list[Path]:
    """Return one file or several as paths; None is none, as in the time when there was one."""
    if files is None:
        return []
    return [Path(files)] if isinstance(files, str | Path) else [Path(file) for file in files]


@contextmanager
def _silence() -> Iterator[Progress]:
    yield silent
