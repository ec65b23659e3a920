"""Export a model folder to CTranslate2: the network, the vocabularies and optionally a lexical shortlist."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from regard.base.faults import Fault
from regard.base.progress import Progress, silent
from regard.data.tokenisers.symbols import NAMES
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.engines.ctranslate2.spec import transformer_spec
from regard.engines.exported import CTRANSLATE2, SHORTLIST, origins, write_record
from regard.engines.folders import FOLDERS, whole_folder
from regard.engines.shortlist import learnt_for
from regard.loading import load_able
from regard.models.parts import Residual
from regard.models.transformer.network import Transformer
from regard.training import checkpoint

Quantisation = Literal["int8", "int16", "float16", "bfloat16", "float32"]
_UNSUITABLE = re.compile(r"[ \t\r\n\0]|^$")  # characters that separate names in the shortlist, or an empty name


def export_ctranslate2(
    folder: Path,
    out: Path,
    quantisation: Quantisation = "int8",
    shortlist: bool = False,
    progress: Progress = silent,
) -> None:
    """Write the model in `folder` to the folder `out`, which may hold an earlier export and nothing else.

    With `shortlist`, the tokens that each source token can become are learnt from the model's training data.
    """
    files = checkpoint.read_folder(folder)
    model = load_able(folder, "translate", device="cpu")
    network, task = model.task.model, model.task
    if not isinstance(network, Transformer):
        raise Fault(f"CTranslate2 supports only Transformers, and {folder} is of the family {model.recipe.family}.")
    spec = describe_network(network, task.source, task.target)
    names = token_names(task.source, task.target)
    listed = None
    if shortlist:
        listed = learnt_for(folder, model.recipe.data.prepared, task.source, task.target, progress).text(*names)
    spec.optimize(quantisation)
    with whole_folder(out, FOLDERS[CTRANSLATE2]) as partial:
        spec.save(str(partial))
        if listed is not None:
            (partial / SHORTLIST).write_text(listed, encoding="utf-8")
        write_record(partial, quantisation, origins(files))


def describe_network(network: Transformer, source: Tokeniser, target: Tokeniser) -> Any:
    """Return CTranslate2's description of a translator: its network, and its tokens by name."""
    spec = transformer_spec(network)
    source_names, target_names = token_names(source, target)
    spec.register_source_vocabulary(source_names)
    spec.register_target_vocabulary(target_names)
    config = spec.config
    config.unk_token, config.bos_token = target_names[target.unknown], target_names[target.begin]
    config.eos_token = target_names[target.end]
    config.decoder_start_token, config.add_source_eos = config.bos_token, True
    norm = next(part.norm for part in network.modules() if isinstance(part, Residual))
    config.layer_norm_epsilon = norm.eps
    spec.validate()
    return spec


def token_names(source: Tokeniser, target: Tokeniser) -> tuple[list[str], list[str]]:
    """Return a distinct name without spaces for each token of both sides, with the same special tokens on both.

    The names are the pieces, so that the export works with the SentencePiece model alone. If that is impossible, they
    are the tokens' numbers; special tokens keep names, since their numbers may differ between the sides.
    """
    sides = (source, target)
    names = [side.pieces(range(side.size)) for side in sides]
    special = [
        [side_names[token] for token in (side.unknown, side.end)] for side_names, side in zip(names, sides, strict=True)
    ]
    if special[0] == special[1] and all(_are_suitable(side_names) for side_names in names):
        return names[0], names[1]
    return _token_names(source), _token_names(target)


def _token_names(side: Tokeniser) -> list[str]:
    special = {side.unknown: NAMES[1], side.end: NAMES[3]}
    return [special.get(token, str(token)) for token in range(side.size)]


def _are_suitable(names: Sequence[str]) -> bool:
    return len(set(names)) == len(names) and not any(_UNSUITABLE.search(name) for name in names)
