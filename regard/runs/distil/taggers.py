"""Taggers as teachers: they tag sentences, and the student, a small recurrent network, learns their tags."""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.base.progress import Progress, Remark
from regard.base.recipe import apply_settings, merge_tables, value_at
from regard.data.lines import read_lines
from regard.data.tagging.files import ReadingReport, TaggedSentence, read_input, read_sentences
from regard.data.tagging.lexicon import make_lexicon, open_lexicon
from regard.data.tagging.options import TAG, WORD
from regard.data.tagging.prepare import PreparedTags
from regard.families import check_recipe, task_class
from regard.loading import Loaded, load_as
from regard.runs.distil.plan import TeachingPlan
from regard.runs.distil.request import DistilRequest, Teacher
from regard.runs.distil.shards import has_begun, write_in_shards, write_lines
from regard.runs.distil.sizes import DROPOUT, SHARES, count_student, refuse_large, training_of, widest_sizes
from regard.runs.distil.split_report import SplitReport, measure_models, seconds_of
from regard.runs.open import data_folder
from regard.runs.request import bend

WORD_DROPOUT = 0.05
SHARD, AT_ONCE = 2_000, 64  # sentences of a shard, and those that are tagged together
TIMED = 1  # batches by which speeds are measured
_KEPT = ("batch_tokens", "accumulate", "keep", "best_by", "final", "precision", "device")
_OF_TAGS = ("scheme", "joint", "fold_case", "fold_digits", "at_least", "longest")


class _Taggers:
    name, students, options = "taggers", SHARES, frozenset({"text", "targets"})
    example = "answer {} --text …"

    def check(self, request: DistilRequest, teachers: Sequence[Teacher]) -> None:
        """Refuse several teachers, several tags of a word, and true tags of a text that has none."""
        if len(teachers) > 1:
            raise Fault("Taggers teach alone; name one teacher.")
        if request.targets not in ("best", "reference"):
            raise Fault(f"--targets {request.targets} has no effect on students of taggers; omit it.")
        if request.targets == "reference" and request.text is not None:
            raise Fault("--targets reference teaches the true tags of the teacher's training text; omit --text.")

    def teach(
        self, request: DistilRequest, teachers: Sequence[Teacher], folder: Path, progress: Progress, remark: Remark
    ) -> None:
        if (taught := _file(folder, "train")).exists():
            return
        recipe = teachers[0].recipe
        own = data_folder(recipe, teachers[0].folder)
        place = own if own.exists() else folder / "corpus"
        prepared = task_class(recipe).prepare(recipe, place, progress, remark, teachers[0].files)
        names = [*recipe.data.input_columns, TAG]
        held_out = set[tuple[str, ...]]()
        for split in ("valid", "test"):
            if split in prepared.splits:
                sentences = list(_sentences_of(prepared, split))
                held_out.update(tuple(sentence.words) for sentence in sentences)
                write_lines(_file(folder, split), (_as_json(sentence, names) for sentence in sentences))
        sentences = list(_sentences_of(prepared, "train") if request.text is None else _text_sentences(request, recipe))
        chosen = [sentence for sentence in sentences if tuple(sentence.words) not in held_out]
        if not chosen:
            raise Fault(f"{request.text or teachers[0].folder} has no sentence to teach that is not held out.")
        if len(chosen) < len(sentences):
            remark(f"left out, as they are held out: {quantity(len(sentences) - len(chosen), 'sentence')}")
        if request.targets == "reference":
            write_lines(taught, (_as_json(sentence, names) for sentence in chosen))
            return
        task = load_as(Loaded, teachers[0].folder).task

        def lines_of(numbers: range) -> Iterator[str]:
            yield from (_as_json(sentence, names) for sentence in _tagged(task, chosen[numbers.start : numbers.stop]))
            progress("tagging", numbers.stop, len(chosen))

        write_in_shards(taught, len(chosen), SHARD, lines_of)
        remark(f"the teacher tagged {quantity(len(chosen), 'sentence')}, in {taught}")

    def has_begun(self, folder: Path) -> bool:
        return has_begun(_file(folder, "train"))

    def recipe(self, request: DistilRequest, teachers: Sequence[Teacher], folder: Path) -> dict[str, Any]:
        teacher = teachers[0]
        table: dict[str, Any] = {"family": "rnn", "task": "tagging", "data": _data(teacher, folder)}
        reader = _reading_as(teacher, table["data"], folder)
        table["model"] = _sizes(request, table, teacher, reader)
        width = value_at(apply_settings(table, request.settings), "model", "width")
        if teacher.recipe.family == "bert":  # its rates are for fine-tuning, its steps too few to learn from nothing
            table["training"] = {"best_by": teacher.recipe.training.best_by}
        else:
            table["training"] = training_of(request, teachers, width, _KEPT)
        table = bend(table, request.settings, is_own=False)
        refuse_large(count_student(table, request, reader), teacher)
        return table

    def describe(self, request: DistilRequest, teacher: Teacher, table: dict[str, Any]) -> str:
        model = check_recipe(apply_settings(table, request.settings)).model
        return f"a {request.student} student: a recurrent network of width {model.width} with output = '{model.output}'"

    def report(self, folder: Path, plan: TeachingPlan, progress: Progress, remark: Remark) -> SplitReport:
        metrics = {"f1": "F1", "accuracy": "accuracy", "accuracy_of_unknown": "of unknown words"}
        return measure_models(folder, plan, metrics, "words", _speeds, progress, remark)


