"""The Python functions besides `regard.load`: train, evaluate and compare models and make data, as the commands do."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from regard.base.arguments import listed, naming_arguments, settings_of
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
from regard.runs.distil.request import DistilRequest
from regard.runs.distil.run import distil as distil_student
from regard.runs.evaluate_model import EvaluationRequest, evaluate_model
from regard.runs.filtering.asked import FilterRequest
from regard.runs.filtering.filtering import Filtered
from regard.runs.from_text.own_data import OwnFiles
from regard.runs.mono.asked import AskedTexts
from regard.runs.mono.back_translating import back_translate as write_pairs
from regard.runs.mono.back_translating import writing_of
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
    mono: File | Sequence[File] = (),
    back: File | None = None,
    forward: File | None = None,
    mono_share: float | None = None,
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
    - or text files instead: `source` and `target`, or `pairs`; validation files likewise; `languages` such as "en-pt";
    - with a recipe, `data`, `valid_data` and `test_data` replace all files that it names; `columns` of pairs or data
      by number or name, as in "1+3:2" or "text:label"; `header`: whether line 1 names them;
    - `mono`: text of one language for `mono_share` of the pairs; a model `back` or `forward` writes the other side;
    - `from_`: a model folder to fine-tune; with text files, `old_share` mixes in that share of its own training text;
    - `out`: the folder for the run and its model (runs/NAME); `resume` continues or `overwrite` replaces a run in it;
    - `minutes`: time to plan for; `processes`: their number, restarted up to `restarts` times; `quiet`: print nothing.
    """
    request = TrainingRequest(
        recipe=None if recipe is None else _recipe(recipe),
        settings=[*settings_of(settings or {}), *([f"seed={seed}"] if seed is not None else [])],
        **_text_files("", source, target, pairs),
        **_text_files("valid_", valid_source, valid_target, valid_pairs),
        tables=Tables(_paths(data), _paths(valid_data), _paths(test_data), columns, header),
        languages=languages,
        mono=AskedTexts(_paths(mono), _path(back), _path(forward), mono_share),
        start=_path(from_),
        old_share=old_share,
        out=_path(out),
        resume=resume,
        minutes=minutes,
        overwrite=overwrite,
        processes=processes,
        restarts=restarts,
    )
    return load(_train(request, quiet))


def _text_files(prefix: str, source: File | None, target: File | None, pairs: File | Sequence[File]) -> dict[str, Any]:
    """Return the fields of a request for the text files of a split."""
    return {f"{prefix}source": _path(source), f"{prefix}target": _path(target), f"{prefix}pairs": _paths(pairs)}


def _train(request: TrainingRequest, quiet: bool) -> Path:
    """Train for a request, and return the folder of the run."""
    audience = silent_audience() if quiet else console_audience()
    run = start_training(request, audience)
    if run.interrupted:
        raise KeyboardInterrupt(f"the training in {run.folder} was interrupted; resume=True continues it")
    return run.folder


