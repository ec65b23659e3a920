"""Text for students of language models: real text, and what the teachers write.

Everything is in the folder `teaching` of the run. A file is either complete or absent, and samples grow in files that
survive a kill, so that a run that was cut continues where it was.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.base.progress import Progress, Remark
from regard.data.corpora.text import file_of
from regard.data.generated.corpora import generated_lines
from regard.data.lines import read_lines
from regard.data.texts.options import LanguageData
from regard.data.texts.recipe_lines import lines_of_split, name_of
from regard.data.tokenisers.tokeniser import encode_in_a_row
from regard.loading import load_as
from regard.runs.distil.request import DistilRequest, Teacher
from regard.runs.distil.shards import write_in_shards, write_lines
from regard.verbs.generate.model import LanguageModel
from regard.verbs.generate.request import GenerateRequest

LENGTH = 256  # tokens of a sample, which goes past the ends of lines
SHARD = 256  # samples of a shard, which are written side by side
MOST = 1_000_000  # tokens that are written unless the user names a number
COUNTED = 10_000  # lines that are tokenised at once
LEAST_LETTERS = 20  # of a line that is never in a text by chance


@dataclass(frozen=True)
class TextFiles:
    """Files of what a language model is taught, in one folder."""

    folder: Path

    def split(self, name: str) -> Path:
        """Return the file of the real text of a split."""
        return self.folder / f"{name}.txt"

    @property
    def samples(self) -> Path:
        return self.folder / "samples.txt"


def write_texts(request: DistilRequest, teacher: Teacher, files: TextFiles, remark: Remark) -> None:
    """Write the real text of all splits, unless that was done; training text is the last.

    A text of the user's never includes long lines of the validation and test text, since scores would be worth nothing.
    """
    if files.split("train").exists():
        return
    data = teacher.recipe.data
    names = [name_of(file) for split in ("train", "valid", "test") for file in getattr(data, split)]
    if missing := [name for name in names if generated_lines(name) is None and not file_of(name).exists()]:
        raise Fault(f"The text of {teacher.folder} is gone: there is no {missing[0]}; restore it to teach a student.")
    held_out = set[str]()
    for split in ("valid", "test"):
        if split in data.parts:
            lines = list(_recipe_lines(data, split))
            held_out.update(line for line in lines if len(line) >= LEAST_LETTERS)
            write_lines(files.split(split), lines)
    if request.text is None:
        write_lines(files.split("train"), _recipe_lines(data, "train"))
        return
    lines = [data.spell(line) for line in read_lines(request.text)]
    taught = [line for line in lines if line not in held_out]
    if not any(line.strip() for line in taught):
        raise Fault(f"{request.text} has no text to teach that is not validation or test text.")
    if len(taught) < len(lines):
        remark(f"left out, as they are validation or test text: {quantity(len(lines) - len(taught), 'line')}")
    write_lines(files.split("train"), taught)


def _recipe_lines(data: LanguageData, split: str) -> Iterator[str]:
    return (line.text for line in lines_of_split(data, split))


def write_samples(
    request: DistilRequest, teachers: Sequence[Teacher], files: TextFiles, progress: Progress, remark: Remark
) -> None:
    """Let the teachers write in turn, each sample after a line of the text, unless that was done.

    A sample is a function of its number, so that it does not matter which of them were written before a cut.
    """
    if request.tokens == 0 or files.samples.exists():
        return
    lines = [line for line in read_lines(files.split("train")) if line.strip()]
    wanted = request.tokens or min(MOST, _count_tokens(lines, teachers[0]))
    count = -(-wanted // LENGTH)
    prompts = [lines[number * len(lines) // count] for number in range(count)]
    models = cache(lambda index: load_as(LanguageModel, teachers[index].folder, verb="generate"))

    def lines_of(numbers: range) -> Iterator[str]:
        for index in range(len(teachers)):
            chosen = [number for number in numbers if number % len(teachers) == index]
            if chosen:
                yield from _sampled_lines(models(index), chosen[0], [prompts[number] for number in chosen])
        progress("writing samples", numbers.stop, count)

    write_in_shards(files.samples, count, SHARD, lines_of)
    who = quantity(len(teachers), "teacher")
    remark(f"{who} wrote {quantity(count, 'sample')} of {LENGTH} tokens, in {files.samples}")


def _count_tokens(lines: Sequence[str], teacher: Teacher) -> int:
    """Count the tokens of lines, with an end for each."""
    blocks, tokeniser, stream = 0, teacher.tokenisers[1], iter(lines)
    while block := list(islice(stream, COUNTED)):
        blocks += len(encode_in_a_row(tokeniser, block).tokens) + len(block)
    return blocks


def _sampled_lines(model: LanguageModel, first: int, prompts: Sequence[str]) -> Iterator[str]:
    """Yield the lines of samples that continue prompts; a last line that was cut is dropped, unless it is alone."""
    starts = [f"{prompt}\n" for prompt in prompts]
    table = {"prompt": starts, "tokens": LENGTH, "past_end": True, "sample": {"temperature": 1.0}}
    samples = model.generate_by(GenerateRequest.read(table | forgetting(model)), first)
    for start, texts in zip(starts, samples, strict=True):
        *whole, last = texts[0].text.removeprefix(start).split("\n")
        yield from whole or [last]


def forgetting(model: LanguageModel) -> dict[str, str]:
    """Return the option that lets a model with a limited context write on when it is full."""
    has_limit = getattr(getattr(model.task, "model", None), "context", None) is not None
    return {"when_full": "forget"} if has_limit else {}
