"""The recurrent model of visual attention (Mnih et al. 2014): a few glimpses of a picture, then an answer.

It never sees the whole picture. After each glimpse it chooses where to look next, so the cost of an answer does not
grow with the picture. The choice is sampled, so it learns by REINFORCE; everything else learns by gradient.
"""

import math
from typing import Literal, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.attention.editing import edited_units, is_edited
from regard.attention.glimpses import Pictures, Places, centre_pixels, take_glimpses, window_sides
from regard.attention.watch import is_watched, note_window
from regard.base.faults import Fault
from regard.base.recipe import Options
from regard.models.bounds import WIDEST
from regard.models.parts import count_matrix_weights
from regard.models.picture_network import PictureNetwork

NOISE_SEED = 2014  # for the paths that an answer averages over: the same for every picture, in every process


class RAMOptions(Options):
    """Sizes of the recurrent model of visual attention; the defaults are those published for MNIST."""

    glimpses: int = Field(6, ge=2, le=64, description="Number of glimpses before an answer.")
    patch: int = Field(8, ge=2, le=256, description="Side of a window as the model sees it, in pixels; even.")
    scales: int = Field(1, ge=1, le=8, description="Windows per glimpse, each twice as wide as the one before.")
    glimpse_width: int = Field(128, ge=1, le=WIDEST, description="Hidden size for what is seen, and for where.")
    width: int = Field(256, ge=1, le=WIDEST, description="Hidden size of a glimpse and of the recurrent core.")
    location_width: int = Field(
        0, ge=0, le=WIDEST, description="Units between the core and the next place; 0 for none, as published."
    )
    sigma: float = Field(0.1, gt=0, le=2, description="Standard deviation of sampled places in training.")
    start: Literal["random", "centre"] = Field(
        "random", description="Where it looks first in training; answers begin at the centre."
    )
    paths: int = Field(
        1, ge=1, le=1024, description="Paths that an answer averages: one along the mean places, the others sampled."
    )

    @model_validator(mode="after")
    def _check(self) -> "RAMOptions":
        if self.patch % 2:
            raise ValueError(f"patch is {self.patch}, expected an even number: a window lies on whole pixels")
        return self


class Glimpsed(NamedTuple):
    """Result of looking along one or more paths; the first glimpse is not chosen, so there is one choice fewer."""

    log_probabilities: Float[Tensor, "batch path class"]
    places: Float[Tensor, "batch path glimpse 2"]
    log_policy: Float[Tensor, "batch path choice"]  # log π(l_t | previous glimpses)
    baselines: Float[Tensor, "batch path choice"]  # expected reward before each choice


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
        pixels = take_glimpses(pictures, places, self.patch, self.scales).flatten(2)
        return F.relu(self.what(F.relu(self.see(pixels))) + self.where(F.relu(self.locate(places))))


