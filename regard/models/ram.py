"""The recurrent model of visual attention (Mnih et al. 2014): a few glimpses of a picture, then an answer.

It never sees the whole picture. After each glimpse it chooses where to look next, so what an answer costs does not grow
with the picture. What it chooses is drawn, so the choice learns by REINFORCE; everything else learns by gradient.
"""

import math
from typing import Literal, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.attention.glimpses import Pictures, Places, centre_pixels, take_glimpses, window_sides
from regard.attention.watch import is_watched, note_window
from regard.base.recipe import Options
from regard.models.bounds import WIDEST
from regard.models.parts import count_matrix_weights
from regard.models.picture_network import PictureNetwork

NOISE_SEED = 2014  # of the paths that an answer averages over: the same for every picture, in every process


class RAMOptions(Options):
    """The sizes of the recurrent model of visual attention; the defaults are those published for MNIST."""

    glimpses: int = Field(6, ge=2, le=64, description="Times that the model looks before it answers.")
    patch: int = Field(8, ge=2, le=256, description="Pixels a side of what it sees of a window; even.")
    scales: int = Field(1, ge=1, le=8, description="Windows of a glimpse, each twice as wide as the one before.")
    glimpse_width: int = Field(128, ge=1, le=WIDEST, description="Units for what is seen, and as many for where.")
    width: int = Field(256, ge=1, le=WIDEST, description="Units of a glimpse and of the recurrent core.")
    sigma: float = Field(0.1, gt=0, le=2, description="Standard deviation of the places looked at while training.")
    start: Literal["random", "centre"] = Field(
        "random", description="Where it looks first while training; an answer begins at the centre."
    )
    paths: int = Field(
        1, ge=1, le=1024, description="Paths whose probabilities an answer averages: the mean places, others drawn."
    )

    @model_validator(mode="after")
    def _check(self) -> "RAMOptions":
        if self.patch % 2:
            raise ValueError(f"patch is {self.patch}, expected an even number: a window lies on whole pixels")
        return self


class Glimpsed(NamedTuple):
    """Result of looking along one or more paths; the first glimpse was not chosen, so choices are one fewer."""

    log_probabilities: Float[Tensor, "batch path class"]
    places: Float[Tensor, "batch path glimpse 2"]
    log_policy: Float[Tensor, "batch path choice"]  # log π(l_t | what was seen before)
    baselines: Float[Tensor, "batch path choice"]  # the reward expected before each choice


class GlimpseNetwork(nn.Module):
    """g = Rect(W₁ Rect(W ρ(x, l)) + W₂ Rect(W' l)): what is seen and where, as one vector (section 4, f_g)."""

    def __init__(self, options: RAMOptions) -> None:
        super().__init__()
        self.patch, self.scales = options.patch, options.scales
        self.see = nn.Linear(options.scales * options.patch**2, options.glimpse_width)
        self.locate = nn.Linear(2, options.glimpse_width)
        self.what = nn.Linear(options.glimpse_width, options.width)
        self.where = nn.Linear(options.glimpse_width, options.width)

    def forward(self, pictures: Pictures, places: Places) -> Float[Tensor, "batch path unit"]:
        seen = take_glimpses(pictures, places, self.patch, self.scales).flatten(2)
        return F.relu(self.what(F.relu(self.see(seen))) + self.where(F.relu(self.locate(places))))


