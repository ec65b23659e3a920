"""`regard look -o page.html` of a translator: attention, what else could be written, and the beam on one page."""

from pathlib import Path

from regard.cli.console import remark
from regard.seeing.gazes import Sight
from regard.seeing.next_token import beam_tree, choices_along
from regard.verbs.translate.model import TranslationModel
from regard.viewing import page
from regard.viewing.page import Start
from regard.viewing.tree import page as tree_page


def write_sight(model: TranslationModel, sight: Sight, start: Start, out: Path) -> None:
    """The page of all that can be seen of a sentence, without what would make it too large."""
    data, target, (written,) = model.recipe.data, model.task.target_for(sight.text), sight.outputs
    words, tokens = (sight.every(by_word) for by_word in (True, False))
    if page.fits(words) and not page.fits([*words, *tokens]):
        remark(f"The page shows words alone: with the tokens it would have more than {page.MOST_WEIGHTS:,} weights.")
        tokens = []
    tree = beam_tree(model, sight.text)
    if len(tree.nodes) > tree_page.MOST_NODES:
        remark(f"The page omits the beam: it has more than {tree_page.MOST_NODES:,} hypotheses.")
    scene = page.PageScene(
        sight.text,
        sight.output,
        words,
        tokens,
        (data.source_language, data.target_language),
        start,
        target.pieces([*written, model.task.end]),
        choices_along(model, sight.text, written),
        tree if len(tree.nodes) <= tree_page.MOST_NODES else None,
    )
    page.write_page(scene, out)
