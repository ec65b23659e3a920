"""BERT: a Transformer's encoder that reads both ways, and what it makes of masked places (Devlin et al. 2019)."""

from regard.models.bert.network import Bert, MaskedBert
from regard.models.bert.options import BertOptions

__all__ = ["Bert", "BertOptions", "MaskedBert"]
