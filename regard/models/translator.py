"""Base of translators' networks, with defaults that hold for most."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from torch import Tensor, nn

from regard.models.parts import Embedding


class Translator(nn.Module):
    """A network that reads source tokens and writes target tokens."""

    has_packed_pass: ClassVar[bool] = False  # True if it can be trained on packed sentences by fused kernels
    has_caches: bool = False  # True if its memory is caches, for which room can be reserved
    # how outputs are found: by a decoder, or by a sum over their alignments with the source
    finds_outputs_by: ClassVar[Literal["decoder", "ctc", "transducer"]] = "decoder"
    reads_turns: ClassVar[bool] = False  # True if it reads a source turn by turn, not as one line of tokens
    marks: tuple[int, ...] = ()  # the tokens that begin each turn, set by whoever knows the tokeniser
    source_embedding: Embedding
    target_embedding: Embedding

    def embeddings(self) -> dict[str, Embedding]:
        """Return the token embeddings that it learns, by side; both sides may share them."""
        return {"source": self.source_embedding, "target": self.target_embedding}

    def turns_of(self, source: Tensor, lengths: Tensor) -> Mapping[str, Any]:
        """Return the turns of sources that the decoder looks at, by the name of their side; most look at tokens."""
        return {}
