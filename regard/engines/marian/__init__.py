"""Marian models (Junczys-Dowmunt et al. 2018) as Hugging Face stores them: import and export."""
