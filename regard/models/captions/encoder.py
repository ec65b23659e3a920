"""Small encoders of pictures, trained with the decoder that writes their captions: convolutions, or a Transformer over
patches.

Xu et al. 2015, section 3.1.1, take the annotations of a picture from a convolutional net that others trained; these
begin with nothing, and suit pictures that are simple or many.
"""

from itertools import pairwise

import torch
from jaxtyping import Float
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.base.recipe import Options
from regard.models.bounds import WIDEST
from regard.models.patches import PatchEncoder, PatchOptions, cut_into_patches

COLOURS = 3


class EncoderOptions(Options):
    """Convolutions of stride 2, each with a norm and a rectifier; what the last gives is what a place holds.

    Or the states of a Transformer over patches, one for each.
    """

    channels: list[int] = Field(
        [32, 64, 128], min_length=1, max_length=8, description="Filters of each convolution, which halves the sides."
    )
    kernel: int = Field(5, ge=1, le=31, description="Pixels a side of a filter; odd.")
    patches: PatchOptions | None = Field(None, description="A Transformer over patches in place of the convolutions.")

    @model_validator(mode="after")
    def _check(self) -> "EncoderOptions":
        if self.kernel % 2 == 0:
            raise ValueError(f"kernel is {self.kernel}, expected an odd number, which has a middle")
        if any(not 1 <= count <= WIDEST for count in self.channels):
            raise ValueError(f"channels are {self.channels}, expected numbers from 1 to {WIDEST}")
        usual = [type(self).model_fields[name].default for name in ("channels", "kernel")]
        if self.patches is not None and [self.channels, self.kernel] != usual:
            raise ValueError("channels and kernel are those of convolutions; omit them with patches")
        return self


class EncodedOptions(Options):
    """What every model of captions has beside its own options."""

    encoder: EncoderOptions = Field(
        EncoderOptions(), description="What reads pictures where data.features is 'own', trained with the decoder."
    )


class PictureEncoder(nn.Module):
    """a_i = v_i + Rect(Norm(Conv(…(x)…)))_i, with a vector v_i learnt for each place: convolutions see what is there
    and not where, and captions say where.

    The norm is over all channels and places of a picture by itself, so that batch-mates change nothing.
    """

    def __init__(self, options: EncoderOptions, side: int) -> None:
        """For square pictures with so many pixels a side."""
        super().__init__()
        self.side, reached = side, side
        layers: list[nn.Module] = []
        for before, after in pairwise([COLOURS, *options.channels]):
            layers += [
                nn.Conv2d(before, after, options.kernel, stride=2, padding=options.kernel // 2),
                nn.GroupNorm(1, after),
                nn.ReLU(),
            ]
            reached = -(-reached // 2)
        self.convolutions = nn.Sequential(*layers)
        self.grid, self.depth = (reached, reached), options.channels[-1]
        self.places = nn.Parameter(torch.empty(reached * reached, self.depth))
        nn.init.normal_(self.places, std=0.5)

    def forward(self, pixels: Float[Tensor, "batch pixel 3"]) -> Float[Tensor, "batch place depth"]:
        """The annotations of pictures whose pixels, from 0 to 1, come row after row."""
        rows = pixels.unflatten(1, (self.side, self.side)).permute(0, 3, 1, 2)
        return self.convolutions(2 * rows - 1).flatten(2).transpose(1, 2) + self.places


class PatchPictureEncoder(nn.Module):
    """The annotations are the states of a Transformer over the patches of a picture; places are learnt there."""

    def __init__(self, options: PatchOptions, side: int) -> None:
        """For square pictures with so many pixels a side."""
        super().__init__()
        across = -(-side // options.patch)
        self.side, self.patch, self.grid, self.depth = side, options.patch, (across, across), options.width
        self.encoder = PatchEncoder(options, COLOURS * options.patch**2, self.grid)

    @property
    def places(self) -> Float[Tensor, "place depth"]:
        """What is learnt for each place."""
        return self.encoder.places.places.weight

    def forward(self, pixels: Float[Tensor, "batch pixel 3"]) -> Float[Tensor, "batch place depth"]:
        """The annotations of pictures whose pixels, from 0 to 1, come row after row."""
        sides = pixels.unflatten(1, (self.side, self.side)).permute(0, 3, 1, 2)
        patches = cut_into_patches((2 * sides - 1).flatten(0, 1), self.patch)
        return self.encoder(patches.unflatten(0, (-1, COLOURS)).transpose(1, 2).flatten(2))


def encoder_of(options: EncoderOptions, side: int) -> PictureEncoder | PatchPictureEncoder:
    """The encoder that a recipe asks for, for square pictures with so many pixels a side."""
    return PictureEncoder(options, side) if options.patches is None else PatchPictureEncoder(options.patches, side)
