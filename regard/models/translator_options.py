"""Options that translators of several families share: copying, and a CTC head beside the decoder. No torch."""

from typing import Any

from pydantic import Field, model_validator

from regard.base.recipe import Options


class CTCOptions(Options):
    """The options that translators with a CTC head share."""

    ctc: float = Field(
        default=0.0,
        ge=0,
        lt=1,
        description="Share of the loss that is of CTC, by a head on the encoder (published: 0.2 to 0.5); 0: no head.",
    )
    ctc_frames: int = Field(
        default=2,
        ge=1,
        le=16,
        description="Frames of each source token for CTC, which writes at most one token a frame.",
    )

    @property
    def idle(self) -> tuple[str, ...]:
        return () if self.ctc else ("ctc_frames",)

    @model_validator(mode="after")
    def _check_ctc(self) -> "CTCOptions":
        if not self.ctc and self.ctc_frames != type(self).model_fields["ctc_frames"].default:
            raise ValueError("ctc is 0 and there is no head, so ctc_frames would do nothing")
        return self


class CopyOptions(Options):
    """The option that networks which can copy share."""

    copies: bool = Field(
        default=False,
        description="Whether words of the source can be copied, beside writing those of the vocabulary.",
    )


def can_copy(options: Any) -> bool:
    """Return True if a network with these options copies."""
    return isinstance(options, CopyOptions) and options.copies
