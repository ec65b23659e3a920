"""Outputs of one run of a lesson, kept with its sources: text and pictures that all languages share."""

import io
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from regard.base.files import checksum, read_bounded, write_file
from regard.base.parsing import parse_json
from regard.course.running import Output, Runner, working_in
from regard.course.sources import Lesson

RECORD = "record.json"
_LARGEST = 2_000_000  # bytes of a record or a picture
_WIDEST, _COLOURS = 800, 64  # of a picture
_PANORAMA = 2.5  # a picture this many times as wide as high has panels side by side, and may be twice as wide
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_OVERWRITTEN = re.compile(r"[^\n]*\r(?!\n)")  # a line that a progress bar wrote over
# Lines of progress that a command prints where there is no terminal; their number depends on the speed of the machine.
_PROGRESS = re.compile(
    r"(step [\d,]+/[\d,]+  loss .*|step [\d,]+  [\d,]+ steps left.*"
    r"|(aligning|laying out|preparing|reading|scoring|training|translating|watching)\b.* [\d,]+( of [\d,]+)?)\n"
)

Announce = Callable[[str, tuple[Output, ...]], None]


@dataclass(frozen=True)
class Recording:
    """The outputs of each step, and the checksum of the code that made them."""

    code: str
    steps: Mapping[str, tuple[Output, ...]]


def record(lesson: Lesson, folder: Path, announce: Announce) -> Recording:
    """Run all steps of a lesson in a folder and return what another machine would show too: no progress, no speeds."""
    runner, steps = Runner(lesson), {}
    with working_in(folder):
        place = str(Path.cwd())
        for step in lesson.steps.values():
            outputs: list[Output] = []
            runner.run(step, {}, outputs.append)
            steps[step.name] = tuple(_kept(outputs, place))
            announce(step.name, steps[step.name])
    return Recording(checksum(lesson.code.encode()), steps)


def write_recording(lesson: Lesson, recording: Recording) -> None:
    """Write a recording into the lesson's folder, in place of an earlier one."""
    folder = lesson.folder / "outputs"
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    table: dict[str, list[dict[str, str]]] = {}
    for name, outputs in recording.steps.items():
        rows = table.setdefault(name, [])
        for output in outputs:
            if output.kind == "picture":
                file = f"{name}-{sum('picture' in row for row in rows) + 1}.png"
                write_file(folder / file, output.picture)
                rows.append({"picture": file})
            else:
                rows.append({"text": output.text})
    whole = {"code": recording.code, "steps": table}
    write_file(folder / RECORD, (json.dumps(whole, ensure_ascii=False, indent=1) + "\n").encode())


def read_recording(lesson: Lesson) -> Recording:
    """Read the recording of a lesson; one that does not exist yet has no steps."""
    path = lesson.folder / "outputs" / RECORD
    if not path.is_file():
        return Recording("", {})
    table = parse_json(read_bounded(path, _LARGEST), str(path))
    steps = {name: tuple(_output(row, path.parent) for row in rows) for name, rows in table["steps"].items()}
    return Recording(table["code"], steps)


def _output(row: Mapping[str, str], folder: Path) -> Output:
    if "picture" in row:
        return Output("picture", picture=read_bounded(folder / row["picture"], _LARGEST))
    return Output("text", row["text"])


def _kept(outputs: list[Output], place: str) -> list[Output]:
    """Return outputs with neighbouring texts joined, without progress, and pictures made small."""
    kept: list[Output] = []
    for output in outputs:
        if output.kind == "picture":
            kept.append(Output("picture", picture=smaller(output.picture)))
        elif output.kind == "text" and kept and kept[-1].kind == "text":
            kept[-1] = Output("text", kept[-1].text + output.text)
        elif output.kind == "text":
            kept.append(output)
    tidied = [_tidied(output, place) for output in kept]
    return [output for output in tidied if output.kind == "picture" or output.text.strip()]


def _tidied(output: Output, place: str) -> Output:
    if output.kind == "picture":
        return output
    text = _OVERWRITTEN.sub("", _STYLE.sub("", output.text)).replace(f"{place}/", "").replace(place, ".")
    lines = (f"{line.rstrip()}\n" for line in text.strip("\n").split("\n"))
    return Output("text", "".join(line for line in lines if not _PROGRESS.fullmatch(line)))


def smaller(picture: bytes) -> bytes:
    """Return a picture that is at most 800 pixels wide, or 1600 if it is low, and has few colours."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    widest = 2 * _WIDEST if image.width >= _PANORAMA * image.height else _WIDEST
    if image.width > widest:
        image = image.resize((widest, round(image.height * widest / image.width)), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    image.quantize(_COLOURS, Image.Quantize.FASTOCTREE).save(file, "PNG", optimize=True)
    return file.getvalue()
