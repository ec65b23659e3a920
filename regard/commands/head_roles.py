"""`regard heads --roles`: roles of heads, and what a model does without the head that has one."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from regard.commands.show.view import View, show_view
from regard.console import console_progress, remark, say_table

if TYPE_CHECKING:
    from regard.data.demo.corpus import LinkedPair
    from regard.model import Model
    from regard.verbs.translate.model import TranslationModel
    from regard.viewing.roles import HeadRoles

Scores = dict[str, float]


def translator_roles(
    model: "TranslationModel", pairs: Sequence[tuple[str, str]], linked: "Sequence[LinkedPair] | None", off: bool
) -> "HeadRoles":
    """Return the roles of a translator's heads over pairs, by their true links if there are any."""
    from regard.seeing.pair_roles import pair_roles, without_links

    if linked is None:
        remark("This data has no true links, so only roles by position and by the same word are measured.")
    with console_progress() as progress:
        known = without_links(pairs) if linked is None else linked
        roles = pair_roles(model.task, known, progress)
        return with_effects(model, roles, known, progress) if off else roles


def split_roles(model: "Model", folder: Path, split: str) -> "HeadRoles":
    """Return the positional roles of any model's heads over a split."""
    from regard.runs.evaluate import own_data
    from regard.seeing.head_roles import batch_roles

    with console_progress() as progress, own_data(model, folder, progress, remark):
        return batch_roles(model.task, model.task.batches(split, 0, 0, 0), progress)


def with_effects(
    model: "TranslationModel",
    roles: "HeadRoles",
    pairs: "Sequence[LinkedPair]",
    progress: Callable[[str, int, int | None], None],
) -> "HeadRoles":
    """Return the roles with the scores of the model without the head that has each.

    BLEU and exact matches are of greedy translations. The words of a role, such as all pronouns, are right if the model
    writes them when it is forced along the reference.
    """
    from regard.attention.switching import switched_off

    intact = translation_scores(model, pairs), _words_of_roles(model, roles, pairs)
    scores: dict[tuple[str, int], tuple[Scores, Scores]] = {}
    results = []
    for number, role in enumerate(roles.roles, start=1):
        place = role.best.where, role.best.head - 1
        if place not in scores:
            with switched_off(model.task.model, *place):
                scores[place] = translation_scores(model, pairs), _words_of_roles(model, roles, pairs)
        without = scores[place]
        effects = {name: (value, without[0][name]) for name, value in intact[0].items()}
        if role.role in intact[1]:
            effects["its words"] = intact[1][role.role], without[1][role.role]
        results.append(replace(role, effects=effects))
        progress("switching off", number, len(roles.roles))
    return replace(roles, roles=results)


def translation_scores(model: "TranslationModel", pairs: "Sequence[LinkedPair]") -> Scores:
    """Return BLEU and exact matches of greedy translations."""
    from regard.verbs.translate.evaluation import evaluate, from_pairs

    data = from_pairs([(pair.source, pair.target) for pair in pairs], None, merge=False)
    return {score.metric: score.value for score in evaluate(model, data, ["bleu", "exact"], beam=1).scores}


def _words_of_roles(model: "TranslationModel", roles: "HeadRoles", pairs: "Sequence[LinkedPair]") -> Scores:
    from regard.seeing.pair_roles import right_words

    names = dict.fromkeys(role.role for role in roles.roles)
    return {name: value for name, value in right_words(model.task, pairs).items() if name in names}


def show_roles(roles: "HeadRoles", folder: Path, out: Path | None, as_json: bool) -> None:
    """Print the roles, or write them as a picture, a page or numbers."""
    from regard.viewing.roles import draw_roles, roles_page, roles_table, roles_to_json

    def say() -> None:
        say_table(*roles_table(roles))
        remark(
            f"Measured on {roles.sentences:,} sentences. Head and offset are chosen on every other sentence and scored "
            "on the rest; 2.1 is head 1 of block 2."
        )

    view = View(
        lambda: roles_to_json(roles),
        lambda path: draw_roles(roles, path),
        say,
        lambda: roles_page(roles, folder.resolve().name),
    )
    show_view(view, out, as_json)
