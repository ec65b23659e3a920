"""Translating by a plan with torch: the other models that it names, its search, and its outputs in words."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch

from regard.attention.watch import is_watched, without_watching
from regard.base.faults import Fault
from regard.decoding.beam import beam_search
from regard.decoding.options import DecodingOptions, change_options
from regard.decoding.output import Demands, Hypothesis
from regard.decoding.rerank import Channel
from regard.engines.translated import Translated
from regard.loading import Loaded
from regard.tasks.translation.forcing import force_batch, forced_token_scores
from regard.tasks.translation.lengths import check_length
from regard.verbs.opening import model_in
from regard.verbs.translate.fusion import Fusion, as_language_model, fusion_of
from regard.verbs.translate.model import TranslationModel, as_translator
from regard.verbs.translate.plan import Piece, Plan, cutting_for, job_for, plan_for, whole_pieces
from regard.verbs.translate.request import ModelName, TranslateRequest
from regard.verbs.translate.reranking import Rank, by_channel, by_risk
from regard.verbs.translate.search import find, writer_of
from regard.verbs.translate.unknown import replace_unknown

Run = Callable[[Sequence[Piece]], list[Translated]]  # translations of pieces, in their order


def run(model: TranslationModel, request: TranslateRequest) -> list[Translated]:
    """Translate the texts of a request; alignments are worked out when someone asks for them."""
    decoding = model.recipe.decoding
    if request.channel is not None:  # and more are asked for than the beam, in Python a wider one is meant
        search = change_options(decoding, {"beam": request.beam, "n_best": request.n_best}, None)
        request = request.model_copy(update={"beam": search.beam})
    plan = plan_for(request, decoding, lambda: getattr(model.export(request.engine), "name", None))
    if not (request.splits_sentences or request.long_texts != "refuse"):
        return _run_by(model, request, plan, whole_pieces(request))
    cutting = cutting_for(request, model.recipe.data.source_language, model.task.source, model.learnt)
    job = job_for(request, plan, cutting)
    with job.faults():
        return job.join(_run_by(model, request, plan, job.pieces))


def _run_by(
    model: TranslationModel, request: TranslateRequest, plan: Plan, pieces: Sequence[Piece]
) -> list[Translated]:
    """Translate pieces by the engine of a plan; what a search found is marked where the model is unsure of it."""
    export = None if plan.engine == "torch" else model.export(request.engine)
    if export is None:
        found = runner(model, plan)(pieces)
    else:
        found = export.translations([piece.text for piece in pieces], plan.options, plan.explained, plan.explained)
    return found if model.certainty is None or not plan.is_searched else model.certainty.mark(found)


def model_named(name: ModelName) -> Loaded:
    """Return a model in hand, or load one from its folder."""
    return model_in(name) if isinstance(name, str) else name.content


def translator_named(name: ModelName) -> TranslationModel:
    """Return a translator in hand, or load one from its folder; another model is refused."""
    return as_translator(model_named(name))


def runner(
    model: TranslationModel,
    plan: Plan,
    find_translator: Callable[[ModelName], TranslationModel] = translator_named,
    find_language_model: Callable[[ModelName], Loaded] = model_named,
    place: str = "",
) -> Run:
    """Return what translates pieces by a plan; all models that it names are found here.

    `place` is what people call the folder of the translator, if that is not its path.
    """
    if plan.forced:
        return partial(_score, model)
    if plan.before is not None:
        return partial(_continue, model, plan, plan.before, place)
    fusion = None if plan.fuse is None else _fusion(model, *plan.fuse, find_language_model, place)
    if plan.risk is not None:
        return partial(_search, model, plan, fusion, by_risk(model, plan.risk, plan.count))
    rank = None if plan.channel is None else _by_channel(model, plan, find_translator, find_language_model)
    return partial(_search, model, plan, fusion, rank)


def _score(model: TranslationModel, pieces: Sequence[Piece]) -> list[Translated]:
    return model.translate_as([piece.text for piece in pieces], [piece.output for piece in pieces])


def _continue(
    model: TranslationModel, plan: Plan, before: Sequence[str], place: str, pieces: Sequence[Piece]
) -> list[Translated]:
    begun = [model.target_tokens(before, piece.text, place) for piece in pieces]
    given = zip(pieces, begun, strict=True)
    return [continue_from(model, piece.text, tokens, plan.options) for piece, tokens in given]


def _search(
    model: TranslationModel, plan: Plan, fusion: Fusion | None, rank: Rank | None, pieces: Sequence[Piece]
) -> list[Translated]:
    """Translate pieces by a search; whoever watches sees one more pass over the best outputs."""
    texts = [piece.text for piece in pieces]
    with without_watching():
        found = find([model.task, *model.others], pieces, plan, fusion)
        if rank is not None:
            found = rank(texts, found)
    if is_watched() and texts:
        model.force_watched(texts, [hypotheses[0].tokens for hypotheses in found])
    if plan.dictionary is None:
        return model.translations(texts, found)
    with without_watching():
        return model.translations(texts, found, replace_unknown(model, texts, found, dict(plan.dictionary)))


def continue_from(model: TranslationModel, text: str, before: Sequence[int], options: DecodingOptions) -> Translated:
    """Translate a sentence whose output begins with just these tokens; after an end nothing follows."""
    task = model.task
    if task.end in before[:-1]:
        raise Fault("An output is over at its end; no token follows it.")
    check_length(task, text, 0)
    if before[-1:] == [task.end]:
        tokens = list(before[:-1])
        with torch.no_grad():
            (own,) = forced_token_scores(task, force_batch(task, [text], [tokens]))
        found = [Hypothesis(tokens, own.tolist(), float(own.sum()))]
    else:
        batch, longest = task.read([text]), task.model.options.longest
        limits = task.limits(batch, options).clamp(min=min(len(before) + options.longest_extra, longest))
        (found,) = beam_search(writer_of([task], options), batch, limits, options, Demands(prefixes=[before]))
    best = found[0]
    aligned, target = model.align([text], [best.tokens])[0], task.target_for(text)
    return Translated(
        target.decode(best.tokens),
        best.score,
        target.pieces(best.tokens),
        best.token_scores,
        [(target.decode(each.tokens), each.score) for each in found],
        lambda: aligned,
    )


def _fusion(
    model: TranslationModel, name: ModelName, weight: float, find: Callable[[ModelName], Loaded], place: str
) -> Fusion | None:
    place = place or ("the translator's folder" if model.folder is None else str(model.folder))
    return fusion_of(model, find(name), weight, called(name, "the model to fuse with"), place)


def _by_channel(
    model: TranslationModel,
    plan: Plan,
    find_translator: Callable[[ModelName], TranslationModel],
    find_language_model: Callable[[ModelName], Loaded],
) -> Rank:
    assert plan.channel is not None
    (name, weight), prior, prior_weight = plan.channel, None, 0.0
    backward = find_translator(name)
    if plan.prior is not None:
        named, prior_weight = plan.prior
        prior = as_language_model(find_language_model(named), called(named, "the prior"))
    return by_channel(model, backward, Channel(weight, prior_weight), prior, plan.count)


def called(name: ModelName, unnamed: str) -> str:
    """Return what people call a model: its name, or its folder."""
    content: Any = None if isinstance(name, str) else name.content
    return str(name if content is None else content.folder or unnamed)
