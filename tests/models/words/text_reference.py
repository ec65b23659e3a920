"""Skip-gram and CBOW as in the papers, place by place with autograd in float64: the reference for kernels."""

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
    """Let the mean of some rows of W predict words one by one at each place. Return the losses.

    Each row gets the full step of the mean, unless it is divided among them like the gradient of a mean.
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
    """−log σ(u_o · h) − Σ log σ(−u_n · h) over each prediction's draws."""

    def loss(hidden: Tensor, contexts: Tensor, word: int, number: int) -> Tensor:
        draws = [other for other in negatives[number] if other != word]
        return -F.logsigmoid(contexts[word] @ hidden) - F.logsigmoid(-(contexts[draws] @ hidden)).sum()

    return loss


def softmax_loss(hidden: Tensor, contexts: Tensor, word: int, number: int) -> Tensor:
    """−log of the softmax over all words."""
    return -F.log_softmax(contexts @ hidden, 0)[word]


def path_loss(paths: Sequence[Sequence[tuple[int, float]]]) -> Loss:
    """−Σ log σ(sign · u_node · h) over the turns on the path to a word."""

    def loss(hidden: Tensor, contexts: Tensor, word: int, number: int) -> Tensor:
        return -sum(F.logsigmoid(sign * (contexts[node] @ hidden)) for node, sign in paths[word])

    return loss
