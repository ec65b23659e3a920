"""Outputs of models to judge, for the sources of a file or of a split of their data."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from regard.base.faults import Fault
from regard.commands.judge.given import SEED, choose_places
from regard.families import with_article
from regard.model import Model
from regard.serving.judging.comparison import Shown
from regard.tasks import TASKS

Kind = Literal["text", "picture", "sound"]
_READS: dict[str, Kind | None] = {  # the verbs whose outputs people can judge, and what they read
    "translate": "text",
    "caption": "picture",
    "transcribe": "sound",
    "speak": "text",
    "draw": None,
    "generate": "text",
}


@dataclass(frozen=True)
class SplitItems:
    """Items of a split: a name for each, its source, a person's output, and pictures by the names the model knows."""

    names: Sequence[str]
    sources: Sequence[Shown]
    references: Sequence[Shown]
    pictures: Sequence[str] | None = None


def verb_of(model: Model, folder: Path) -> str:
    """Return the verb whose outputs people can judge; refuse a model that gives something else."""
    verb = next((verb for verb in _READS if verb in model.verbs), None)
    if verb is None:
        what = f"{with_article(model.recipe.family)}, which gives {TASKS[model.recipe.task].gives}"
        raise Fault(f"{folder} is {what}; people judge texts, captions, sounds and drawings.")
    return verb


def reads(model: Model, folder: Path) -> Kind | None:
    """Return the kind of source that a model needs; None if it draws at random."""
    from regard.protocols.drawing import Paints

    verb = verb_of(model, folder)
    return "text" if verb == "draw" and isinstance(model.task, Paints) else _READS[verb]


def outputs_of(
    model: Model, folder: Path, sources: Sequence[Shown | None], pictures: Sequence[str] | None
) -> list[Shown]:
    """Return a model's output for each source, or as many drawings; refuse sources of another kind."""
    needed, found = reads(model, folder), next((source.kind for source in sources if source is not None), None)
    if needed is None and found is not None:
        raise Fault(f"{folder} draws at random and reads no source; omit --source.")
    if needed is not None and found is None:
        raise Fault(f"{folder} needs a {needed} for each output; give --source.")
    if needed != found:
        raise Fault(f"{folder} reads {needed}s, but the sources are {found}s.")
    return _ASK[verb_of(model, folder)](
        model, [source for source in sources if source is not None] or sources, pictures
    )


def _translate(model: Any, sources: Sequence[Any], pictures: Any) -> list[Shown]:
    return [Shown(output.text) for output in model.translate([source.text for source in sources])]


def _generate(model: Any, sources: Sequence[Any], pictures: Any) -> list[Shown]:
    outputs = model.generate([source.text for source in sources], samples=1, sample={"seed": SEED})
    return [Shown(continued[0].text) for continued in outputs]


def _caption(model: Any, sources: Sequence[Any], pictures: Sequence[str] | None) -> list[Shown]:
    inputs = list(pictures) if pictures is not None else [source.content for source in sources]
    return [Shown(caption.text) for caption in model.caption(inputs, attention=False)]


def _transcribe(model: Any, sources: Sequence[Any], pictures: Any) -> list[Shown]:
    return [Shown(transcript.text) for transcript in model.transcribe([source.content for source in sources])]


def _speak(model: Any, sources: Sequence[Any], pictures: Any) -> list[Shown]:
    sounds = model.speak([source.text for source in sources])
    return [Shown(content=sound.as_wav(), media="audio/wav") for sound in sounds]


def _draw(model: Any, sources: Sequence[Any], pictures: Any) -> list[Shown]:
    from regard.viewing.drawings import DrawnStrokes, sheet_png, svg_sheet

    if sources[0] is None:
        drawings = model.draw(len(sources), SEED)
    else:
        drawings = [model.draw(1, SEED, source.text)[0] for source in sources]
    return [
        Shown(content=svg_sheet([drawing]), media="image/svg+xml")
        if isinstance(drawing, DrawnStrokes)
        else Shown(content=sheet_png([[drawing.picture()]]), media="image/png")
        for drawing in drawings
    ]


_ASK: dict[str, Callable[[Any, Sequence[Any], Sequence[str] | None], list[Shown]]] = {
    "translate": _translate,
    "caption": _caption,
    "transcribe": _transcribe,
    "speak": _speak,
    "draw": _draw,
    "generate": _generate,
}


def items_of_split(model: Model, folder: Path, split: str, count: int | None) -> SplitItems:
    """Return items of a split of a translator's or captioner's data, with a person's output for each."""
    from regard.runs.evaluate import has_part

    if model.recipe.task not in ("translation", "captioning"):
        raise Fault(f"{folder} is {with_article(model.recipe.family)}; give what it reads with --source.")
    has_held_out = model.recipe.task == "translation" and split == "valid"  # of which `from_split` says if it is gone
    if not has_held_out and not has_part(model.recipe.data, split):
        raise Fault(f"The recipe of {folder} names no {split} data; give --source, or another --split.")
    return (_pairs if model.recipe.task == "translation" else _captions)(model, folder, split, count)


def _pairs(model: Any, folder: Path, split: str, count: int | None) -> SplitItems:
    from regard.verbs.translate.evaluation import from_split

    pairs = from_split(model, folder, split).pairs
    places = choose_places(len(pairs), count)
    names = [str(place + 1) for place in places]
    return SplitItems(names, *([Shown(pairs[place][side]) for place in places] for side in (0, 1)))


def _captions(model: Any, folder: Path, split: str, count: int | None) -> SplitItems:
    from regard.console import console_progress, remark
    from regard.runs.evaluate import own_data

    with console_progress() as progress, own_data(model, folder, progress, remark):
        captioned = model.task.source(split).prepared.splits[split]
        chosen = [captioned[place] for place in choose_places(len(captioned), count)]
        names = [picture.name for picture in chosen]
        sources = [_picture(model.task.own_picture(split, name), name, folder) for name in names]
    return SplitItems(names, sources, [Shown(picture.captions[0]) for picture in chosen], names)


def _picture(pixels: Any, name: str, folder: Path) -> Shown:
    from regard.viewing.drawings import sheet_png

    if pixels is None:
        raise Fault(f"The picture {name} of {folder} is not on this machine, only its features; give --source.")
    return Shown(content=sheet_png([[(pixels * 255).round().astype("uint8")]]), media="image/png")