def _file(folder: Path, split: str) -> Path:
    return folder / f"{split}.jsonl"


def _sentences_of(prepared: PreparedTags, split: str) -> Iterator[TaggedSentence]:
    """Yield the sentences of a split with their tags and further columns."""
    arrays = prepared.splits[split]
    for start, end in pairwise(arrays.starts):
        words = [prepared.forms[form] for form in arrays.forms[start:end]]
        tags = [prepared.tags[tag] for tag in arrays.tags[start:end]]
        columns = [
            [values[number] for number in numbers[start:end]]
            for values, numbers in zip(prepared.columns, arrays.columns, strict=True)
        ]
        yield TaggedSentence(words, tags, columns)


def _text_sentences(request: DistilRequest, recipe: Any) -> Iterator[TaggedSentence]:
    """Yield the sentences of the user's text, with columns joined to words where the teacher reads them."""
    assert request.text is not None
    for number, line in enumerate(read_lines(request.text), 1):
        if line.strip():
            try:
                yield read_input(line, recipe.data, raw=False)
            except Fault as fault:
                raise Fault(f"{request.text}, line {number:,}: {fault}") from None


def _as_json(sentence: TaggedSentence, names: Sequence[str]) -> str:
    values = [sentence.words, *sentence.columns, sentence.tags]
    return json.dumps(dict(zip(names, values, strict=True)), ensure_ascii=False)


def _tagged(task: Any, sentences: Iterable[TaggedSentence]) -> Iterator[TaggedSentence]:
    stream = iter(sentences)
    while batch := list(islice(stream, AT_ONCE)):
        for sentence, answer in zip(batch, task.answers(task.read(batch)), strict=True):
            yield TaggedSentence(sentence.words, answer.answers, sentence.columns)


def _data(teacher: Teacher, folder: Path) -> dict[str, Any]:
    """Return the data of the student's recipe: what is taught, and the teacher's other splits."""
    own = teacher.recipe.data
    return {
        **{split: [str(_file(folder, split).resolve())] for split in own.parts},
        "columns": [WORD, *own.read_beside, TAG],
        **{name: getattr(own, name) for name in _OF_TAGS},
    }


def _reading_as(teacher: Teacher, data: dict[str, Any], folder: Path) -> Teacher:
    """Return the teacher with the words of what is taught, if that is known, since the student will know those."""
    if not _file(folder, "train").exists():
        return teacher
    options = check_recipe({"family": "rnn", "task": "tagging", "data": data}).data
    lexicon = make_lexicon(read_sentences(options.train, options, ReadingReport()), options)
    return Teacher(teacher.folder, teacher.recipe, {**teacher.files, **lexicon.files()})


def _sizes(request: DistilRequest, table: dict[str, Any], teacher: Teacher, reader: Teacher) -> dict[str, Any]:
    """Return the model options of the student: the widest that fits, unless the user has set a width."""

    def sizes(width: int) -> dict[str, Any]:
        return {
            "inputs": {"width": width // 2, "word_dropout": WORD_DROPOUT, "dropout": DROPOUT},
            "letters": {"width": width // 2},
            "width": width,
            "layers": 1,
            "dropout": DROPOUT,
            "output": teacher.recipe.model.output,
        }

    def count(model: dict[str, Any]) -> int:
        return count_student(merge_tables(table, {"model": model}), request, reader)

    words = len(open_lexicon(reader.files, len(reader.recipe.data.read_beside)).words)
    return widest_sizes(request, teacher, SHARES[request.student], sizes, count, quantity(words, "word"))


def _speeds(model: Loaded, split: str) -> dict[str, float]:
    """Return the words a second that a model tags."""
    batches = list(islice(model.task.batches(split, 0, 0, 0), TIMED))
    words = sum(int(batch.inputs.lengths.sum()) for batch in batches)
    return {"words a second": words / seconds_of(lambda: [model.task.answers(batch) for batch in batches])}


TAGGERS = _Taggers()
