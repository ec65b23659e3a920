"""Skip-gram and CBOW as the papers have them, place after place by autograd in float64: what kernels are held to."""

from collections.abc import Callable, Sequence

from torch import Tensor
from torch.nn import functional as F

Loss = Callable[[Tensor, Tensor, int, int], Tensor]  # of h, U, the right word and the number of the prediction


def learn(
    centres: Tensor,
    contexts: Tensor,
    inputs: Sequence[Sequence[int]],
    aims: Sequence[Sequence[int]],
    loss: Loss,
    rates: Sequence[float],
    divide_mean: bool,
) -> list[float]:
    """At each place the mean of some rows of W predicts some words one after another; gives the losses.

    The step of the mean goes to each row in full, unless it is divided among them as the gradient of a mean is.
    """
    losses = []
    for rows, words, rate in zip(inputs, aims, rates, strict=True):
        for word in words:
            hidden = centres[list(rows)].mean(0).requires_grad_()
            table = contexts.clone().requires_grad_()
            value = loss(hidden, table, word, len(losses))
            value.backward()
            assert hidden.grad is not None
            assert table.grad is not None
            contexts -= rate * table.grad
            for row in rows:
                centres[row] -= rate * hidden.grad / (len(rows) if divide_mean else 1)
            losses.append(value.item())
    return losses


def negative_loss(negatives: Sequence[Sequence[int]]) -> Loss:
    """−log σ(u_o · h) − Σ log σ(−u_n · h), over what was drawn for each prediction."""

    def loss(hidden: Tensor, contexts: Tensor, word: int, number: int) -> Tensor:
        drawn = [each for each in negatives[number] if each != word]
        return -F.logsigmoid(contexts[word] @ hidden) - F.logsigmoid(-(contexts[drawn] @ hidden)).sum()

    return loss


def softmax_loss(hidden: Tensor, contexts: Tensor, word: int, number: int) -> Tensor:
    """−log of the softmax over all words."""
    return -F.log_softmax(contexts @ hidden, 0)[word]


def path_loss(paths: Sequence[Sequence[tuple[int, float]]]) -> Loss:
    """−Σ log σ(sign · u_node · h) over the turns on the way to a word."""

    def loss(hidden: Tensor, contexts: Tensor, word: int, number: int) -> Tensor:
        return -sum(F.logsigmoid(sign * (contexts[node] @ hidden)) for node, sign in paths[word])

    return loss
