"""What is minimised: the surprise at the right answer, and with it, where a network draws its glimpses, REINFORCE."""

from typing import Literal

import torch.nn.functional as F
from torch import Tensor

from regard.models.picture_network import PictureNetwork
from regard.models.ram import RAM
from regard.protocols import Loss, Tally
from regard.tasks.glimpses.batches import PictureBatch

Reward = Literal["right", "log-probability"]


def cross_entropy(network: PictureNetwork, batch: PictureBatch) -> Loss:
    """−Σ log p(y | x), of a network whose answer is a function of its weights."""
    return Loss(F.nll_loss(network.answer(batch.pixels(network.dtype)), batch.labels, reduction="sum"), batch.rows)


def reinforce(network: RAM, batch: PictureBatch, samples: int, reward: Reward) -> Loss:
    """The hybrid loss of Mnih et al. 2014, section 3.2, over M = `samples` drawn paths of each picture:

        1/M Σ_m [ −log p(y | path m) − Σ_t (R − b_t) log π(l_t) + mean_t (R − b_t)² ]

    The first part teaches glimpse, core and action, the second (equation 3, R − b_t without gradient) the location, the
    third the baseline. R comes after the last glimpse, so every choice of a path has the same: 1 for the right answer
    and 0 for another; or log p(y | path), with which the first two parts are the gradient of −E[log p(y | path)], a
    bound of −log p(y) by Jensen's inequality.

    The value of what is returned is its first part alone: that of the others says nothing about how well it goes.
    """
    seen = network.explore(batch.pixels(network.dtype), samples)
    wanted = batch.labels[:, None].expand(-1, samples)
    of_wanted = seen.log_probabilities.gather(2, wanted.unsqueeze(2)).squeeze(2)
    right = (seen.log_probabilities.argmax(dim=-1) == wanted).to(of_wanted.dtype)
    worth = (right if reward == "right" else of_wanted).detach()
    surplus = worth.unsqueeze(-1) - seen.baselines
    policy = -(surplus.detach() * seen.log_policy).sum(dim=-1)
    baseline_error = surplus.square().mean(dim=-1)
    taught = (policy + baseline_error).sum() / samples
    paths = float(batch.rows * samples)
    return Loss(
        -of_wanted.sum() / samples + taught - taught.detach(),
        batch.rows,
        {
            "reward": Tally((worth.sum(), paths), _mean_read_late),
            "baseline error": Tally((baseline_error.detach().sum(), paths), _mean_read_late),
        },
    )


def _mean_read_late(total: Tensor | float, count: float) -> float:
    """A mean whose sum may still lie on a GPU: to read it is to wait for all work before it, so nobody does at once."""
    return float(total) / count
