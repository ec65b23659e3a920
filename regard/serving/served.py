"""A model that is served: what it is, the engines that run it, and how it translates sentences of equal plans."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

from regard.base.faults import Fault, TextFault
from regard.base.parsing import parse_json
from regard.base.recipe import check
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.decoding.options import DecodingOptions
from regard.engines.fast import Choice, load_fast
from regard.runs.folder import SCORES, read_folder, read_recipe
from regard.verbs.translate.outputs import Cutting, Translated

if TYPE_CHECKING:
    from regard.model import Model, Rank

Engine = Literal["ctranslate2", "onnx", "torch"]


@dataclass(frozen=True)
class Plan:
    """How sentences are translated; those with equal plans can be translated together."""

    engine: Engine
    options: DecodingOptions
    explained: bool = True  # whether tokens, their scores and the alignment are wanted
    scored: bool = True
    draws: bool = False
    begins: bool = False  # whether sentences say how their outputs begin
    requires: bool = False  # and what they must have
    forced: bool = False  # whether outputs are given, and only to be scored
    forbidden: tuple[str, ...] = ()
    allowed: tuple[str, ...] | None = None
    risk: str | None = None
    channel: tuple[str, float] | None = None
    together: tuple[str, ...] = ()
    count: int = 1  # candidates that are given in the end


@dataclass(frozen=True)
class Piece:
    """One sentence to translate, and what is asked of its output."""

    text: str
    key: int = 0  # what sampling depends on beside the seed
    prefix: str = ""
    required: tuple[str, ...] = ()
    output: str = ""  # if it is given


@dataclass
class Served:
    """A model folder under a name."""

    name: str
    folder: Path
    engine: Choice = "auto"
    others: "dict[str, Served]" = field(default_factory=dict, repr=False)  # all that are served, by their names

    def __post_init__(self) -> None:
        self._lock = Lock()
        self.recipe = read_recipe(self.folder)
        data = self.recipe["data"]
        self.source, self.target = str(data["source_language"]), str(data["target_language"])
        self.fast = load_fast(self.folder, self.engine)
        if self.fast is None:
            _ = self.model

    @property
    def model(self) -> "Model":
        """The model by torch, loaded when it is first needed."""
        with self._lock:
            return self._loaded

    @cached_property
    def _loaded(self) -> "Model":
        from regard.model import load

        return load(self.folder)

    # What it is

    @property
    def engines(self) -> list[Engine]:
        return ["torch"] if self.fast is None else [self.fast.name, "torch"]

    @cached_property
    def decoding(self) -> DecodingOptions:
        """The search that its recipe asks for."""
        return check(DecodingOptions, self.recipe["decoding"])

    @property
    def longest(self) -> int:
        """Tokens of the longest sentence it takes, the end counted."""
        return int(self.recipe["model"]["longest"])

    @property
    def learnt(self) -> int:
        """Those of the longest that it learnt from."""
        return min(self.longest, int(self.recipe["data"]["cleaning"]["longest"]) + 1)

    @property
    def tokenisers(self) -> tuple[Tokeniser, Tokeniser]:
        if self.fast is not None:
            return self.fast.source, self.fast.target
        return self.model.task.source, self.model.task.target

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

    def cutting(self, sentences: bool, long_ones: bool, longest: int) -> Cutting:
        """How its texts become sentences that it can read."""
        source, _ = self.tokenisers
        return Cutting(
            self.source, lambda text: len(source.encode(text)) + 1, min(self.learnt, longest), sentences, long_ones
        )

    @cached_property
    def _numbers(self) -> dict[str, int]:
        target = self.tokenisers[1]
        return {piece: token for token, piece in reversed(list(enumerate(target.pieces(range(target.size)))))}

    def target_tokens(self, pieces: Sequence[str]) -> list[int]:
        """The tokens of an output by their names."""
        unknown = next((piece for piece in pieces if piece not in self._numbers), None)
        if unknown is not None:
            raise Fault(f"{unknown[:40]!r} is no token of the model {self.name}.")
        if len(pieces) > self.longest - 1:
            raise Fault(f"There are {len(pieces)} tokens, but an output has {self.longest - 1} at most.")
        return [self._numbers[piece] for piece in pieces]

    def costs(self, plan: Plan, pieces: Sequence[Piece]) -> list[float]:
        """What sentences cost: their tokens to read, and to write as many again in every row of the search.

        Outputs are about as long as their sources. The limits of length would count what is hardly ever written.
        """
        rows = 1 if plan.forced else plan.options.sampling.samples if plan.draws else plan.options.beam
        models = 1 + len(plan.together) + (plan.channel is not None)
        found = self.tokenisers[0].encode_all([piece.text for piece in pieces])
        return [float((len(tokens) + 1) * (1 + rows) * models) for tokens in found]

    # What it does, in its worker's thread

    def translate(self, plan: Plan, pieces: Sequence[Piece]) -> list[Translated]:
        """The translations of sentences, in their order."""
        texts = [piece.text for piece in pieces]
        try:
            if plan.engine != "torch":
                found = self._by_export(plan, texts)
            elif plan.forced:
                found = self.model.translate_as(texts, [piece.output for piece in pieces])
            else:
                found = self._by_torch(plan, texts, pieces)
        except TextFault as fault:
            raise Fault(fault.sentence) from None
        if plan.explained:
            for each in found:
                _ = each.alignment  # here and now, in the thread that owns the model
        return found

    def _by_export(self, plan: Plan, texts: list[str]) -> list[Translated]:
        assert self.fast is not None
        return self.fast.translations(texts, plan.options, scored=plan.scored, explained=plan.explained)

    def _by_torch(self, plan: Plan, texts: list[str], pieces: Sequence[Piece]) -> list[Translated]:
        from regard.verbs.translate.search import Constraints, Search

        model = self.model
        if plan.together:
            model = model.together([self.others[name].model for name in plan.together])
        constraints = Constraints(
            [piece.prefix for piece in pieces] if plan.begins else (),
            [piece.required for piece in pieces] if plan.requires else (),
            plan.forbidden,
            plan.allowed,
        )
        search = Search(plan.options, plan.draws, constraints)
        return model.translate_by(texts, search, [piece.key for piece in pieces], self._rank(plan, model))

    def _rank(self, plan: Plan, model: "Model") -> "Rank | None":
        from regard.verbs.translate.reranking import by_channel, by_risk

        if plan.risk is not None:
            return by_risk(model, plan.risk, plan.count)
        if plan.channel is not None:
            other, weight = plan.channel
            return by_channel(model, self.others[other].model, weight, plan.count)
        return None

    def go_on(self, text: str, before: Sequence[int], options: DecodingOptions) -> Translated:
        """The translation of a sentence whose output begins with just these tokens; after an end nothing follows."""
        import torch

        from regard.decoding.beam import beam_search
        from regard.decoding.output import Demands, Hypothesis
        from regard.verbs.translate.search import limits_of, writer_of

        model, task = self.model, self.model.task
        if task.end in before[:-1]:
            raise Fault("An output is over at its end; no token follows it.")
        task.check_length(text, 0)
        if before[-1:] == [task.end]:
            tokens = list(before[:-1])
            with torch.no_grad():
                (own,) = task.forced_token_scores(task.force_batch([text], [tokens]))
            found = [Hypothesis(tokens, own.tolist(), float(own.sum()))]
        else:
            batch = task.read([text])
            limits = limits_of(task, batch, options).clamp(min=min(len(before) + options.longest_extra, self.longest))
            (found,) = beam_search(writer_of([task], options), batch, limits, options, Demands(prefixes=[before]))
        best = found[0]
        aligned = model.align([text], [best.tokens])[0]
        return Translated(
            task.write(best.tokens),
            best.score,
            task.target.pieces(best.tokens),
            best.token_scores,
            [(task.write(each.tokens), each.score) for each in found],
            lambda: aligned,
        )


def unique_names(folders: Sequence[Path]) -> list[str]:
    """A name for each folder: its own, and a number where that is taken."""
    names: list[str] = []
    for folder in folders:
        own = folder.resolve().name or "model"
        numbered = (f"{own}-{number}" for number in range(2, len(folders) + 2))
        names.append(own if own not in names else next(name for name in numbered if name not in names))
    return names
