"""Files of analogies and of judged pairs, in their usual layouts."""

import pytest

from regard.base.faults import Fault
from regard.data.vectors.questions import JudgedPair, Section, read_analogies, read_judged_pairs


def write(tmp_path, content: str):
    path = tmp_path / "questions.txt"
    path.write_text(content, encoding="utf-8")
    return path


def test_analogies_stand_in_sections(tmp_path):
    path = write(tmp_path, ": capitais\nAtenas Grécia Berlim Alemanha\n\n: vazia\n:família\nrei rainha avô avo\u0301\n")
    assert read_analogies(path) == [
        Section("capitais", [("Atenas", "Grécia", "Berlim", "Alemanha")]),
        Section("família", [("rei", "rainha", "avô", "avó")]),
    ]
    assert read_analogies(write(tmp_path, "a b c d\n")) == [Section("questions.txt", [("a", "b", "c", "d")])]


@pytest.mark.parametrize(
    "content",
    [
        "# a comment\n# Word 1\tWord 2\tHuman (mean)\namor\tsexo\t6.77\nsem data\tgato\t0\n",
        "word1\tword2\tPOS\tLX-SimLex-999\namor\tsexo\tN\t6.77\nsem data\tgato\tA\t0\n",
        "S\tamor\tsexo\t6.77\nt\tsem data\tgato\t0",
    ],
    ids=["three columns", "LX-SimLex-999", "LX-WordSim-353"],
)
def test_pairs_are_read_in_each_layout(tmp_path, content):
    assert read_judged_pairs(write(tmp_path, content)) == [
        JudgedPair("amor", "sexo", 6.77),
        JudgedPair("sem data", "gato", 0.0),
    ]


def test_what_is_none_of_them_is_refused(tmp_path):
    with pytest.raises(Fault, match="line 2: an analogy needs four words, but this line has 3"):
        read_analogies(write(tmp_path, ": s\na b c\n"))
    with pytest.raises(Fault, match="holds no analogies"):
        read_analogies(write(tmp_path, ": s\n"))
    with pytest.raises(Fault, match="line 2: a line must hold two words and a number, separated by tabs"):
        read_judged_pairs(write(tmp_path, "a\tb\t1\nc\td\tnan\n"))
    with pytest.raises(Fault, match="holds no word pairs with ratings"):
        read_judged_pairs(write(tmp_path, "# nothing\n"))
