"""JSON answers: a list written item by item equals one written at once."""

import json

import pytest

from regard.serving.http.replies import json_bytes, listed_json
from regard.verbs.words.door import NeighboursAnswer, WordNeighbours

WORDS = [
    WordNeighbours(query='"words":[]', word="a", neighbours=[("b\\", 0.5), ("ç", -1.0)]),
    WordNeighbours(query="", word="b", neighbours=[]),
]


@pytest.mark.parametrize("count", range(3))
def test_a_list_written_item_by_item_is_the_same_as_at_once(count: int) -> None:
    name = 'a model called "words":[]'
    whole = json_bytes(NeighboursAnswer(model=name, seconds=0.5, words=WORDS[:count]))
    empty = NeighboursAnswer(model=name, seconds=0.5, words=[])
    assert listed_json(empty, "words", [json_bytes(word) for word in WORDS[:count]]) == whole


def test_a_list_of_records_is_their_json_in_brackets() -> None:
    words = [word.model_dump(mode="json") for word in WORDS]
    assert json.loads(json_bytes(WORDS)) == words
    assert json_bytes(WORDS) == json_bytes(words)
    assert json_bytes([]) == b"[]"
