"""Students of translators: BLEU, size, attention and speed by what they are taught and how large they are.

    .venv/bin/python benchmarks/students.py --out DIR [--sets NAME …] [--seeds 1 2 3] [--jobs 8] [--only TEXT …]
        [--one-teacher]
    .venv/bin/python benchmarks/students.py --out DIR --table
    .venv/bin/python benchmarks/students.py --out DIR --collect DEST
    .venv/bin/python benchmarks/students.py --out DEST --restore
    .venv/bin/python benchmarks/students.py --out DIR --speed

Teachers are trained by their recipes, one for each seed, and teach the students of that seed; with `--one-teacher` the
first seed's teaches all. Students learn the original text (references), the teacher's best outputs (best), that of its
four best that is nearest to the reference (nearest), or its best outputs with its distribution over each word (words);
`--ensemble` adds the best outputs of all seeds' teachers together. Settings are compared on validation, the test is
only reported. Every job leaves a file in DIR/results, so a benchmark that was cut at any second continues with the same
command, and so do its runs; jobs start in an order in which whole rows of the table are finished early.

`--collect` copies the results, and the students with weights in half precision, which is all that need be brought from
another machine; `--restore` makes model folders of them again. `--speed` measures on this CPU by CTranslate2 in 8 bits.
Speed does not depend on weights, but the length of outputs does: so a teacher that is not there gets random weights,
and every model is made to write as many tokens as the reference has, no more and no fewer.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from regard.base.files import write_file
from regard.base.model_folder import WEIGHTS, read_manifest, update_folder
from regard.base.processes import die_with_parent
from regard.base.progress import silent
from regard.base.recipe import apply_settings, write
from regard.data.corpora.text import read_pairs
from regard.data.lines import read_lines
from regard.families import check_recipe
from regard.runs.distil.agreement import attention_agreement
from regard.runs.distil.plan import FOLDER, begin_teaching
from regard.runs.distil.request import DistilRequest, StudentName, Targets, Teacher, open_teachers
from regard.runs.distil.run import train_student
from regard.runs.distil.teaching import Teaching, teach
from regard.runs.distil.translator_students import student_data, student_recipe
from regard.runs.request import TrainingRequest, recipe_table
from regard.runs.start import StartedRun, silent_audience, start_training
from regard.tasks.translation.building import build_translation
from regard.training import checkpoint
from regard.training.snapshot import named_weights
from regard.verbs.translate import evaluation
from regard.verbs.translate.model import TranslationModel, load_translation_model

RECIPES = {"tatoeba": "tatoeba-en-pt", "multi30k": "multi30k-en-de"}
SIZES: tuple[StudentName, ...] = ("base", "tiny", "micro")
VARIANTS: dict[str, tuple[Targets, float]] = {  # targets, and the share of the teacher's distribution in the loss
    "best": ("best", 0.0),
    "reference": ("reference", 0.0),
    "words": ("best", 0.5),
    "nearest": ("nearest", 0.0),
    "ensemble": ("best", 0.0),
}
CANDIDATES = 4
WATCHED = 500
WAITING = 0.5  # seconds between two looks at the jobs


@dataclass(frozen=True)
class Job:
    """A piece of work: a teacher, what it teaches, or a student."""

    data: str
    kind: str
    seed: int
    variant: str = ""
    size: str = ""

    @property
    def name(self) -> str:
        return "-".join(filter(None, (self.data, self.kind, self.variant, self.size, str(self.seed))))

    def needs(self, asked: argparse.Namespace) -> "list[Job]":
        """Return the jobs that must be finished before."""
        everyone = [Job(self.data, "teacher", seed) for seed in teachers_of(self, asked)]
        if self.kind == "teacher":
            return []
        if self.kind == "teaching":
            translated = [Job(self.data, "teaching", self.seed, "nearest")] if self.variant == "best" else []
            return [*everyone, *translated]
        return [*everyone, Job(self.data, "teaching", teachers_of(self, asked)[0], teaching_for(self.variant))]


def teaching_for(variant: str) -> str:
    """Return the variant whose texts a variant learns."""
    return "best" if variant == "words" else variant


def teachers_of(job: Job, asked: argparse.Namespace) -> list[int]:
    """Return the seeds of the teachers of a job."""
    if job.variant == "ensemble":
        return list(asked.seeds)
    return asked.seeds[:1] if asked.one_teacher else [job.seed]


def all_jobs(asked: argparse.Namespace) -> list[Job]:
    """Return all jobs in the order in which they start: seed by seed, then size by size."""
    variants = [name for name in VARIANTS if name != "ensemble" or asked.ensemble]
    teaching_seeds = asked.seeds[:1] if asked.one_teacher and not asked.ensemble else asked.seeds
    jobs = [Job(data, "teacher", seed) for seed in teaching_seeds for data in asked.sets]
    for seed in asked.seeds:
        for data in asked.sets if seed in teaching_seeds else ():
            kinds = dict.fromkeys(["nearest", *map(teaching_for, variants)])
            jobs += [Job(data, "teaching", seed, teaching) for teaching in kinds]
        for size in asked.sizes:
            jobs += [
                Job(data, "student", seed, variant, size)
                for variant in variants
                for data in asked.sets
                if variant != "ensemble" or seed == asked.seeds[0]
            ]
    wanted = {teaching_for(job.variant) for job in jobs if job.kind == "student"}
    wanted.add("nearest")
    first = asked.seeds[0]
    return [
        job
        for job in jobs
        if job.kind != "teaching" or (job.variant in wanted and (job.variant != "ensemble" or job.seed == first))
    ]


def is_wanted(job: Job, asked: argparse.Namespace) -> bool:
    return not asked.only or any(text in job.name for text in asked.only)


# Running jobs


def settings_of(asked: argparse.Namespace, kind: str) -> list[str]:
    """Return the settings that shorten or change runs."""
    changes = ["data.processes=2", *(asked.set_teacher if kind == "teacher" else asked.set_student)]
    if asked.steps:
        changes += [f"training.steps={asked.steps}", f"training.validate_every={asked.steps}"]
        changes += [f"training.save_every={max(1, asked.steps // 10)}", "training.optimizer.warmup=10"]
    return changes


def run_job(job: Job, asked: argparse.Namespace) -> dict[str, Any]:
    """Do a job, or the rest of it."""
    if job.kind == "teacher":
        return train_teacher(job, asked)
    if job.kind == "teaching":
        return make_teaching(job, asked)
    return train_and_score(job, asked)


def train_teacher(job: Job, asked: argparse.Namespace) -> dict[str, Any]:
    folder = asked.out / job.name
    table, _ = recipe_table(RECIPES[job.data])
    prepared = f"data.prepared={asked.out.resolve() / 'prepared' / job.data}"  # the same for all seeds
    changes = [*small_data(job, asked), prepared, f"seed={job.seed}", *settings_of(asked, "teacher")]
    table = apply_settings(table, changes)
    end_if_cut(start_training(TrainingRequest(recipe=table, out=folder, resume=True), silent_audience()))
    return scores_of(load_translation_model(folder), folder, asked)


def end_if_cut(run: StartedRun) -> None:
    """End this process if its training was cut, so that no unfinished model is scored as a finished one."""
    if run.interrupted:
        sys.exit(130)


def small_data(job: Job, asked: argparse.Namespace) -> list[str]:
    """Return settings for a rehearsal with some lines of a data set, or none."""
    if not asked.lines:
        return []
    place, paths = asked.out / "data" / job.data, []
    recipe = check_recipe(recipe_table(RECIPES[job.data])[0])
    for split in ("train", "valid", "test"):
        corpora = getattr(recipe.data, split)
        if not corpora:
            continue
        lines = [pair for _, pair in zip(range(asked.lines), read_pairs(corpora[0]), strict=False)]
        files = [place / f"{split}.{side}" for side in ("source", "target")]
        place.mkdir(parents=True, exist_ok=True)
        for side, file in enumerate(files):
            if not file.exists():
                write_file(file, "".join(f"{pair[side]}\n" for pair in lines).encode())
        paths.append(f"data.{split}={json.dumps([str(file.resolve()) for file in files])}")
    return [*paths, "data.tokeniser.vocabulary=1000"]


def request_for(job: Job, asked: argparse.Namespace, out: Path) -> DistilRequest:
    teachers = [asked.out / Job(job.data, "teacher", seed).name for seed in teachers_of(job, asked)]
    targets, words = VARIANTS[job.variant]
    return DistilRequest(
        teachers,
        out,
        student=job.size or "base",  # type: ignore[arg-type]
        targets=targets,
        n=CANDIDATES if targets == "nearest" else None,
        beam=None if targets == "reference" else CANDIDATES,
        words=words,
        settings=[f"seed={job.seed}", *settings_of(asked, "student")],
        workers=asked.workers,
        resume=True,
    )


def make_teaching(job: Job, asked: argparse.Namespace) -> dict[str, Any]:
    """Let the teacher translate; its best outputs are the first of the four that `nearest` chooses among."""
    request = request_for(job, asked, asked.out / job.name)
    teachers = open_teachers(request.teachers)
    begin_teaching(request, teachers)
    teaching = Teaching(request.out / FOLDER)
    if job.variant == "best" and not teaching.translations.exists():
        other = Teaching(asked.out / Job(job.data, "teaching", job.seed, "nearest").name / FOLDER)
        for name in ("pairs.source", "pairs.target", "valid.source", "valid.target", "sources.txt"):
            if (other.folder / name).exists():
                shutil.copyfile(other.folder / name, teaching.folder / name)
        lines = list(read_lines(other.translations))
        write_file(teaching.translations, "".join(f"{line}\n" for line in lines[::CANDIDATES]).encode())
    began = time.monotonic()
    teach(request, teachers, teaching, silent, print)
    sentences = sum(1 for _ in read_lines(teaching.train[0]))
    return {"pairs": sentences, "seconds": time.monotonic() - began}


def train_and_score(job: Job, asked: argparse.Namespace) -> dict[str, Any]:
    folder = asked.out / job.name
    request = request_for(job, asked, folder)
    first = teachers_of(job, asked)[0]
    teaching = asked.out / Job(job.data, "teaching", first, teaching_for(job.variant)).name / FOLDER
    if not (folder / FOLDER).exists():
        checkpoint.RunFolder(folder).begin()
        partial = folder / f"{FOLDER}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        shutil.copytree(teaching, partial, copy_function=os.link)
        partial.rename(folder / FOLDER)
    end_if_cut(train_student(request, silent_audience()))
    student, teacher = load_translation_model(folder), load_translation_model(request.teachers[0])
    result = scores_of(student, folder, asked)
    valid, test = (evaluation.from_split(student, folder, split).pairs for split in ("valid", "test"))
    agreement = attention_agreement(teacher.task, student.task, test[:WATCHED], valid[:WATCHED])
    return result | {"agreement": agreement and agreement.as_dict(), "model": student.recipe.model.model_dump()}


def scores_of(model: TranslationModel, folder: Path, asked: argparse.Namespace) -> dict[str, Any]:
    """Return BLEU and chrF on validation and test, by the recipe's beam and greedily."""
    scores: dict[str, Any] = {"parameters": model.parameters}
    for split in ("valid", "test"):
        data = evaluation.from_split(model, folder, split)
        for beam in (model.recipe.decoding.beam, 1):
            found = evaluation.evaluate(model, data, ("bleu", "chrf"), beam=beam).scores
            scores[f"{split} beam {beam}"] = {score.metric: score.value for score in found}
    return scores


