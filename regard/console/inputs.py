"""What an input is to a model, in the words of the command line: what it is called, and how it is given."""

import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from regard.base.faults import Fault
from regard.base.recipe import Recipe
from regard.console.lines import TextInput
from regard.tasks import TASKS, input_kind

if TYPE_CHECKING:
    from regard.data.stories.telling import Asked

LONGEST_NAME = 255  # bytes of a file's name; to ask for a longer one is an error of the system
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
# How to ask a model for something, by what it reads, and for what is written into a file, by its verb.
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


def name_of_input(recipe: Recipe) -> str:
    """What one input of a model is called: goes on after "a gat reads"."""
    return _NAMES[_kind(recipe)]


def example_command(recipe: Recipe, folder: Path) -> str:
    """A command line that asks the model in a folder for something."""
    from regard.data.algorithms.spelling import example_of
    from regard.tasks.algorithms.options import AlgorithmRecipe

    verb, kind = TASKS[recipe.task].verb, _kind(recipe)
    prompt = " --prompt 'text'" if kind == "text" else ""  # without which some draw from chance alone
    items = example_of(recipe.data) if isinstance(recipe, AlgorithmRecipe) else ""
    example = _INTO_FILES.get(verb) or _EXAMPLES[kind]
    return example.format(verb=verb, place=shlex.quote(str(folder)), prompt=prompt, items=items)


def _kind(recipe: Recipe) -> str:
    """What a model reads; of pictures some read only the features, which are made elsewhere."""
    from regard.data.captions.options import CaptionData

    is_of_features = isinstance(recipe.data, CaptionData) and recipe.data.are_features_made_elsewhere
    return "features" if is_of_features else input_kind(recipe)


def questions_in(name: str) -> Iterator["Asked"]:
    """Each question in a file of stories, or in those of standard input, `-`, with the facts told before it."""
    from regard.data.stories.telling import is_question, stories_in

    can_be_file = len(os.fsencode(name)) <= LONGEST_NAME
    if is_question(name.strip()) and not (can_be_file and Path(name).exists()):
        raise Fault("This is a story, not a file; write it into a file, one fact per line, or to standard input.")
    given = TextInput() if name == "-" else TextInput(file=Path(name))
    return stories_in(given.lines(), "standard input" if name == "-" else name)
