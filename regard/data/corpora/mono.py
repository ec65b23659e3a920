"""Recipe options for texts of one language: how training pairs are made from them."""

from typing import Literal, Self

from pydantic import Field, model_validator

from regard.base.recipe import Options

Way = Literal["back", "forward", "copy"]


class Writing(Options):
    """Ways for a model to write the other side of a text: by beam search, by sampling, or by beam search with noise."""

    beam: int | None = Field(None, ge=1, le=64, description="Beam size; by default that of the model's recipe.")
    sample: bool = Field(
        False, description="Sample instead of searching, which gives more varied pairs (Edunov et al. 2018)."
    )
    top_k: int | None = Field(None, ge=1, description="Sample among this many tokens; by default among all.")
    noise: bool = Field(
        False,
        description="Drop, blank and shuffle words of what the model wrote (Edunov et al. 2018).",
    )
    seed: int = Field(0, ge=0, description="Random seed of samples and noise.")
    precision: Literal["float32", "bf16"] = Field("float32", description="Precision of the model; bf16 needs a GPU.")

    @model_validator(mode="after")
    def _one_search(self) -> Self:
        if self.top_k is not None and not self.sample:
            raise ValueError("top_k has no effect without sample")
        if self.sample and self.beam is not None:
            raise ValueError("beam is for beam search, but sample draws; give one of them")
        if self.sample and self.noise:
            raise ValueError("noise is for beam search, since samples vary enough; give noise or sample")
        return self


class Mono(Options):
    """A text of one language, and how training pairs are made from it.

    back: a model writes the source for a text of the target language. forward: a model writes the target for a text of
    the source language. copy: a text of the target language is both source and target (Currey et al. 2017).
    """

    file: str = Field(description="File of sentences, one per line (plain, .gz, .xz, .zst).")
    way: Way = Field(description="How the other side is made: back, forward or copy.")
    model: str | None = Field(
        None,
        description="Folder of the model that writes the other side: for back it translates the target language into "
        "the source language, for forward the reverse.",
    )
    share: float | None = Field(
        None,
        gt=0,
        lt=1,
        description="Share of the pairs of an epoch that come from this text; by default it counts by its size.",
    )
    tag: bool | None = Field(
        None,
        description="Begin each source with a reserved token (Caswell et al. 2019); by default only with way = 'back'.",
    )
    writing: Writing = Field(Writing(), description="How the model writes.")

    @model_validator(mode="after")
    def _check_model(self) -> Self:
        if self.way == "copy" and self.model is not None:
            raise ValueError("way = 'copy' needs no model; omit it, or set way to 'back' or 'forward'")
        if self.way != "copy" and self.model is None:
            raise ValueError(f"way = '{self.way}' needs a model that writes the other side")
        if self.way == "copy" and self.writing != Writing():
            raise ValueError("way = 'copy' writes nothing, so 'writing' has no effect")
        if self.way == "forward" and self.writing.noise:
            raise ValueError("noise is for sources, but way = 'forward' writes targets; omit it")
        return self

    @property
    def is_tagged(self) -> bool:
        return self.way == "back" if self.tag is None else self.tag