def result_file(job: Job, asked: argparse.Namespace) -> Path:
    return asked.out / "results" / f"{job.name}.json"


def start_job(job: Job, asked: argparse.Namespace) -> "subprocess.Popen[bytes]":
    log = (asked.out / "results" / f"{job.name}.log").open("ab")
    command = [sys.executable, __file__, *sys.argv[1:], "--job", job.name]
    one_thread = {"OMP_NUM_THREADS": "1"} | dict(os.environ)  # jobs share the cores
    return subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=one_thread)


def work(asked: argparse.Namespace) -> bool:
    """Do all jobs that are not done, several at once; return True if nothing failed."""
    end = time.monotonic() + 60 * asked.minutes if asked.minutes else float("inf")
    jobs = [job for job in all_jobs(asked) if is_wanted(job, asked) and not result_file(job, asked).exists()]
    running, failed = dict[Job, "subprocess.Popen[bytes]"](), set[Job]()
    try:
        while (jobs or running) and time.monotonic() < end:
            for job, process in list(running.items()):
                if process.poll() is not None:
                    del running[job]
                    print(f"{'done  ' if process.returncode == 0 else 'FAILED'} {job.name}", flush=True)
                    failed |= set() if process.returncode == 0 else {job}
            ready = [job for job in jobs if all(result_file(need, asked).exists() for need in job.needs(asked))]
            for job in ready[: max(0, asked.jobs - len(running))]:
                jobs.remove(job)
                running[job] = start_job(job, asked)
            if not running and not ready:
                break
            time.sleep(WAITING)
    finally:
        for process in running.values():
            process.terminate()
        for process in running.values():
            process.wait()
    left = len(jobs) + len(running)
    print(f"{left} jobs left, {len(failed)} failed; the same command continues", flush=True)
    return not failed and not left


