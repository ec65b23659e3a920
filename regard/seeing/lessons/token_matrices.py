"""The two matrices of a trained model between tokens and vectors: the embedding and the output matrix."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from regard.base.faults import Fault
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.loading import Loaded
from regard.models.recurrent.language import RecurrentLanguage
from regard.tasks.language.gradient import GradientLanguage
from regard.tasks.masked.task import MaskedTokens
from regard.tasks.translation.task import Translation


@dataclass(frozen=True)
class TokenMatrices:
    """Embedding E and output matrix W, both (token, width), and the bias b of the logits x·Wᵀ + b, if there is one.

    `scale` is the factor on the rows of E on their way in; the tokenisers are those of input and output.
    """

    embedding: Tensor
    output: Tensor
    bias: Tensor | None
    scale: float
    tokeniser: Tokeniser
    output_tokeniser: Tokeniser

    @property
    def is_tied(self) -> bool:
        return self.embedding.data_ptr() == self.output.data_ptr()


def token_matrices(model: Loaded) -> TokenMatrices:
    """Return the matrices of a translator, a language model or a BERT; refuse a model that writes no tokens."""
    task = model.task
    if isinstance(task, Translation):
        network = task.model
        embedding, output, bias = network.embeddings()["source"].weight, network.token_weights(), network.token_biases()
        scale = embedding.shape[1] ** 0.5
        return TokenMatrices(embedding, output, bias, scale, task.source, task.target)
    if isinstance(task, GradientLanguage):
        return _of_language(task.model, task.tokeniser)
    if isinstance(task, MaskedTokens):
        tokens = task.model.reader.tokens
        return TokenMatrices(tokens, tokens, task.model.bias, 1.0, task.tokeniser, task.tokeniser)
    raise Fault(f"This {model.recipe.family} writes no tokens; give a translator, a language model or a BERT.")


def _of_language(network: Any, tokeniser: Tokeniser) -> TokenMatrices:
    is_recurrent = isinstance(network, RecurrentLanguage)
    embedding, bias = (network.embeddings, network.bias) if is_recurrent else (network.embedding.weight, None)
    return TokenMatrices(embedding, network.output_vectors, bias, 1.0, tokeniser, tokeniser)
