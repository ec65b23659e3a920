"""Options that translators of several families share: copying, and a CTC head besides the decoder; without torch."""

from typing import Any

from pydantic import Field, model_validator

from regard.base.recipe import Options


class CTCOptions(Options):
    """Options that translators with a CTC head share."""

    ctc: float = Field(
        default=0.0,
        ge=0,
        lt=1,
        description="Share of CTC in the loss, by a head on the encoder (published: 0.2 to 0.5); 0: no head.",
    )
    ctc_frames: int = Field(
        default=2,
        ge=1,
        le=16,
        description="CTC frames per source token; CTC writes at most one token per frame.",
    )

    @property
    def idle(self) -> tuple[str, ...]:
        return () if self.ctc else ("ctc_frames",)

    @model_validator(mode="after")
    def _check_ctc(self) -> "CTCOptions":
        if not self.ctc and self.ctc_frames != type(self).model_fields["ctc_frames"].default:
            raise ValueError("ctc is 0, so there is no head and ctc_frames would do nothing")
        return self


class CopyOptions(Options):
    """Option of networks that can copy."""

    copies: bool = Field(
        default=False,
        description="Let the model copy words of the source, besides writing words of the vocabulary.",
    )


def can_copy(options: Any) -> bool:
    """Return True if a network with these options copies."""
    return isinstance(options, CopyOptions) and options.copies
