"""The loss of one sentence pair, token by token."""

import torch

from regard.base.faults import Fault
from regard.seeing.sentences import Translator
from regard.tasks.translation.forcing import force_batch, forced_distributions
from regard.tasks.translation.lengths import check_length
from regard.viewing.losses import SentenceLoss, TokenLoss


@torch.no_grad()
def sentence_loss(model: Translator, text: str, target: str, others: int = 3) -> SentenceLoss:
    """Return −log p of each token of `target`, including its end, given the true tokens before it (teacher forcing).

    This is what training minimises, apart from label smoothing. Each token comes with the `others` tokens that the
    model found most likely instead.
    """
    if not text.strip():
        raise Fault("There is no text to read; give a sentence with --text.")
    task = model.task
    check_length(task, text, 0)
    tokeniser = task.target_for(text)
    tokens = [*tokeniser.encode(target), task.end]
    if len(tokens) > task.model.options.longest:
        longest = task.model.options.longest
        raise Fault(f"The target has {len(tokens)} tokens, but the model writes at most {longest}; split it.")
    (distribution,) = forced_distributions(task, force_batch(task, [text], [tokens[:-1]]))
    names = tokeniser.pieces(range(tokeniser.size))
    losses = []
    for token, row in zip(tokens, distribution.double().cpu(), strict=True):
        order = row.argsort(descending=True, stable=True).tolist()
        likeliest = [other for other in order if other != token][:others]
        chances = [(names[other], float(row[other].exp())) for other in likeliest]
        losses.append(TokenLoss(names[token], -float(row[token]), order.index(token) + 1, chances))
    return SentenceLoss(text, target, losses)