# Results


def read_results(asked: argparse.Namespace) -> dict[str, dict[str, Any]]:
    files = sorted((asked.out / "results").glob("*.json"))
    return {file.stem: json.loads(file.read_text()) for file in files if not file.name.startswith(("all", "speed"))}


def mean_and_spread(values: Sequence[float]) -> str:
    if not values:
        return ""
    spread = f" ± {statistics.stdev(values):.2f}" if len(values) > 1 else ""
    return f"{statistics.fmean(values):.2f}{spread}"


def table(asked: argparse.Namespace) -> str:
    """Return the table in Markdown: a row for each kind of model, the mean and deviation over seeds."""
    results, lines = read_results(asked), []
    header = (
        "data",
        "model",
        "taught",
        "parameters",
        "valid BLEU",
        "test BLEU",
        "test chrF",
        "greedy",
        "attention",
        "seeds",
    )
    lines += [f"| {' | '.join(header)} |", f"|{' --- |' * len(header)}"]
    for data in asked.sets:
        rows = [("teacher", "", [Job(data, "teacher", seed) for seed in asked.seeds])]
        rows += [
            (size, variant, [Job(data, "student", seed, variant, size) for seed in asked.seeds])
            for size in asked.sizes
            for variant in VARIANTS
        ]
        for model, variant, jobs in rows:
            found = [results[job.name] for job in jobs if job.name in results]
            if found:
                lines.append(f"| {' | '.join([data, model, variant, *cells(found)])} |")
    return "\n".join(lines)


