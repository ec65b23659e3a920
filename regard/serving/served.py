"""A model that is served: a translator under a name, what it is, and what its work costs."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from regard.base.faults import Fault, TextFault
from regard.base.parsing import parse_json
from regard.engines.fast import Choice
from regard.runs.folder import SCORES, read_folder
from regard.verbs.translate.outputs import Translated
from regard.verbs.translate.plan import Piece, Plan
from regard.verbs.translate.translator import Translator


class Served(Translator):
    """A model folder under a name."""

    name: str

    def __init__(self, name: str, folder: Path, engine: Choice = "auto") -> None:
        self.others: dict[str, Served] = {}  # all that are served, by their names
        super().__init__(folder, engine, name=name, find=lambda other: self.others[other])
        data = self.recipe["data"]
        self.source, self.target = str(data["source_language"]), str(data["target_language"])
        if self.fast is None:
            _ = self.model  # loaded now, so that nobody waits for it later

    @cached_property
    def blocks(self) -> dict[str, list[int]]:
        """The heads of each block on each side that has attention."""
        built = self.recipe["model"]
        if self.recipe["family"] == "transformer":
            decoder = [built.get("decoder_heads") or built["heads"]] * built["decoder_layers"]
            return {"encoder": [built["heads"]] * built["encoder_layers"], "decoder": decoder, "cross": decoder}
        return {} if built.get("decoder") == "bottleneck" else {"cross": [1]}

    def scores(self) -> list[dict[str, Any]]:
        """What it scored, as its folder says."""
        try:
            content = read_folder(self.folder, [SCORES])[SCORES]
            return list(parse_json(content, str(self.folder / SCORES))["scores"])
        except (Fault, KeyError, TypeError):
            return []

    def costs(self, plan: Plan, pieces: Sequence[Piece]) -> list[float]:
        """What sentences cost: their tokens to read, and to write as many again in every row of the search.

        Outputs are about as long as their sources. The limits of length would count what is hardly ever written.
        """
        models = 1 + len(plan.together) + (plan.channel is not None)
        found = self.tokenisers[0].encode_all([piece.text for piece in pieces])
        return [float((len(tokens) + 1) * (1 + plan.rows) * models) for tokens in found]

    def run(self, plan: Plan, pieces: Sequence[Piece]) -> list[Translated]:
        """The translations of sentences, which may be of several requests, so that no number tells whose it is."""
        try:
            return super().run(plan, pieces)
        except TextFault as fault:
            raise Fault(fault.sentence) from None


def unique_names(folders: Sequence[Path]) -> list[str]:
    """A name for each folder: its own, and a number where that is taken."""
    names: list[str] = []
    for folder in folders:
        own = folder.resolve().name or "model"
        numbered = (f"{own}-{number}" for number in range(2, len(folders) + 2))
        names.append(own if own not in names else next(name for name in numbered if name not in names))
    return names
