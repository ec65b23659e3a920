"""BERT: a bidirectional Transformer encoder, and a head that fills masks (Devlin et al. 2019)."""

from regard.models.bert.network import Bert, MaskedBert
from regard.models.bert.options import BertOptions

__all__ = ["Bert", "BertOptions", "MaskedBert"]
