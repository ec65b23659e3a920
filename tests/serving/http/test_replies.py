"""Answers as JSON: a list that is written item by item is the same as one that is written at once."""

import pytest

from regard.serving.doors.records import NeighboursAnswer, WordNeighbours
from regard.serving.http.replies import json_bytes, json_response, listed_response

WORDS = [
    WordNeighbours(query='"words":[]', word="a", neighbours=[("b\\", 0.5), ("ç", -1.0)]),
    WordNeighbours(query="", word="b", neighbours=[]),
]


@pytest.mark.parametrize("count", range(3))
def test_a_list_written_item_by_item_is_the_same_as_at_once(count: int) -> None:
    name = 'a model called "words":[]'
    whole = json_response(NeighboursAnswer(model=name, seconds=0.5, words=WORDS[:count]))
    empty = NeighboursAnswer(model=name, seconds=0.5, words=[])
    listed = listed_response(empty, "words", [json_bytes(word) for word in WORDS[:count]])
    assert listed.body == whole.body
    assert listed.headers == whole.headers
