"""sacreBLEU's BLEU with any of its tokenisers.

What a tokeniser needs must be on this machine already: sacreBLEU would download models for some, but nothing is
downloaded here.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.base.faults import Fault

CHOOSABLE = "bleu"  # metric with a choice of tokeniser
SMOOTHINGS = ("none", "floor", "add-k", "exp")
_WITH_VALUE = ("floor", "add-k")
UNCUT = "none"  # for text that is already tokenised
_DEPRECATED = "spm"  # sacreBLEU's old name for
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
    or half a match at the first such order, a quarter at the next, and so on (`exp`, the default).
    """

    method: str = "exp"
    value: float | None = None

    def __post_init__(self) -> None:
        if self.method not in SMOOTHINGS:
            raise Fault(f"BLEU has no smoothing '{self.method}'; there are {', '.join(SMOOTHINGS)}.")
        if self.value is not None and self.method not in _WITH_VALUE:
            raise Fault(f"The smoothing '{self.method}' takes no value; {' and '.join(_WITH_VALUE)} do.")
        if self.value is not None and not 0 < self.value < math.inf:
            raise Fault(f"The value of a smoothing is {self.value:g}, but it must be more than 0.")


USUAL_SMOOTHING = Smoothing()


def bleu(
    tokenise: str | None = None, orders: int = 4, effective: bool = False, smoothing: Smoothing = USUAL_SMOOTHING
) -> Any:
    """Return BLEU with this tokeniser, or sacreBLEU's default 13a; `effective` uses only the orders a text has."""
    from sacrebleu.metrics.bleu import BLEU

    name = BLEU.TOKENIZER_DEFAULT if tokenise is None else tokenise
    names = [tokeniser_name for tokeniser_name in BLEU.TOKENIZERS if tokeniser_name != _DEPRECATED]
    if name not in names:
        raise Fault(f"sacreBLEU has no tokeniser '{name}'; it has {', '.join(names)}.")
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
                f"The tokeniser {name} does not work here; install it with `pip install '{_PACKAGES[name]}'`."
            ) from None
        raise


def _model(tokenise: str) -> Path | None:
    """Return the model file of a subword tokeniser, refused if it is missing; None for the others."""
    from sacrebleu.tokenizers.tokenizer_spm import SPM_MODELS
    from sacrebleu.utils import SACREBLEU_DIR

    if tokenise not in SPM_MODELS:
        return None
    url = SPM_MODELS[tokenise]["url"]
    path = Path(SACREBLEU_DIR, "models", url.rpartition("/")[2])
    if not path.is_file():
        raise Fault(f"The tokeniser {tokenise} needs a model that is missing; get {url} and put it at {path}.")
    return path


def check_tokeniser(tokenise: str | None, metrics: Sequence[str]) -> None:
    """Refuse a tokeniser that none of the metrics uses, or that is not available."""
    if tokenise is None:
        return
    if CHOOSABLE not in metrics:
        raise Fault(f"A tokeniser can only be chosen for {CHOOSABLE}, not for {', '.join(metrics)}; omit it.")
    bleu(tokenise)


def check_smoothing(smoothing: Smoothing, metrics: Sequence[str]) -> None:
    """Refuse a smoothing that none of the metrics uses."""
    if smoothing != USUAL_SMOOTHING and CHOOSABLE not in metrics:
        raise Fault(f"Smoothing can only be chosen for {CHOOSABLE}, not for {', '.join(metrics)}; omit it.")


def tokeniser_of(metric: str, tokenise: str | None) -> str | None:
    """Return the requested tokeniser if the metric uses it, otherwise None."""
    return tokenise if metric == CHOOSABLE else None


def tokeniser_remark(language: str, metrics: Sequence[str], tokenise: str | None) -> str | None:
    """Return a remark for a language that is not usually tokenised by 13a, unless a tokeniser was chosen."""
    usual = _USUAL.get(re.split("[-_]", language.lower())[0])
    if usual is None or tokenise is not None or CHOOSABLE not in metrics:
        return None
    return (
        "BLEU uses the tokeniser 13a here, which does not separate words written without spaces; for "
        f"{language}, results are usually reported with --tokenise {usual}."
    )
