"""States of the words that a translator writes, in every layer of its decoder."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from regard.base.faults import Fault
from regard.base.progress import Progress, silent
from regard.data.tokenisers.tokeniser import words_in
from regard.data.word_labels import LabelledSentence
from regard.seeing.probes.word_states import AT_ONCE, Row, WordStates, gather_words
from regard.tasks.text import words_of
from regard.tasks.translation.task import Translation


@torch.no_grad()
def decoder_states(
    task: Any,
    pairs: Sequence[tuple[LabelledSentence, LabelledSentence]],
    layers: Sequence[int] | None = None,
    progress: Progress = silent,
) -> WordStates:
    """Return the states of words that a translator has just written, when it is forced to write each target.

    The state of a word is the one that reads it and predicts what comes next.
    """
    refuse_decoderless(task)
    return gather_words(_write(task, pairs, progress), len(pairs), layers)


def refuse_decoderless(task: Any) -> None:
    """Refuse a model without a decoder that writes one token after another."""
    if not isinstance(task, Translation) or task.model.finds_outputs_by != "decoder":
        raise Fault("This model has no decoder that writes token by token, so it has no decoder states; omit --side.")


def _write(
    task: Translation, pairs: Sequence[tuple[LabelledSentence, LabelledSentence]], progress: Progress
) -> Iterator[Row]:
    for first in range(0, len(pairs), AT_ONCE):
        portion = pairs[first : first + AT_ONCE]
        batch = task.pair_up([(source.text, target.text) for source, target in portion])
        layers = [states[:, 1:] for states in decoder_layers(task.model, batch)]  # the first place reads the beginning
        for row, (source, target) in enumerate(portion):
            tokeniser = task.target_for(source.text)
            tokens = words_of(tokeniser, tokeniser.encode(target.text), words_in(tokeniser, target.text))
            yield target, tokens, [states[row, : len(tokens.tokens)].cpu() for states in layers]
        progress("writing", first + len(portion), len(pairs))


def decoder_layers(network: Any, batch: Any) -> list[Tensor]:
    """Return a decoder's states (row, place, width) at each token of a batch: embeddings, then each block's.

    A recurrent decoder counts as one block. The last states are those that the logits are computed from.
    """
    outputs: list[Tensor] = []

    def keep(module: nn.Module, arguments: Any, output: Any) -> None:
        outputs.append(output[0] if isinstance(output, tuple) else output)

    blocks = list(network.decoder) if isinstance(network.decoder, nn.ModuleList) else []
    hooks = [block.register_forward_hook(keep) for block in blocks[:-1]]
    try:
        memory = network.read(batch.source, batch.source_lengths)
        last, _ = network.write(batch.inputs, memory, network.begin(memory))
    finally:
        for hook in hooks:
            hook.remove()
    return [network.target_embedding(batch.inputs), *outputs, last]
