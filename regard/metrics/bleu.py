"""sacreBLEU's BLEU by any of its tokenisers.

What a tokeniser needs must be here already: sacreBLEU would download the model of some, and nothing is downloaded here.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.base.faults import Fault

CHOOSABLE = "bleu"  # the metric whose tokeniser can be chosen
SMOOTHINGS = ("none", "floor", "add-k", "exp")
_WITH_VALUE = ("floor", "add-k")
UNCUT = "none"  # the tokeniser for text that is cut already
_DEPRECATED = "spm"  # sacreBLEU's old name of flores101
_PACKAGES = {"ja-mecab": "sacrebleu[ja]", "ko-mecab": "sacrebleu[ko]"}
_USUAL = (
    dict.fromkeys(("zh", "zho", "cmn"), "zh")
    | dict.fromkeys(("ja", "jpn"), "ja-mecab")
    | dict.fromkeys(("ko", "kor"), "ko-mecab")
)


@dataclass(frozen=True)
class Smoothing:
    """Smoothing: what sacreBLEU counts for an order without a match.

    Nothing (`none`), `value` of a match (`floor`, 0.1), `value` more in every count above the first order (`add-k`, 1),
    or half a match at the first such order, a quarter at the next, and so on (`exp`), which is usual.
    """

    method: str = "exp"
    value: float | None = None

    def __post_init__(self) -> None:
        if self.method not in SMOOTHINGS:
            raise Fault(f"BLEU is not smoothed by '{self.method}'; there are {', '.join(SMOOTHINGS)}.")
        if self.value is not None and self.method not in _WITH_VALUE:
            raise Fault(f"The smoothing '{self.method}' takes no value; {' and '.join(_WITH_VALUE)} do.")
        if self.value is not None and not 0 < self.value < math.inf:
            raise Fault(f"{self.value:g} cannot be the value of a smoothing; it must be more than 0.")


USUAL_SMOOTHING = Smoothing()


def bleu(
    tokenise: str | None = None, orders: int = 4, effective: bool = False, smoothing: Smoothing = USUAL_SMOOTHING
) -> Any:
    """BLEU by this tokeniser, or by sacreBLEU's usual 13a; with `effective`, by those orders that a text has."""
    from sacrebleu.metrics.bleu import BLEU

    name = BLEU.TOKENIZER_DEFAULT if tokenise is None else tokenise
    known = [each for each in BLEU.TOKENIZERS if each != _DEPRECATED]
    if name not in known:
        raise Fault(f"sacreBLEU has no tokeniser '{name}'; it has {', '.join(known)}.")
    model = _model(name)
    try:
        return BLEU(
            tokenize=name,
            max_ngram_order=orders,
            effective_order=effective,
            force=True,
            smooth_method=smoothing.method,
            smooth_value=smoothing.value,
        )
    except (ImportError, RuntimeError, AssertionError, OSError):
        if model is not None:
            raise Fault(f"{model} is not a SentencePiece model, so there is no tokeniser {name}.") from None
        if name in _PACKAGES:
            raise Fault(
                f"The tokeniser {name} does not work here; `pip install '{_PACKAGES[name]}'` gets what it needs."
            ) from None
        raise


def _model(tokenise: str) -> Path | None:
    """The file that a tokeniser of pieces reads, refused if it is not here; None for the others."""
    from sacrebleu.tokenizers.tokenizer_spm import SPM_MODELS
    from sacrebleu.utils import SACREBLEU_DIR

    if tokenise not in SPM_MODELS:
        return None
    url = SPM_MODELS[tokenise]["url"]
    path = Path(SACREBLEU_DIR, "models", url.rpartition("/")[2])
    if not path.is_file():
        raise Fault(f"The tokeniser {tokenise} needs a model that is not here; get {url} and put it at {path}.")
    return path


def check_tokeniser(tokenise: str | None, metrics: Sequence[str]) -> None:
    """Refuse a tokeniser that none of the metrics uses, or that cannot be had."""
    if tokenise is None:
        return
    if CHOOSABLE not in metrics:
        raise Fault(f"A tokeniser can be chosen for {CHOOSABLE} alone, not for {', '.join(metrics)}; leave it out.")
    bleu(tokenise)


def check_smoothing(smoothing: Smoothing, metrics: Sequence[str]) -> None:
    """Refuse a smoothing that none of the metrics uses."""
    if smoothing != USUAL_SMOOTHING and CHOOSABLE not in metrics:
        raise Fault(f"Smoothing can be chosen for {CHOOSABLE} alone, not for {', '.join(metrics)}; leave it out.")


def tokeniser_of(metric: str, tokenise: str | None) -> str | None:
    """The tokeniser asked for, if the metric is the one that uses it."""
    return tokenise if metric == CHOOSABLE else None


def tokeniser_remark(language: str, metrics: Sequence[str], tokenise: str | None) -> str | None:
    """Return a remark for a language that 13a does not usually cut, unless a tokeniser was chosen."""
    usual = _USUAL.get(re.split("[-_]", language.lower())[0])
    if usual is None or tokenise is not None or CHOOSABLE not in metrics:
        return None
    return (
        f"BLEU is cut by 13a here, which does not part words that stand without spaces; for {language} people report "
        f"what --tokenise {usual} gives."
    )
