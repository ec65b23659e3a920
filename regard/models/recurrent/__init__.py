"""Recurrent cells, layers and decoders, and the translators made of them."""
