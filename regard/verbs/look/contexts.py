"""The view of `regard look --contexts`: one word in several sentences, and where its vectors lie in every layer."""

from regard.console.inputs import or_standard_input
from regard.console.lines import TextInput
from regard.loading import Loaded
from regard.seeing.contexts import word_contexts
from regard.verbs.embed.run import embed_each
from regard.viewing.contexts import DrawnContexts
from regard.viewing.view import View


def view_contexts(model: Loaded, word: str, sources: list[TextInput]) -> View:
    """Return where a word lies in the texts of some sources, or else in the lines of standard input."""
    texts = [text for source in or_standard_input(sources) for text in source.inputs()]
    return View(word, DrawnContexts(word_contexts(word, list(embed_each(model.task, texts)))))
