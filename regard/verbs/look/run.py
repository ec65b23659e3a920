"""Looking into a model: what `model.look` gives."""

from regard.base.faults import Fault
from regard.families.abilities import METHOD, needs
from regard.loading import Loaded
from regard.seeing.gazes import refuse_speaker
from regard.seeing.looking import view_answer, view_prompt, view_translation
from regard.verbs.generate.model import LanguageModel
from regard.verbs.translate.model import TranslationModel
from regard.viewing.view import DrawingRequest, View


def look(
    model: Loaded,
    given: str,
    target: str | None,
    side: str | None,
    wanted: DrawingRequest,
    speaker: str | None = None,
) -> View:
    """Return what a model looks at while it reads `given`: a translator while it writes `target`, or its best output.

    Of several attentions it is the one that `side` names, or the first. Of a language model without attention it is
    what may follow. A model that speaks does so as `speaker`, or as the first that it knows.
    """
    if isinstance(model, TranslationModel | LanguageModel):
        refuse_speaker(speaker)
    if isinstance(model, TranslationModel):
        return view_translation(model, given, target, side, wanted)
    if target is not None:
        raise Fault("A target is for translators, which can be made to write one.")
    if isinstance(model, LanguageModel) and "look" not in model.verbs:
        return view_prompt(model, given)
    needs(model.recipe, "look", METHOD)
    return view_answer(model, given, side, wanted, speaker)
