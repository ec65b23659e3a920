"""The view of `regard look --contexts`: one word in several sentences, and where its vectors lie in every layer."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from regard.base.files import write_file
from regard.cli.console import terminal_width, wants_colour
from regard.cli.lines import TextInput
from regard.model import Model
from regard.seeing.contexts import word_contexts
from regard.viewing.contexts.page import write_contexts_page
from regard.viewing.contexts.picture import draw_contexts
from regard.viewing.contexts.record import contexts_to_json
from regard.viewing.contexts.terminal import contexts_lines


def show_contexts(model: Model, word: str, texts: Sequence[str], out: Path | None) -> set[str]:
    """Draw the word in these texts, or else in the lines of standard input; gives characters that no font can draw."""
    if not texts:
        lines = TextInput()
        lines.check()
        texts = list(lines.lines())
    contexts = word_contexts(model, word, texts)
    if out is None:
        print("\n".join(contexts_lines(contexts, terminal_width(), wants_colour(sys.stdout))))
    elif out.suffix.lower() == ".json":
        write_file(out, (json.dumps(contexts_to_json(contexts), ensure_ascii=False, indent=1) + "\n").encode())
    elif out.suffix.lower() == ".html":
        write_contexts_page(contexts, out)
    else:
        return draw_contexts(contexts, out)
    return set()
