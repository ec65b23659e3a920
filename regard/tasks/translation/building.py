"""Build translators from recipes, with the task class that the network needs."""

from regard.data.tokenisers.tokeniser import Tokeniser
from regard.models.translator_options import can_copy
from regard.tasks.base import network_class
from regard.tasks.translation.options import TranslationRecipe
from regard.tasks.translation.task import Translation


class BuiltTranslation(Translation):
    """The translation task in the table of tasks: it builds translators of every kind."""

    @classmethod
    def of_recipe(cls, recipe: TranslationRecipe, source: Tokeniser, target: Tokeniser) -> Translation:
        return build_translation(recipe, source, target)


def build_translation(recipe: TranslationRecipe, source: Tokeniser, target: Tokeniser) -> Translation:
    """Return the translator of a recipe with these tokenisers, its weights initialised from the recipe's seed."""
    match network_class(recipe).finds_outputs_by:
        case "ctc":
            from regard.tasks.translation.ctc_task import CTCTranslation

            return CTCTranslation.of_recipe(recipe, source, target)
        case "transducer":
            from regard.tasks.translation.transducer_task import TransducerTranslation

            return TransducerTranslation.of_recipe(recipe, source, target)
    if can_copy(recipe.model):
        from regard.tasks.translation.copying_task import CopyingTranslation

        return CopyingTranslation.of_recipe(recipe, source, target)
    return Translation.of_recipe(recipe, source, target)
