"""Requests for vectors: texts and layer."""

from typing import Annotated

from pydantic import Field

from regard.base.requests.fields import Texts
from regard.base.requests.rules import VerbRequest

Layer = Annotated[int, Field(ge=0, lt=2**31)]


class EmbedRequest(VerbRequest):
    """The texts to embed."""

    verb, items = "embed", "text"

    text: Texts = Field(description="One text, or several.")
    layer: Layer | None = Field(default=None, description="The layer; 0 is the plain embedding. By default all layers.")