@naming_arguments
def distil(
    teachers: File | Sequence[File],
    text: File | None = None,
    *,
    reference: File | None = None,
    out: File,
    student: Literal["base", "tiny", "micro", "lstm", "gru", "ngram"] = "base",
    decoder: Literal["attention", "ssru", "gru"] = "attention",
    int8: bool = False,
    targets: Literal["best", "n-best", "nearest", "reference"] = "best",
    n: int | None = None,
    beam: int | None = None,
    words: float = 0.0,
    temperature: float | None = None,
    tokens: int | None = None,
    settings: Mapping[str, Any] | None = None,
    seed: int | None = None,
    minutes: float | None = None,
    workers: int | None = None,
    resume: bool = False,
    overwrite: bool = False,
    quiet: bool = False,
) -> Model:
    """Train a small student of one translator or language model, or of several, and load it.

    - `text`: sentences to teach, or pairs (.tsv); by default the teacher's training text; `reference`: translations;
    - `student`: its size, at most a quarter, a tenth or a twentieth of the teacher's parameters, or of a language model
      also an LSTM, a GRU or n-grams; `decoder`: attention to all that was written, or a recurrent cell; `int8`: train
      it rounded as 8-bit engines compute;
    - `targets`: the teacher's best output, its `n` best, that of `n` nearest to the reference, or the reference itself;
    - `beam`: of the teacher; `words`: share of its distribution over each word in the loss, at a `temperature`;
    - `tokens`: how much text language models write;
    - `settings` and `seed` change the student's recipe, and `minutes` plan its training;
    - `out`: the folder for the student; `resume` continues a run that is there, and `overwrite` replaces it;
    - `workers`: processes that translate; `quiet`: print nothing. The report is in out/distilled.json.
    """
    request = DistilRequest(
        _paths(teachers),
        Path(out),
        _path(text),
        _path(reference),
        student,
        decoder,
        int8,
        targets,
        n,
        beam,
        words,
        temperature,
        tokens,
        [*settings_of(settings or {}), *([f"seed={seed}"] if seed is not None else [])],
        minutes,
        workers,
        resume,
        overwrite,
    )
    run, _ = distil_student(request, silent_audience() if quiet else console_audience())
    if run.interrupted:
        raise KeyboardInterrupt(f"the training in {run.folder} was interrupted; resume=True continues it")
    return load(run.folder)


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

    `model` is a model folder or a loaded model. A language model needs only a `source`. Instead of these, `data` are
    files in the format of the training data, with `columns` and `header` as in `train`. `metrics` are those of
    `regard score` for translators, BLEU and chrF by default, and the task's own for other models. A translator can be
    helped by a language model to `fuse` with, a `channel` model of the reverse direction and its `prior`, as in
    `translate`. `alignments` is a file with the links of each pair, such as 0-0 1-2, for the metric `aer`; generated
    corpora have their own. Scores of a split are saved in the folder.
    """
    folder = model.folder if isinstance(model, Model) else Path(model)
    loaded = model if isinstance(model, Model) else load(model)
    needs(loaded.recipe, "evaluate")
    helpers = helpers_of(fuse, fuse_weight, channel, channel_weight, prior, prior_weight)
    references = _paths(reference)
    data_files = _paths(data)
    files = OwnFiles.checked(data_files, data_files, data_files, columns, header) if data_files else None
    request = EvaluationRequest(
        split,
        _path(source),
        references,
        listed("metrics", metrics),
        beam,
        length_penalty,
        helpers,
        files=files,
        alignments=_path(alignments),
    )
    progress, say = (_silence, ignore_remark) if quiet else (console_progress, remark)
    with progress() as report:
        return Results(evaluate_model(loaded, folder, request, report, say).scores)


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

    - `recipe`: the name of an included recipe, a TOML file, or a table; `settings` change it for all variants;
    - `vary`: options with their values, {"model.norm": ["before", "after"]}; several give every combination;
    - `variants`: names with the options of each, {"baseline": {}, "wide": {"model.width": 256}};
    - `seeds`: runs per variant (3); `metrics` and `split`: what to score with and on; `by_length`: also give scores by
      source length;
    - `out`: the folder for the comparison (runs/compare-NAME); if it already holds one, `resume` continues it and
      `overwrite` replaces it, otherwise it is refused;
    - `minutes`: stop cleanly after this time; `jobs`: number of runs to train in parallel; `quiet`: print nothing.

    A run that fails does not stop the others; it is listed in `failures`.
    """
    table, name = recipe_of(_recipe(recipe))
    table = apply_settings(table, list(settings_of(settings or {})))
    options = {option: listed(f"vary['{option}']", values) for option, values in (vary or {}).items()}
    named_variants = {
        variant: apply_settings({}, list(settings_of(changes))) for variant, changes in (variants or {}).items()
    }
    others = {
        "seeds": seeds,
        "metrics": None if metrics is None else listed("metrics", metrics),
        "by_length": by_length,
    }
    plan = make_plan(with_comparison(table, options, named_variants, others), name)
    audience = silent_audience() if quiet else console_audience()
    manner = Manner(split, resume, overwrite, jobs, minutes)
    folder = folder_of(name, _path(out))
    runs = run_comparison(plan, folder, manner, audience)
    if runs.interrupted:
        raise KeyboardInterrupt(f"the comparison in {folder} was interrupted; resume=True continues it")
    if runs.left:
        raise Fault(runs.progress())
    if runs.comparison is None:
        raise runs.failure()
    return runs.comparison