def cells(found: list[dict[str, Any]]) -> Iterator[str]:
    beams = sorted({int(name.split()[-1]) for name in found[0] if " beam " in name})

    def values(split: str, beam: int, metric: str) -> list[float]:
        return [result[f"{split} beam {beam}"][metric] for result in found]

    yield f"{found[0]['parameters']:,}"
    yield mean_and_spread(values("valid", beams[-1], "bleu"))
    yield mean_and_spread(values("test", beams[-1], "bleu"))
    yield mean_and_spread(values("test", beams[-1], "chrf"))
    yield mean_and_spread(values("test", 1, "bleu"))
    shares = [100 * result["agreement"]["share"] for result in found if result.get("agreement")]
    yield mean_and_spread(shares)
    yield str(len(found))


def write_table(asked: argparse.Namespace) -> None:
    everything = {"results": read_results(asked)}
    write_file(asked.out / "results" / "all.json", json.dumps(everything, indent=1).encode())
    write_file(asked.out / "results" / "table.md", f"{table(asked)}\n".encode())
    print(table(asked))


def collect(asked: argparse.Namespace) -> None:
    """Copy results, and students with weights in half precision."""
    write_table(asked)
    shutil.copytree(asked.out / "results", asked.collect / "results", dirs_exist_ok=True)
    for job in all_jobs(asked):
        if job.kind != "student" or not result_file(job, asked).exists() or not is_wanted(job, asked):
            continue
        folder, copy = asked.out / job.name, asked.collect / job.name
        copy.mkdir(parents=True, exist_ok=True)
        names = [name for name in read_manifest(folder) if name != WEIGHTS]
        files = {name: (folder / name).read_bytes() for name in names}
        weights = checkpoint.bytes_to_weights((folder / WEIGHTS).read_bytes(), str(folder))
        files["half.safetensors"] = checkpoint.weights_to_bytes({n: tensor.half() for n, tensor in weights.items()})
        for name, content in files.items():
            write_file(copy / name, content)


