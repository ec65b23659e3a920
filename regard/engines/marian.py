"""Marian models (Junczys-Dowmunt et al. 2018) as Hugging Face stores them: brought in, and ours written as such."""

from regard.engines.marian_export import export_marian
from regard.engines.marian_import import import_marian

__all__ = ["export_marian", "import_marian"]
