"""Translations that go on from exact tokens, as someone chose them one by one."""

from collections.abc import Sequence

import torch

from regard.base.faults import Fault
from regard.decoding.beam import beam_search
from regard.decoding.options import DecodingOptions
from regard.decoding.output import Demands, Hypothesis
from regard.engines.translated import Translated
from regard.tasks.translation.forcing import force_batch, forced_token_scores
from regard.tasks.translation.lengths import check_length
from regard.verbs.translate.model import TranslationModel
from regard.verbs.translate.search import writer_of


def continue_from(model: TranslationModel, text: str, before: Sequence[int], options: DecodingOptions) -> Translated:
    """The translation of a sentence whose output begins with just these tokens; after an end nothing follows."""
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