@naming_arguments
def back_translate(
    model: File,
    file: File,
    out: File,
    *,
    beam: int | None = None,
    sample: bool = False,
    top_k: int | None = None,
    noise: bool = False,
    seed: int | None = None,
    precision: Literal["float32", "bf16"] = "float32",
    workers: int = 1,
    resume: bool = False,
    overwrite: bool = False,
    quiet: bool = False,
) -> str:
    """Translate text of the target language back into the source language, as `regard back-translate` does.

    Each line of `out` has the machine's text, a tab, and the line of `file`. The model translates the target language
    into the source language, by beam search, with `noise` in its outputs, or by `sample`. Return a sentence on how many
    lines were kept and dropped, and why.
    """
    writing = writing_of(beam=beam, sample=sample, top_k=top_k, noise=noise, seed=seed, precision=precision)
    with (_silence if quiet else console_progress)() as report:
        return write_pairs(
            Path(model),
            Path(file),
            Path(out),
            writing,
            workers,
            resume=resume,
            overwrite=overwrite,
            progress=report,
        )


@naming_arguments
def filter_pairs(
    pairs: File,
    out: File,
    *,
    languages: str | None = None,
    model: File | Sequence[File] = (),
    language_model: File | Sequence[File] = (),
    side: Literal["source", "target"] = "target",
    vectors: File | Sequence[File] = (),
    keep: float | None = None,
    at_least: Mapping[str, float] | None = None,
    scores: bool = False,
    columns: str | None = None,
    header: bool | None = None,
    examples: int = 3,
    overwrite: bool = False,
    quiet: bool = False,
) -> Filtered:
    """Write the good pairs of a file to `out`, as `regard data filter` does, and return what was kept and dropped.

    Criteria are `languages` such as "en-pt", one or two translators (`model`), language models of one `side`, and
    models whose sentence `vectors` are compared. Pairs below `at_least`, such as {"model": -2.5}, are dropped, and of
    the others the share `keep` of all pairs is kept, the best by their mean rank.
    """
    asked = FilterRequest(
        pairs=Path(pairs),
        out=Path(out),
        languages=languages,
        models=_paths(model),
        language_models=_paths(language_model),
        side=side,
        vectors=_paths(vectors),
        keep=keep,
        at_least=[f"{name}={value}" for name, value in (at_least or {}).items()],
        scores=scores,
        columns=columns,
        header=header,
        examples=examples,
        overwrite=overwrite,
    )
    with (_silence if quiet else console_progress)() as report:
        return asked.run(report)


def _recipe(recipe: File | Mapping[str, Any]) -> str | Mapping[str, Any]:
    if not isinstance(recipe, str | Path | Mapping):
        raise TypeError(f"recipe is a {type(recipe).__name__}, expected a name, a file or a table")
    return str(recipe) if isinstance(recipe, Path) else recipe


def _path(file: File | None) -> Path | None:
    return None if file is None else Path(file)


def _paths(files: File | Sequence[File] | None) -> list[Path]:
    """Return one file or several as paths; None, which older code may pass, gives none."""
    if files is None:
        return []
    return [Path(files)] if isinstance(files, str | Path) else [Path(file) for file in files]


@contextmanager
def _silence() -> Iterator[Progress]:
    yield silent
