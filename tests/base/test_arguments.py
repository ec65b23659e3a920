"""A fault names arguments to Python callers and options to command-line users; lists of items are lists."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regard
from regard.base.arguments import held_items, listed_texts, naming_arguments
from regard.base.faults import Fault, TextFault


@naming_arguments
def work(sentence: str, *, valid_source: str = "", from_: str = "", resume: bool = False, settings: str = "") -> None:
    raise Fault(sentence, "A second sentence.")


@pytest.mark.parametrize(
    ("option", "argument"),
    [
        ("--valid-source is missing.", "valid_source is missing."),
        ("Give --resume, or another --from.", "Give resume=True, or another from_."),
        ("--set a is not of the form name=value.", "settings a is not of the form name=value."),
        ("--beam is no argument of this one.", "--beam is no argument of this one."),
        ("`regard data get x --from DIR` gets it.", "`regard data get x --from DIR` gets it."),
        ("Go on by regard train … --from a --resume", "Go on by regard train … --from a --resume"),
    ],
)
def test_options_become_the_arguments_of_the_function(option: str, argument: str) -> None:
    with pytest.raises(Fault) as caught:
        work(option)
    assert caught.value.sentences == (argument, "A second sentence.")
    assert str(caught.value) == f"{argument}\nA second sentence."


def test_a_fault_keeps_its_kind() -> None:
    @naming_arguments
    def read(text: str) -> None:
        raise TextFault(2, "--text is empty")

    with pytest.raises(TextFault, match=r"^Text 3: text is empty$") as caught:
        read("")
    assert caught.value.number == 2


def test_who_trains_in_python_is_told_of_arguments(tmp_path: Path) -> None:
    with pytest.raises(Fault, match=r"^resume=True continues a run and overwrite=True replaces it"):
        regard.train("ngram-ptb", resume=True, overwrite=True)
    with pytest.raises(Fault, match=r"^valid_source and valid_target belong together; give both\.$"):
        regard.train(source="a.en", target="a.pt", valid_source=tmp_path)


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        ("one", r"speak takes a list of texts; write speak\(\[text\]\)"),
        (None, "speak takes a list of texts"),
        (["one", 2], r"texts\[1\] of speak is 2, expected a text"),
    ],
)
def test_what_is_no_list_of_texts_is_refused(texts: Any, sentence: str) -> None:
    with pytest.raises(TypeError, match=sentence):
        listed_texts("speak", texts)


@pytest.mark.parametrize(
    ("items", "sentence"),
    [
        (5, r"caption takes a list of pictures; write caption\(\[picture\]\)"),
        (Path("a.png"), "caption takes a list of pictures"),
        ([np.zeros(2), None], r"pictures\[1\] of caption is None"),
    ],
)
def test_what_is_no_list_of_items_is_refused(items: Any, sentence: str) -> None:
    with pytest.raises(TypeError, match=sentence):
        held_items("caption", "picture", items)
