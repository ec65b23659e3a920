"""Parts of DRAW that can be edited: its two windows, in pixels, and the states of its two LSTMs."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention.editing import edited_units, is_edited
from regard.base.faults import Fault
from regard.models.draw.filters import LOG_DISTANCE, LOG_STRENGTH, LOG_VARIANCE, Window, place_grid

Numbers = Float[Tensor, "batch number"]
# For each number of a window, the place of its counterpart among across, down, side, σ and γ.
IN_WINDOW = [0, 1, LOG_DISTANCE, LOG_VARIANCE, LOG_STRENGTH]


class EditedWindow(nn.Module):
    """A window of grid × grid filters; its numbers are across, down and side in pixels, σ in pixels, and γ.

    The picture's upper left corner is half a pixel before the first pixel's centre. A side reaches from the first
    filter to the last, with half a pixel on either end, so a window over the whole picture has the picture's side.
    """

    edits = ("window",)

    def __init__(self, grid: int, height: int, width: int) -> None:
        super().__init__()
        self.grid, self.height, self.width = grid, height, width

    def numbers(self, window: Window) -> Numbers:
        """Return the numbers of a window."""
        place = place_grid(window, self.grid, self.height, self.width)
        side, deviation = (self.grid - 1) * place.distance + 1, (window[:, LOG_VARIANCE] / 2).exp()
        strength = window[:, LOG_STRENGTH].exp()
        return torch.stack([place.across - 0.5, place.down - 0.5, side, deviation, strength], dim=1)

    def forward(self, window: Window, step: int) -> Window:
        """Return the window of a step as edited; numbers that are not edited keep their bits."""
        if not is_edited(self, "window"):
            return window
        before = self.numbers(window)
        after = edited_units(self, "window", before[:, None], step)[:, 0]
        if (after[:, 2] <= 1).any() or (after[:, 3:] <= 0).any():
            raise Fault("A window is edited to a side of at most 1 pixel, or to a σ or γ that is not above 0.")
        return torch.where((after == before)[:, IN_WINDOW], window, self._window(after))

    def _window(self, numbers: Numbers) -> Window:
        """Return the five numbers by which the network describes a window; the inverse of `numbers`."""
        across, down, side, deviation, strength = numbers.unbind(dim=1)
        numbers = torch.stack(
            [
                (across + 0.5) * 2 / (self.width + 1) - 1,
                (down + 0.5) * 2 / (self.height + 1) - 1,
                ((side - 1) / (max(self.height, self.width) - 1)).log(),
                2 * deviation.log(),
                strength.log(),
            ],
            dim=1,
        )
        return numbers[:, IN_WINDOW]


class EditedLstm(nn.Linear):
    """The linear layer of an LSTM, whose state can be edited: the units of h, then those of c."""

    edits = ("state",)

    def edited(self, shown: Tensor, cell: Tensor, step: int) -> tuple[Tensor, Tensor]:
        """Return h and c after a step as edited."""
        if not is_edited(self, "state"):
            return shown, cell
        shown, cell = edited_units(self, "state", torch.cat([shown, cell], dim=1)[:, None], step)[:, 0].chunk(2, dim=1)
        return shown, cell