class RAM(PictureNetwork):
    """Glimpse, core, location, action and baseline networks (section 4).

    - core: h_t = Rect(Linear(h_{t−1}) + Linear(g_t)), from h_0 = 0
    - location: l_t ~ N(tanh(Linear(h_t)), σ² I), clamped to the picture, or with a hidden layer (`location_width`)
    - action: log p(y) = log softmax(Linear(h_T)), after the last glimpse
    - baseline: b_t = Linear(h_t), the expected reward

    Location and baseline learn from h_t but pass no gradient to it. The published mean of a place is linear; tanh keeps
    ours within the picture.
    """

    looks_from, looks_at = "glimpses", "picture"
    edits = "window", "state"  # the centre of a glimpse, across and down in pixels, and h after it
    outputs_lack_places = "inside this model an output has the axes picture, path and unit"
    chooses = True

    def __init__(self, options: RAMOptions, classes: int, height: int, width: int) -> None:
        """Build a network for pictures of any size; `height` and `width` are there for other picture networks."""
        super().__init__()
        self.options = options
        self.glimpse = GlimpseNetwork(options)
        self.remember = nn.Linear(options.width, options.width)
        self.take_in = nn.Linear(options.width, options.width)
        self.location = _location_network(options)
        self.action = nn.Linear(options.width, classes)
        self.baseline = nn.Linear(options.width, 1)

    def forward(self, pictures: Pictures, start: Places, noise: Float[Tensor, "batch path choice 2"]) -> Glimpsed:
        """Look along paths that begin at `start` and deviate from the mean place by σ · `noise` at each choice."""
        start = self._edit_place(pictures, start, 0)
        hidden = self._glance(pictures, start, start.new_zeros(*start.shape[:2], self.options.width), 0)
        places, hiddens, sampled = [start], [], []
        for choice in range(self.options.glimpses - 1):
            hiddens.append(hidden.detach())
            sampled.append(self._mean_place(hiddens[-1]).detach() + self.options.sigma * noise[..., choice, :])
            places.append(self._edit_place(pictures, sampled[-1].clamp(-1, 1), choice + 1))
            hidden = self._glance(pictures, places[-1], hidden, choice + 1)
        looked_at = torch.stack(places, dim=2)
        if is_watched(self):
            self._note(pictures, looked_at)
        before = torch.stack(hiddens, dim=2)
        log_policy = _log_normal(torch.stack(sampled, dim=2), self._mean_place(before), self.options.sigma)
        log_probabilities = torch.log_softmax(self.action(hidden), dim=-1)
        return Glimpsed(log_probabilities, looked_at, log_policy, self.baseline(before).squeeze(-1))

    def explore(self, pictures: Pictures, paths: int) -> Glimpsed:
        """Look along paths sampled from torch's global generator, as for training."""
        shape = (pictures.shape[0], paths, self.options.glimpses - 1, 2)
        start = pictures.new_zeros(shape[0], paths, 2)
        if self.options.start == "random":
            start.uniform_(-1, 1)
        return self(pictures, start, torch.randn(shape, dtype=pictures.dtype, device=pictures.device))

    def answer(self, pictures: Pictures) -> Float[Tensor, "batch class"]:
        """Return the log-probabilities of the classes: along the mean places, or averaged with sampled paths.

        The noise is the same for every picture, so that an answer depends on its picture alone.
        """
        options, chance = self.options, torch.Generator().manual_seed(NOISE_SEED)
        start, noise = torch.zeros(options.paths, 2), torch.zeros(options.paths, options.glimpses - 1, 2)
        if options.start == "random":
            start[1:].uniform_(-1, 1, generator=chance)
        noise[1:].normal_(generator=chance)
        paths = (numbers.to(pictures).expand(pictures.shape[0], *numbers.shape) for numbers in (start, noise))
        return torch.logsumexp(self(pictures, *paths).log_probabilities, dim=1) - math.log(options.paths)

    def step_sides(self) -> dict[str, list[str]]:
        return {self.looks_from: [f"glimpse {number + 1}" for number in range(self.options.glimpses)]}

    def multiplications(self, height: int, width: int) -> int:
        """Return the multiplications of an answer, the same for any picture size."""
        each_glimpse = count_matrix_weights(self.glimpse, self.remember, self.take_in)
        choices = (self.options.glimpses - 1) * count_matrix_weights(self.location)
        return self.options.paths * (self.options.glimpses * each_glimpse + choices + count_matrix_weights(self.action))

    def _glance(
        self, pictures: Pictures, place: Places, hidden: Tensor, number: int
    ) -> Float[Tensor, "batch path unit"]:
        hidden = F.relu(self.remember(hidden) + self.take_in(self.glimpse(pictures, place)))
        return edited_units(self, "state", hidden[:, :, None], number)[:, :, 0]

    def _edit_place(self, pictures: Pictures, places: Places, number: int) -> Places:
        """Return where the paths look in a glimpse, as edited: every path looks at an edited place."""
        if not is_edited(self, "window"):
            return places
        sides = places.new_tensor([pictures.shape[2], pictures.shape[1]])
        before = (places + 1) / 2 * sides
        pixels = edited_units(self, "window", before[:, :, None], number)[:, :, 0]
        if ((pixels < 0) | (pixels > sides)).any():
            raise Fault(
                f"Glimpse {number} is edited to a place outside its picture, {pictures.shape[2]} × "
                f"{pictures.shape[1]} pixels."
            )
        return torch.where(pixels == before, places, 2 * pixels / sides - 1)

    def _mean_place(self, hidden: Float[Tensor, "... unit"]) -> Float[Tensor, "... 2"]:
        return torch.tanh(self.location(hidden))

    def _note(self, pictures: Pictures, places: Float[Tensor, "batch path glimpse 2"]) -> None:
        """Note the windows of the first path for watchers."""
        sides = window_sides(self.options.patch, self.options.scales)
        centres = centre_pixels(places[:, 0], pictures.shape)
        extents = centres.new_tensor(sides).expand(*centres.shape[:2], -1)
        note_window(self, self.looks_from, self.looks_at, centres, extents)


def _location_network(options: RAMOptions) -> nn.Module:
    """Layers from the core's state to the next place, before tanh."""
    if not options.location_width:
        return nn.Linear(options.width, 2)
    return nn.Sequential(
        nn.Linear(options.width, options.location_width), nn.ReLU(), nn.Linear(options.location_width, 2)
    )


def _log_normal(sampled: Tensor, mean: Tensor, sigma: float) -> Tensor:
    """log N(sampled; mean, σ² I) in two dimensions, without the constant −log 2πσ², which has no gradient."""
    return -((sampled - mean) ** 2).sum(dim=-1) / (2 * sigma**2)