def restore(folder: Path) -> None:
    """Make a model folder of a collected one: weights in single precision, rounded to half."""
    if (folder / WEIGHTS).exists() or not (folder / "half.safetensors").exists():
        return
    weights = checkpoint.bytes_to_weights((folder / "half.safetensors").read_bytes(), str(folder))
    (folder / "manifest.json").unlink(missing_ok=True)
    names = [path.name for path in folder.iterdir() if path.is_file() and path.name != "half.safetensors"]
    files = {name: (folder / name).read_bytes() for name in names}
    files[WEIGHTS] = checkpoint.weights_to_bytes({name: tensor.float() for name, tensor in weights.items()})
    update_folder(folder, files)


# Speed


def random_model(recipe: Any, teacher: Teacher, folder: Path) -> Path:
    """Write a model of a recipe with a teacher's tokenisers and random weights, and return its folder."""
    if not (folder / WEIGHTS).exists():
        torch.manual_seed(1)
        task = build_translation(recipe, *teacher.tokenisers)
        source, target = teacher.tokenisers
        files = source.files("tokeniser") if source is target else source.files("source") | target.files("target")
        files[checkpoint.RECIPE] = write(recipe, "random weights").encode()
        files[WEIGHTS] = checkpoint.weights_to_bytes(named_weights(task))
        update_folder(folder, files)
    return folder


def measure_speeds(asked: argparse.Namespace) -> None:
    """Measure a teacher and its students of every size, all with random weights and the lengths of references."""
    found: dict[str, Any] = {}
    for data in asked.sets:
        origin = next(iter(sorted(asked.out.glob(f"{data}-teacher-*"))), None) or next(
            iter(sorted(asked.out.glob(f"{data}-student-*"))), None
        )
        if origin is None:
            print(f"{data}: no model is there, whose tokenisers are needed")
            continue
        restore(origin)
        (model,) = open_teachers([origin])
        table, _ = recipe_table(RECIPES[data])
        own = model.recipe.data.model_dump(exclude_none=True)
        recipe: Any = check_recipe(table | {"data": own})
        teacher = Teacher(origin, recipe, model.files)
        folders = {"teacher": random_model(recipe, teacher, asked.out / "speed" / f"{data}-teacher")}
        for size in asked.sizes:
            for decoder in asked.decoders:
                request = DistilRequest([origin], Path("student"), student=size, decoder=decoder)
                student = student_recipe(request, [teacher], student_data(teacher, (Path("a"), Path("b")), None))
                name = size if decoder == "attention" else f"{size} {decoder}"
                place = asked.out / "speed" / f"{data}-{name.replace(' ', '-')}"
                folders[name] = random_model(check_recipe(student), teacher, place)
        pairs = [pair for corpus in recipe.data.test for pair in read_pairs(corpus)][: asked.sentences]
        found[data] = {name: speed_of(folder, pairs) for name, folder in folders.items()}
        for name, row in found[data].items():
            print(data, name, json.dumps(row), flush=True)
    write_file(asked.out / "results" / "speed.json", json.dumps(found, indent=1).encode())


