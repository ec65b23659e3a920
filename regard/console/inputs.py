"""Inputs of a model on the command line: names for each kind, and the rule for the words that follow MODEL."""

import errno
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from regard.base.faults import Fault
from regard.console.lines import TextInput

if TYPE_CHECKING:
    from regard.base.recipe import Recipe
    from regard.data.stories.telling import Asked

TEXTS = ("text", "tokens", "prompt", "story")  # what --text can give
FILES = ("picture", "video", "sound", "drawing")
_FILE_NAME = re.compile(r"\S*(/\S*|[^\s.]\.[A-Za-z][A-Za-z0-9]*)")
_NAMES = {
    "text": "a sentence",
    "tokens": "a sentence",
    "prompt": "a prompt",
    "nodes": "a node",
    "picture": "a picture's file",
    "features": "a .npy file of features",
    "video": "a video, a GIF or a folder of frames",
    "sound": "a sound's file",
    "sequence": "a sequence of numbers",
    "items": "an example",
    "story": "a story's file",
    "drawing": "a drawing's file",
}
# Example commands by the kind of input; verbs that write a file have their own, below.
_EXAMPLES = {
    "text": "echo 'text' | regard {verb} {place}",
    "tokens": "echo 'words of a sentence' | regard {verb} {place}",
    "prompt": "regard {verb} {place} --prompt 'text'",
    "nodes": "regard {verb} {place} 0",
    "picture": "regard {verb} {place} picture.png",
    "features": "regard {verb} {place} features.npy",
    "video": "regard {verb} {place} video.gif",
    "sound": "regard {verb} {place} sound.wav",
    "words": "regard {verb} {place} word",
    "sequence": "regard evaluate {place}",
    "items": "regard {verb} {place} '{items}'",
    "story": "regard {verb} {place} story.txt",
    "drawing": "regard {verb} {place} drawing.json",
}
_INTO_FILES = {
    "embed": "echo 'text' | regard embed {place} -o vectors.npz",
    "draw": "regard draw {place}{prompt} -o drawings.png",
    "speak": "regard speak {place} --text 'text' -o sound.wav",
}


def what_it_reads(recipe: "Recipe") -> str:
    """Return a clause that says what a model reads: "a gat reads a node"."""
    from regard.families import with_article

    return f"{with_article(recipe.family)} reads {_NAMES[_kind(recipe)]}"


def example_command(recipe: "Recipe", folder: Path) -> str:
    """Return a command line that asks the model in a folder for something."""
    from regard.data.algorithms.spelling import example_of
    from regard.tasks import TASKS
    from regard.tasks.algorithms.options import AlgorithmRecipe

    verb, kind = TASKS[recipe.task].verb, _kind(recipe)
    prompt = " --prompt 'text'" if kind == "text" else ""  # without a prompt, some models draw at random
    items = example_of(recipe.data) if isinstance(recipe, AlgorithmRecipe) else ""
    example = _INTO_FILES.get(verb) or _EXAMPLES[kind]
    return example.format(verb=verb, place=shlex.quote(str(folder)), prompt=prompt, items=items)


def _kind(recipe: "Recipe") -> str:
    """Return the kind of input a model reads; some picture models read only features computed elsewhere."""
    from regard.data.captions.options import CaptionData
    from regard.tasks import input_kind

    is_of_features = isinstance(recipe.data, CaptionData) and recipe.data.are_features_made_elsewhere
    return "features" if is_of_features else input_kind(recipe)


def inputs_after_model(
    words: Sequence[str] | None, texts: Sequence[str] | str | None, recipe: "Recipe | None" = None
) -> list[TextInput]:
    """Return the inputs that follow MODEL: one source for all texts, or one for each file; empty if there are none.

    Without a recipe, the model reads text. --text is always a text. A word that names a file, or `-`, stands for the
    lines of that file. Any other word is a text, and is refused if it looks like a file name. A model that reads files
    takes each word as a file name, and `-` as file names on standard input.
    """
    words, texts = words or [], [texts] if isinstance(texts, str) else texts or []
    reads = "text"
    if recipe is not None:
        from regard.tasks import input_kind

        reads = input_kind(recipe)
    if texts and recipe is not None and reads not in TEXTS:
        raise Fault(f"--text is for models that read text; {what_it_reads(recipe)}.")
    if words and texts:
        raise Fault("Give INPUT or --text, not both.")
    if texts:
        return [TextInput(tuple(texts))]
    if reads in FILES:
        return [TextInput() if word == "-" else TextInput((word,)) for word in words]
    files = [word for word in words if _is_file(word)]
    others = [word for word in words if word not in files]
    if reads in TEXTS and (missing := next(filter(_FILE_NAME.fullmatch, others), None)):
        raise Fault(f"There is no file {missing}. If it is a text, give it by --text.")
    if files and others:
        raise Fault(f"{files[0]} is a file and '{others[0]}' is not; name files or give texts, not both.")
    if others:
        return [TextInput(tuple(others))]
    return [TextInput() if file == "-" else TextInput(file=Path(file)) for file in files]


def _is_file(word: str) -> bool:
    """Return True if a word names a file. A folder written as a path counts too, so that it is refused as a folder."""
    path = Path(word)
    try:
        return word == "-" or (path.exists() and (not path.is_dir() or bool(_FILE_NAME.fullmatch(word))))
    except OSError as error:  # opening an unreadable file reports that
        return error.errno != errno.ENAMETOOLONG


def or_standard_input(sources: list[TextInput]) -> list[TextInput]:
    """Return these sources, or standard input if there are none; refuse a closed standard input."""
    sources = sources or [TextInput()]
    for source in sources:
        source.check()
    return sources


def names_after_model(words: Sequence[str] | None, texts: Sequence[str] | None, recipe: "Recipe") -> list[str]:
    """Return the file names that follow MODEL, or those on standard input, for a verb that reads files."""
    sources = or_standard_input(inputs_after_model(words, texts, recipe))
    return [name for source in sources for name in source.inputs() if name]


def one_text(sources: Sequence[TextInput]) -> str:
    """Return the text that follows MODEL, for a verb that takes exactly one."""
    texts = [text for source in sources for text in source.inputs()]
    if len(texts) != 1:
        raise Fault(f"Give one text, not {len(texts) or 'none'}; put one that has spaces in quotes.")
    return texts[0]


def questions_in(sources: Sequence[TextInput]) -> Iterator["Asked"]:
    """Yield each question of the stories, with the facts before it."""
    from regard.data.stories.telling import stories_in

    for source in sources:
        yield from stories_in(source.lines(), source.name)
