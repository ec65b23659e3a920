"""The view of `regard look --contexts`: one word in several sentences, and where its vectors lie in every layer."""

from collections.abc import Sequence

from regard.console.lines import TextInput
from regard.loading import Loaded
from regard.seeing.contexts import word_contexts
from regard.verbs.embed.run import embed_each
from regard.viewing.contexts import DrawnContexts
from regard.viewing.view import View


def view_contexts(model: Loaded, word: str, texts: Sequence[str]) -> View:
    """The word in these texts, or else in the lines of standard input."""
    if not texts:
        lines = TextInput()
        lines.check()
        texts = list(lines.lines())
    return View(word, DrawnContexts(word_contexts(word, list(embed_each(model.task, texts)))))
