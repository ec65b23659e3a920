"""Watch a translator while it reads and writes a sentence."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

import torch
from torch import nn

from regard.attention.watch import watching
from regard.base.faults import Fault
from regard.seeing.gazes import Sight
from regard.tasks.translation.forcing import force_batch, forced_scores
from regard.tasks.translation.lengths import check_length
from regard.tasks.translation.options import TranslationRecipe
from regard.tasks.translation.task import Translation


class Translator(Protocol):
    """A loaded translator that can search for its best output."""

    task: Translation
    recipe: TranslationRecipe
    folder: Path | None

    def named_modules(self) -> Iterator[tuple[str, nn.Module]]: ...

    def search_tokens(self, text: str) -> list[int]: ...


def see(model: Translator, text: str, target: str | None = None) -> Sight:
    """Watch a translator read `text` and write `target`, or its best output."""
    if not (text := text.strip()):
        raise Fault("There is no text to look at; give a sentence with --text.")
    check_length(model.task, text, 0)
    written = model.search_tokens(text) if target is None else model.task.target_for(text).encode(target)
    longest = model.task.model.options.longest
    if len(written) + 1 > longest:
        raise Fault(f"The target has {len(written) + 1} tokens, but the model takes at most {longest}; shorten it.")
    return see_tokens(model, text, written)


@torch.no_grad()
def see_tokens(model: Translator, text: str, written: Sequence[int]) -> Sight:
    """Watch a translator read `text` and write exactly these tokens."""
    task = model.task
    with watching(model) as gazes:
        forced_scores(task, force_batch(task, [text], [written]))
    output, sides = task.target_for(text).decode(written), task.sides(task.read([text]), [written], text)
    return Sight(text, output, [written], sides, gazes)
