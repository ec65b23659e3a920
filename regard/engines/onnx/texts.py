"""The ONNX graph of a language model, a classifier, a tagger or a BERT, and what a runner must know about it."""

from collections.abc import Callable
from typing import Any, NamedTuple

from regard.base.extras import importing
from regard.base.faults import Fault
from regard.base.version import __version__
from regard.data.tagging.lexicon import SHAPES
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.engines.exported import has_graphs
from regard.loading import Loaded
from regard.models.bert import Bert
from regard.models.gpt.network import GPT
from regard.models.tagging.tagger import Tagger
from regard.models.text.encoder import EncoderReader
from regard.tasks.classification.task import Classification
from regard.tasks.language.gradient import GradientLanguage
from regard.tasks.masked.task import MaskedTokens
from regard.tasks.tagging.task import Tagging

READER, WRITER = "reader.onnx", "writer.onnx"
_TOKENISER = "tokeniser"
Build = Callable[[Any, dict[str, str], bool], Any]  # from an empty graph, facts and "watched" to the finished graph


class Parts(NamedTuple):
    """An export: how its graphs are built, by file name, the facts of `about.json`, and further files."""

    graphs: dict[str, Build]
    about: dict[str, Any]
    files: dict[str, bytes]


def text_parts(model: Loaded) -> Parts | None:
    """Return the parts of a model that reads or continues a text; None for a model of another kind."""
    if not has_graphs(model.recipe.family):  # a family may build on another's network
        return None
    match model.task:
        case GradientLanguage(model=GPT()):
            return _language_parts(model.task)
        case Classification() if _has_reader(model.task.model):
            return _classifier_parts(model.task)
        case Tagging() if _has_reader(model.task.model):
            return _tagger_parts(model.task)
        case MaskedTokens() if _has_reader(model.task.model):
            return _masked_parts(model.task)
    return None


def _has_reader(network: Any) -> bool:
    """Return True if the network reads by an encoder or a BERT; refuse one that reads in windows."""
    reader = getattr(network, "reader", None)
    if isinstance(reader, Bert) and reader.options.window is not None:
        raise Fault("ONNX exports read a text at once, and this model reads windows of it (model.window).")
    return isinstance(reader, EncoderReader | Bert)


def _language_parts(task: GradientLanguage) -> Parts:
    network: Any = task.model
    options = network.options
    about = {
        "kind": "language",
        "context": options.context,
        "layers": options.layers,
        "past": {
            "heads": options.key_value_heads or options.heads,
            "key_depth": options.width // options.heads,
            "value_depth": options.width // options.heads,
        },
    }

    def build(graph: Any, facts: dict[str, str], watched: bool) -> Any:
        with importing("onnx", "Writing an ONNX export"):
            from regard.engines.onnx.gpt import gpt_graph
        return gpt_graph(network, graph, facts, watched)

    return Parts({WRITER: build}, about | _of_tokens(task.tokeniser), task.tokeniser.files(_TOKENISER))


def _classifier_parts(task: Classification) -> Parts:
    network = task.model
    _check_reader(network.reader)
    about = {
        "kind": "classification",
        "classes": task.labels.classes,
        "longest": network.reader.options.longest,
        "framing": _framing(network.reader),
    }

    def build(graph: Any, facts: dict[str, str], watched: bool) -> Any:
        with importing("onnx", "Writing an ONNX export"):
            from regard.engines.onnx.readers import classifier_graph
        return classifier_graph(network, graph, facts, watched)

    return Parts({READER: build}, about | _of_tokens(task.tokeniser), task.tokeniser.files(_TOKENISER))


def _masked_parts(task: MaskedTokens) -> Parts:
    network = task.model
    about = {
        "kind": "masked",
        "mask": task.tokeniser.mask,
        "longest": network.reader.options.longest,
        "framing": _framing(network.reader),
    }

    def build(graph: Any, facts: dict[str, str], watched: bool) -> Any:
        with importing("onnx", "Writing an ONNX export"):
            from regard.engines.onnx.readers import masked_graph
        return masked_graph(network, graph, facts, watched)

    return Parts({READER: build}, about | _of_tokens(task.tokeniser), task.tokeniser.files(_TOKENISER))


def _tagger_parts(task: Tagging) -> Parts:
    network: Tagger = task.model
    _check_tagger(network)
    chain = network.chain
    about = {
        "kind": "tagging",
        "tags": task.lexicon.tags,
        "shapes": SHAPES,
        "longest": network.options.longest,
        "framing": _framing(network.reader),
        "chain": None if chain is None else {name: tensor.tolist() for name, tensor in chain.named_parameters()},
    }
    files = task.lexicon.files()
    if task.tokeniser is not None:
        about |= _of_tokens(task.tokeniser)
        files |= task.tokeniser.files(_TOKENISER)

    def build(graph: Any, facts: dict[str, str], watched: bool) -> Any:
        with importing("onnx", "Writing an ONNX export"):
            from regard.engines.onnx.readers import tagger_graph
        return tagger_graph(network, graph, facts, watched)

    return Parts({READER: build}, about, files)


def _framing(reader: Any) -> dict[str, Any]:
    """Return how many marks surround a text, and whether the middle of one that is too long is dropped."""
    before, behind = reader.around
    drops_middle = isinstance(reader, Bert) and reader.options.too_long == "ends"
    return {"before": len(before), "behind": len(behind), "drops_middle": drops_middle}


def _of_tokens(tokeniser: Tokeniser) -> dict[str, Any]:
    special = ("pad", "unknown", "begin", "end")
    return {"regard": __version__, "tokens": tokeniser.size, **{name: getattr(tokeniser, name) for name in special}}


def _check_reader(reader: Any) -> None:
    if reader.inputs is not None and reader.inputs.contexts is not None:
        raise Fault("ONNX exports lack the features of other language models that this model reads (data.contexts).")


def _check_tagger(network: Tagger) -> None:
    _check_reader(network.reader)
    letters = network.features.letters
    if letters is not None and letters.filters is None:
        raise Fault("ONNX exports read letters by a convolution, and this model has model.letters.reader = 'lstm'.")
    if network.after_label is not None:
        raise Fault(
            "ONNX exports choose each tag by itself or by a CRF, and this model has model.previous_label = true."
        )
    if len(network.features.columns):
        raise Fault("ONNX exports of taggers read words alone, and this model reads further columns with each word.")
