"""Shortlists of the one-file page: the candidates that Python finds."""

import base64
import random

from page_modules import run_modules

from regard.engines.shortlist import Shortlist
from regard.onefile.export import shortlist_part

END = 3


def test_a_page_lists_the_candidates_of_python() -> None:
    draw = random.Random(4)
    translations = {token: draw.sample(range(500), draw.randint(0, 9)) for token in range(0, 300, 2)}
    shortlist = Shortlist(draw.sample(range(500), 40), translations)
    sources = [draw.sample(range(320), draw.randint(0, 20)) for _ in range(50)]
    body = """
    const part = Uint8Array.from(atob(given.part), (letter) => letter.charCodeAt(0));
    const shortlist = readShortlist(part);
    return given.sources.map((source) => candidatesOf(shortlist, source, given.end));"""
    given = {"part": base64.b64encode(shortlist_part(shortlist)).decode(), "sources": sources, "end": END}
    found = run_modules(body, given, listing="readShortlist, candidatesOf")
    assert found == [[END, *sorted(shortlist.candidates(source) - {END})] for source in sources]
    assert len({len(candidates) for candidates in found}) > 5


def test_a_shortlist_without_translations_has_the_common_tokens() -> None:
    given = base64.b64encode(shortlist_part(Shortlist([7, 3, 5], {}))).decode()
    body = """
    const part = Uint8Array.from(atob(given), (letter) => letter.charCodeAt(0));
    return candidatesOf(readShortlist(part), [1, 2], 3);"""
    assert run_modules(body, given, listing="readShortlist, candidatesOf") == [3, 5, 7]
