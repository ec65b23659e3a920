"""Language models as teachers: they write text, which the student learns next to real text.

A student is a smaller network, or an n-gram model, which counts.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.base.progress import Progress, Remark
from regard.base.recipe import apply_settings, merge_tables, value_at
from regard.families import check_recipe
from regard.runs.distil.plan import TeachingPlan
from regard.runs.distil.request import DistilRequest, Teacher
from regard.runs.distil.samples import TextFiles, forgetting, write_samples, write_texts
from regard.runs.distil.shards import has_begun
from regard.runs.distil.sizes import DROPOUT, SHARES, count_student, refuse_large, training_of, widest_sizes
from regard.runs.distil.split_report import SplitReport, measure_models, seconds_of
from regard.runs.request import bend
from regard.tasks.language.borrowing import borrowed_options
from regard.tasks.language.lines import split_lines
from regard.verbs.generate.model import LanguageModel
from regard.verbs.generate.request import GenerateRequest

HEAD = 32  # least depth of a head
# Order of n-grams, of letters or bytes and of longer tokens.
ORDER, ORDER_OF_WORDS = 8, 5
WRITTEN, READ = 200, 4096  # tokens by which speeds are measured
_LETTERS = ("bytes", "characters")
_CELLS = ("lstm", "gru")
# Students by their largest share of the teacher's parameters; an n-gram model is as large as its counts.
STUDENTS: dict[str, float | None] = {**SHARES, **dict.fromkeys(_CELLS, SHARES["base"]), "ngram": None}
_KEPT = ("batch", "span", "valid_parts", "accumulate", "keep", "best_by", "final", "precision", "device")
_OF_ATTENTION = ("context", "when_full", "overlap", "positions", "norm", "activation")


class _LanguageModels:
    name, students = "language models", STUDENTS
    options = frozenset({"text", "tokens", "words", "temperature"})
    example = "generate {} --prompt …"

    def check(self, request: DistilRequest, teachers: Sequence[Teacher]) -> None:
        """Refuse distributions for a model that counts."""
        if request.words and request.student == "ngram":
            raise Fault("--words is for students that learn by gradient; an n-gram model counts text, so omit it.")

    def teach(
        self, request: DistilRequest, teachers: Sequence[Teacher], folder: Path, progress: Progress, remark: Remark
    ) -> None:
        files = TextFiles(folder)
        write_texts(request, teachers[0], files, remark)
        write_samples(request, teachers, files, progress, remark)

    def has_begun(self, folder: Path) -> bool:
        return has_begun(TextFiles(folder).samples)

    def recipe(self, request: DistilRequest, teachers: Sequence[Teacher], folder: Path) -> dict[str, Any]:
        teacher = teachers[0]
        table = {
            "family": _family(request, teacher),
            "task": "language",
            "data": _data(request, teacher, TextFiles(folder)),
            "decoding": teacher.recipe.decoding.model_dump(exclude_none=True),
        }
        if request.student == "ngram":
            order = ORDER if teacher.recipe.data.tokeniser.kind in _LETTERS else ORDER_OF_WORDS
            table["model"] = {"order": order, "discount_fallback": True}
            check_recipe(apply_settings(table, request.settings))
            return table
        table["model"] = _sizes(request, table, teacher)
        width = value_at(apply_settings(table, request.settings), "model", "width")
        table["training"] = training_of(request, teachers, width, _kept(teacher, table["family"]))
        table = bend(table, request.settings, is_own=False)
        refuse_large(count_student(table, request, teacher), teacher)
        return table

    def describe(self, request: DistilRequest, teacher: Teacher, table: dict[str, Any]) -> str:
        model = check_recipe(apply_settings(table, request.settings)).model
        if request.student == "ngram":
            return f"an n-gram student of order {model.order}"
        size = count_student(table, request, teacher)
        layers = f"{model.layers} layer{'s' if model.layers > 1 else ''} of width {model.width}"
        return (
            f"{'an' if request.student == 'lstm' else 'a'} {request.student} student of {layers}: {size:,} parameters, "
            f"{size / teacher.parameters:.1%} of its teacher's"
        )

    def report(self, folder: Path, plan: TeachingPlan, progress: Progress, remark: Remark) -> SplitReport:
        metrics = {"loss": "nats per token", "perplexity": "perplexity"}
        return measure_models(folder, plan, metrics, "tokens", _speeds, progress, remark, LanguageModel)


def _family(request: DistilRequest, teacher: Teacher) -> str:
    """Return the student's family: that of its name, or its teacher's own kind."""
    if request.student == "ngram":
        return "ngram"
    return "rnnlm" if request.student in _CELLS or teacher.recipe.family == "rnnlm" else "gpt"


def _data(request: DistilRequest, teacher: Teacher, files: TextFiles) -> dict[str, Any]:
    """Return the text of the student's recipe: what is taught, and the teacher's other splits and tokens."""
    own = teacher.recipe.data
    taught = [files.split("train"), *([files.samples] if request.tokens != 0 else [])]
    tokens = borrowed_options(teacher.folder, check_recipe)
    return {
        "train": [_whole_lines(file) for file in taught],
        **{split: [_whole_lines(files.split(split))] for split in ("valid", "test") if split in own.parts},
        "tokeniser": {**tokens, "from": str(teacher.folder.resolve())},
        "blank_lines": own.blank_lines,
        "longest": own.longest,
    }


def _whole_lines(file: Path) -> dict[str, Any]:
    return {"file": str(file.resolve()), "as_lines": True}


def _sizes(request: DistilRequest, table: dict[str, Any], teacher: Teacher) -> dict[str, Any]:
    """Return the model options of a network: the widest that fits, unless the user has set a width."""
    own, share = teacher.recipe.model, STUDENTS[request.student] or 1.0

    def sizes(width: int) -> dict[str, Any]:
        if table["family"] == "rnnlm":
            cell = request.student if request.student in _CELLS else own.cell
            dropout = {"input_dropout": DROPOUT, "output_dropout": DROPOUT}
            return {"cell": cell, "layers": 1, "embedding": width, "width": width, "tied": True, **dropout}
        most = max(1, width // HEAD)
        kept = {name: getattr(own, name) for name in _OF_ATTENTION}
        dropout = {name: min(DROPOUT, getattr(own, name)) for name in ("dropout", "attention_dropout")}
        heads = next(heads for heads in range(most, 0, -1) if width % heads == 0)
        return {"layers": max(1, own.layers // 2), "width": width, "heads": heads, **kept, **dropout}

    def count(model: dict[str, Any]) -> int:
        return count_student(merge_tables(table, {"model": model}), request, teacher)

    vocabulary = quantity(teacher.tokenisers[1].size, "token")
    return widest_sizes(request, teacher, share, sizes, count, vocabulary)


def _kept(teacher: Teacher, family: str) -> Sequence[str]:
    """Return the names of training options to keep; a network that reads windows has spans of one length."""
    return (*_KEPT, "vary_span") if family == teacher.recipe.family == "rnnlm" else _KEPT


def _speeds(model: Any, split: str) -> dict[str, float]:
    """Return the tokens a second that a model writes, one text alone, and reads."""
    task = model.task
    lines = split_lines(task.tokens_of(split)[:READ].tolist(), task.end)
    batch = task.text_batch(lines)
    writing = GenerateRequest.read({"tokens": WRITTEN, "past_end": True} | forgetting(model))
    written = len(next(model.generate_by(writing))[0].tokens)
    return {
        "written a second": written / seconds_of(lambda: list(model.generate_by(writing))),
        "read a second": sum(len(line) + 1 for line in lines) / seconds_of(lambda: task.measure(batch)),
    }


LANGUAGE_MODELS = _LanguageModels()
