"""Convert sounds to the spectrogram frames that a network speaks, and frames to sounds."""

from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.models.griffin_lim import griffin_lim, unmix_bands
from regard.models.log_mel import SOFTEST, LogMel

CENTRE, SPREAD = -6.0, 5.0  # about the mean and deviation of log-mel frames of speech
UNMIXING_ROUNDS = 30


class Hearing(nn.Module):
    """Log-mel frames scaled to about 1, and the way back by the Griffin-Lim algorithm."""

    def __init__(self, rate: int, window: int, hop: int, bands: int) -> None:
        super().__init__()
        self.log_mel = LogMel(rate, window, hop, bands)

    @property
    def hop(self) -> int:
        """Samples from one frame to the next."""
        return self.log_mel.hop

    def forward(self, sounds: Float[Tensor, "batch sample"]) -> Float[Tensor, "batch frame band"]:
        """Return the spectrogram of sounds, in float32."""
        return (self.log_mel(sounds) - CENTRE) / SPREAD

    def frame_counts(self, lengths: Int[Tensor, " batch"]) -> Int[Tensor, " batch"]:
        """Return the number of frames of sounds with these numbers of samples."""
        return self.log_mel.frame_counts(lengths)

    def sound(self, frames: Float[Tensor, "frame band"], rounds: int) -> Float[Tensor, " sample"]:
        """Return a sound with nearly these frames: bands become bins, and bins get phases."""
        window, filters = self.log_mel.window.float(), self.log_mel.filters.float()
        power = ((frames.float().mT * SPREAD + CENTRE).exp() - SOFTEST).clamp(min=0)
        magnitudes = unmix_bands(power, filters, UNMIXING_ROUNDS).sqrt()
        return griffin_lim(magnitudes, window, self.hop, rounds)
