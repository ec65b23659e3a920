"""Generated letters and lines: each output has one unit that decides it, and the generator says which."""

from pathlib import Path

import pytest

from regard.base.faults import Fault
from regard.data.generated.capitals import LONGEST, SHORTEST, capital_lines, capital_of
from regard.data.generated.corpora import generate, generated_lines
from regard.data.generated.letters import OUTPUTS, letter_corpus, sources_of_outputs, spell
from regard.data.texts.options import LanguageData
from regard.data.texts.prepare import prepare_text


def test_letters_are_spelled_in_order() -> None:
    assert spell("щетка") == "sh ch y e t k a"
    assert sources_of_outputs("щетка") == [0, 0, 1, 1, 2, 3, 4]
    assert (spell("съя"), sources_of_outputs("съя")) == ("s y a", [0, 2, 2])


def test_each_output_is_one_of_its_letter() -> None:
    for letters, outputs in letter_corpus("test"):
        sources = sources_of_outputs(letters)
        assert len(sources) == len(outputs.split()) > 0
        assert all(output in OUTPUTS[letters[place]] for place, output in zip(sources, outputs.split(), strict=True))


def test_no_input_of_one_split_is_in_another() -> None:
    inputs = [{letters for letters, _ in generate(f"letters:{split}")} for split in ("train", "valid", "test")]
    assert [len(letters) for letters in inputs] == [10_000, 300, 500]
    assert not inputs[0] & inputs[1] | inputs[0] & inputs[2] | inputs[1] & inputs[2]


def test_a_line_ends_with_its_only_capital() -> None:
    for line in capital_lines("test"):
        *letters, asks, answer = line.split()
        place = capital_of(line.rpartition(" ")[0])
        assert place is not None
        assert (asks, letters[place]) == ("=", answer.upper())
        assert SHORTEST <= len(letters) <= LONGEST
    lines = [set(capital_lines(split)) for split in ("train", "valid", "test")]
    assert [len(split) for split in lines] == [20_000, 300, 500]
    assert not lines[0] & lines[1] | lines[0] & lines[2] | lines[1] & lines[2]


@pytest.mark.parametrize("prompt", ["", "a B c", "a b =", "A b C =", "Ana b = c", "AB c ="])
def test_another_text_has_no_known_capital(prompt: str) -> None:
    assert capital_of(prompt) is None


def test_generated_lines_are_prepared_like_those_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "lines.txt"
    file.write_text("\n".join(capital_lines("valid")) + "\n")
    generated, read = (
        prepare_text(LanguageData(train=[name]), tmp_path / str(number))
        for number, name in enumerate(["capitals:valid", str(file)])
    )
    assert generated.splits["train"].tolist() == read.splits["train"].tolist()
    again = prepare_text(LanguageData(train=["capitals:valid"]), tmp_path / "0")
    assert again.splits["train"].tolist() == read.splits["train"].tolist()


def test_lines_of_an_unknown_split_are_refused() -> None:
    with pytest.raises(Fault, match=r"There is no 'capitals:dev'; the generated lines are capitals:train, .*"):
        generated_lines("capitals:dev")
    assert generated_lines("lines.txt") is None