class RAM(PictureNetwork):
    """Glimpse, core, location, action and baseline networks (section 4).

    - core: h_t = Rect(Linear(h_{t−1}) + Linear(g_t)), from h_0 = 0
    - location: l_t ~ N(tanh(Linear(h_t)), σ² I), looked at within the picture
    - action: log p(y) = log softmax(Linear(h_T)), after the last glimpse
    - baseline: b_t = Linear(h_t), the reward to expect

    Location and baseline learn from h_t and do not shape it. The published mean of a place is linear; tanh keeps ours
    within the picture.
    """

    looks_from, looks_at = "glimpses", "picture"
    chooses = True

    def __init__(self, options: RAMOptions, classes: int, height: int, width: int) -> None:
        """For pictures of any size: `height` and `width` are what other networks for pictures are told."""
        super().__init__()
        self.options = options
        self.glimpse = GlimpseNetwork(options)
        self.remember = nn.Linear(options.width, options.width)
        self.take_in = nn.Linear(options.width, options.width)
        self.location = nn.Linear(options.width, 2)
        self.action = nn.Linear(options.width, classes)
        self.baseline = nn.Linear(options.width, 1)

    def forward(self, pictures: Pictures, start: Places, noise: Float[Tensor, "batch path choice 2"]) -> Glimpsed:
        """Look along paths that begin at `start` and leave the mean place by σ times `noise` at each choice."""
        hidden = self._glance(pictures, start, start.new_zeros(*start.shape[:2], self.options.width))
        places, hiddens, drawn = [start], [], []
        for choice in range(self.options.glimpses - 1):
            hiddens.append(hidden.detach())
            drawn.append(self._mean_place(hiddens[-1]).detach() + self.options.sigma * noise[..., choice, :])
            places.append(drawn[-1].clamp(-1, 1))
            hidden = self._glance(pictures, places[-1], hidden)
        looked_at = torch.stack(places, dim=2)
        if is_watched(self):
            self._note(pictures, looked_at)
        before = torch.stack(hiddens, dim=2)
        log_policy = _log_normal(torch.stack(drawn, dim=2), self._mean_place(before), self.options.sigma)
        log_probabilities = torch.log_softmax(self.action(hidden), dim=-1)
        return Glimpsed(log_probabilities, looked_at, log_policy, self.baseline(before).squeeze(-1))

    def explore(self, pictures: Pictures, paths: int) -> Glimpsed:
        """Look along paths drawn from torch's global generator, as one does to learn."""
        shape = (pictures.shape[0], paths, self.options.glimpses - 1, 2)
        start = pictures.new_zeros(shape[0], paths, 2)
        if self.options.start == "random":
            start.uniform_(-1, 1)
        return self(pictures, start, torch.randn(shape, dtype=pictures.dtype, device=pictures.device))

    def answer(self, pictures: Pictures) -> Float[Tensor, "batch class"]:
        """The log-probabilities of the classes: along the mean places, or averaged over that path and drawn ones.

        What is drawn is drawn once, the same for every picture, so that an answer depends on its picture alone.
        """
        options, chance = self.options, torch.Generator().manual_seed(NOISE_SEED)
        start, noise = torch.zeros(options.paths, 2), torch.zeros(options.paths, options.glimpses - 1, 2)
        if options.start == "random":
            start[1:].uniform_(-1, 1, generator=chance)
        noise[1:].normal_(generator=chance)
        paths = (each.to(pictures).expand(pictures.shape[0], *each.shape) for each in (start, noise))
        return torch.logsumexp(self(pictures, *paths).log_probabilities, dim=1) - math.log(options.paths)

    def step_sides(self) -> dict[str, list[str]]:
        return {self.looks_from: [f"glimpse {number + 1}" for number in range(self.options.glimpses)]}

    def multiplications(self, height: int, width: int) -> int:
        """Return the multiplications of an answer, the same for any picture size."""
        each_glimpse = count_matrix_weights(self.glimpse, self.remember, self.take_in)
        choices = (self.options.glimpses - 1) * count_matrix_weights(self.location)
        return self.options.paths * (self.options.glimpses * each_glimpse + choices + count_matrix_weights(self.action))

    def _glance(self, pictures: Pictures, place: Places, hidden: Tensor) -> Float[Tensor, "batch path unit"]:
        return F.relu(self.remember(hidden) + self.take_in(self.glimpse(pictures, place)))

    def _mean_place(self, hidden: Float[Tensor, "... unit"]) -> Float[Tensor, "... 2"]:
        return torch.tanh(self.location(hidden))

    def _note(self, pictures: Pictures, places: Float[Tensor, "batch path glimpse 2"]) -> None:
        """The windows of the first path, for whoever is watching."""
        sides = window_sides(self.options.patch, self.options.scales)
        centres = centre_pixels(places[:, 0], pictures.shape)
        extents = centres.new_tensor(sides).expand(*centres.shape[:2], -1)
        note_window(self, self.looks_from, self.looks_at, centres, extents)


def _log_normal(drawn: Tensor, mean: Tensor, sigma: float) -> Tensor:
    """log N(drawn; mean, σ² I) in two dimensions, but for the constant −log 2πσ², which no gradient sees."""
    return -((drawn - mean) ** 2).sum(dim=-1) / (2 * sigma**2)