def speed_of(folder: Path, pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return the median milliseconds of a sentence alone, and sentences a second in batches of equal lengths."""
    import ctranslate2

    from regard.engines.ctranslate2.export import export_ctranslate2

    place = folder / "ctranslate2"
    if not place.exists():
        export_ctranslate2(folder, place, "int8")
    (model,) = open_teachers([folder])
    source, target = model.tokenisers
    rows = [(source.pieces(source.encode(text)), len(target.encode(other)) + 1) for text, other in pairs]
    groups = list(batches_of_equal_length(rows))
    result: dict[str, Any] = {"int8 bytes": sum(file.stat().st_size for file in place.iterdir())}
    for beam in (4, 1):
        for threads in (1, 2):
            translator = ctranslate2.Translator(str(place), inter_threads=threads, intra_threads=1)

            def translate(texts: list[list[str]], length: int, translator: Any = translator, beam: int = beam) -> Any:
                forced = {"min_decoding_length": length, "max_decoding_length": length}
                return translator.translate_batch(texts, beam_size=beam, asynchronous=True, **forced)

            def wait(results: list[Any]) -> None:
                for result in results:
                    result.result()

            wait(translate(*groups[0]))
            times = []
            for _ in range(3):
                began = time.perf_counter()
                waiting = [translate(*group) for group in groups]
                for results in waiting:
                    wait(results)
                times.append(time.perf_counter() - began)
            result[f"beam {beam}, sentences a second, {threads} cores"] = len(rows) / min(times)
            if threads == 1:
                alone = []
                for text, length in rows[:100]:
                    began = time.perf_counter()
                    wait(translate([text], length))
                    alone.append(1000 * (time.perf_counter() - began))
                result[f"beam {beam}, ms alone"] = statistics.median(alone)
    return result


def batches_of_equal_length(rows: list[tuple[list[str], int]]) -> Iterator[tuple[list[list[str]], int]]:
    """Yield batches of 32 texts of similar output length, and the middle one of their lengths."""
    ordered = sorted(rows, key=lambda row: row[1])
    for first in range(0, len(ordered), 32):
        batch = ordered[first : first + 32]
        yield [text for text, _ in batch], batch[len(batch) // 2][1]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder for runs and results")
    parser.add_argument("--sets", nargs="+", choices=RECIPES, default=list(RECIPES), help="data sets")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3], help="seeds of teachers and their students")
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES), help="sizes of students")
    parser.add_argument("--jobs", type=int, default=1, help="jobs at once")
    parser.add_argument("--only", nargs="+", metavar="TEXT", help="only jobs whose name has one of these texts")
    parser.add_argument("--one-teacher", action="store_true", help="the first seed's teacher teaches students of all")
    parser.add_argument("--ensemble", action="store_true", help="also students of all teachers together")
    parser.add_argument("--steps", type=int, help="steps of every run, for a rehearsal")
    parser.add_argument("--lines", type=int, help="lines of every data set, for a rehearsal")
    parser.add_argument("--set-teacher", nargs="*", default=[], metavar="NAME=VALUE", help="change teachers' recipes")
    parser.add_argument("--set-student", nargs="*", default=[], metavar="NAME=VALUE", help="change students' recipes")
    parser.add_argument("--workers", type=int, default=1, help="processes that translate for one teacher")
    parser.add_argument("--minutes", type=float, help="stop after this time; the same command continues")
    parser.add_argument("--table", action="store_true", help="only print the table, and write it with all results")
    parser.add_argument("--collect", type=Path, metavar="DEST", help="copy results and students here")
    parser.add_argument("--restore", action="store_true", help="make model folders of students that were collected")
    parser.add_argument("--speed", action="store_true", help="measure speeds on this CPU by CTranslate2")
    parser.add_argument("--sentences", type=int, default=512, help="sentences for --speed")
    parser.add_argument("--decoders", nargs="+", default=["attention"], help="decoders of students for --speed")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    asked = arguments()
    (asked.out / "results").mkdir(parents=True, exist_ok=True)
    if asked.job:
        die_with_parent()
        job = next(job for job in all_jobs(asked) if job.name == asked.job)
        write_file(result_file(job, asked), json.dumps(run_job(job, asked), indent=1).encode())
    elif asked.table:
        write_table(asked)
    elif asked.collect:
        collect(asked)
    elif asked.restore:
        for folder in sorted(asked.out.glob("*-student-*")):
            restore(folder)
            print(folder)
    elif asked.speed:
        measure_speeds(asked)
    else:
        is_done = work(asked)
        write_table(asked)
        sys.exit(0 if is_done else 1)


if __name__ == "__main__":
    main()
