"""Work on texts in the pauses of a search: in order, overlapping, with errors in their places."""

from collections.abc import Iterator
from concurrent.futures import Future

import pytest

from regard.base.pauses import between_steps
from regard.decoding.spare_time import InPieces, overlapped


class Spelling:
    """Worker that reads, searches and writes a word letter by letter, and records each step."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def read(self, word: str) -> InPieces[str]:
        if word == "unreadable":
            raise ValueError(word)
        for letter in word:
            self.notes.append(f"read {letter}")
            yield None
        return word

    def search(self, word: str) -> str:
        if word == "unfindable":
            raise ValueError(word)
        for _ in word:
            between_steps()
            self.notes.append(f"step of {word}")
        return word.upper()

    def write(self, word: str, found: str) -> InPieces[str]:
        for letter in found:
            self.notes.append(f"write {letter}")
            yield None
        return found


def test_results_come_in_the_order_of_the_items() -> None:
    assert list(overlapped(Spelling(), ["ab", "c", "", "def"])) == ["AB", "C", "", "DEF"]
    assert list(overlapped(Spelling(), [])) == []


def test_during_a_search_the_last_is_written_and_the_next_is_read() -> None:
    stages = Spelling()
    assert list(overlapped(stages, ["ab", "cd", "ef"])) == ["AB", "CD", "EF"]
    begins, ends = (stages.notes.index("step of cd") - 4, len(stages.notes) - stages.notes[::-1].index("step of cd"))
    assert stages.notes[begins:ends] == ["read e", "read f", "write A", "write B", "step of cd", "step of cd"]


def test_a_long_pause_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.decoding.spare_time.PAUSE", 0.0)  # one piece of work in each
    stages = Spelling()
    assert list(overlapped(stages, ["ab", "cdef"])) == ["AB", "CDEF"]
    assert stages.notes[2:6] == ["read c", "step of ab", "read d", "step of ab"]


def test_what_waits_for_a_thread_is_passed_over() -> None:
    class Calling(Spelling):
        """Worker whose second word is read by another, which is ready when the first search ends."""

        def __init__(self) -> None:
            super().__init__()
            self.called: Future[str] = Future()

        def read(self, word: str) -> InPieces[str]:
            if word == "cd":
                yield self.called
                self.notes.append("called back")
            return word

        def search(self, word: str) -> str:
            result = super().search(word)
            if word == "ab":
                self.called.set_result(word)
            return result

    stages = Calling()
    assert list(overlapped(stages, ["ab", "cd"])) == ["AB", "CD"]
    assert stages.notes[:4] == ["step of ab", "step of ab", "called back", "write A"]


@pytest.mark.parametrize("wrong", ["unreadable", "unfindable"])
def test_an_error_comes_where_its_result_would_have_come(wrong: str) -> None:
    results = overlapped(Spelling(), ["ab", "cd", wrong, "ef"])
    assert [next(results), next(results)] == ["AB", "CD"]
    with pytest.raises(ValueError, match=wrong):
        next(results)


def test_no_more_is_read_than_one_ahead() -> None:
    taken: list[str] = []

    def words() -> Iterator[str]:
        for word in "abcdefgh":
            taken.append(word)
            yield word

    results = overlapped(Spelling(), words())
    assert next(results) == "A"
    assert taken == ["a", "b", "c"]
