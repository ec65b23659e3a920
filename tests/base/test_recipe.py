"""Recipes are read strictly and refused with helpful messages."""

from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, model_validator

from regard.base.faults import Fault
from regard.base.recipe import Options, apply_settings, check, check_alone, differences, parse, read_table, write


class Inner(Options):
    norm: Literal["before", "after"] = Field(default="after", description="Where the norm stands.")
    width: int = Field(default=8, ge=2, le=64)
    rate: float = 0.1


class Item(Options):
    name: str
    weight: float = 1.0
    note: str | None = None


class Whole(Options):
    seed: int = 1
    fast: bool = False
    model: Inner = Field(default_factory=Inner)
    items: list[Item] = Field(default_factory=list)
    needed: str

    @model_validator(mode="after")
    def _check(self) -> "Whole":
        if self.fast and self.model.width > 32:
            raise ValueError("a fast model is at most 32 wide")
        return self


class File(Options):
    file: str
    lines: list[int] = Field(default_factory=list)

    @model_validator(mode="after")
    def _check(self) -> "File":
        if not self.file:
            raise ValueError("file is empty")
        return self


class Sources(Options):
    """Fields that take values of several kinds."""

    train: list[str | File] = Field(default_factory=list)
    features: File | Literal["own"] = "own"
    named: dict[str, int | File] = Field(default_factory=dict)
    count: Annotated[int | str | None, Field(description="How many.")] = None


@pytest.mark.parametrize(
    ("table", "sentences"),
    [
        ({"train": ["a", {"fil": "b"}]}, ["train[1] needs 'file'", "train[1] has no 'fil'; did you mean 'file'?"]),
        ({"train": [{"file": "b", "lines": 3}]}, ["train[0].lines is 3, expected a list"]),
        ({"train": [{"file": ""}]}, ["train[0]: file is empty"]),
        ({"train": [3]}, ["train[0] is 3, expected a text in quotes or a table"]),
        ({"train": 3}, ["train is 3, expected a list"]),
        ({"features": "mine"}, ["features is 'mine', expected a table or 'own'"]),
        ({"features": {"file": 3}}, ["features.file is 3, expected a text in quotes"]),
        ({"named": {"x": {}}}, ["named.x needs 'file'"]),
        ({"count": 1.5}, ["count is 1.5, expected a whole number or a text in quotes"]),
    ],
)
def test_a_value_of_several_kinds_is_refused_as_the_one_that_it_is(table: dict[str, Any], sentences: list[str]) -> None:
    with pytest.raises(Fault) as caught:
        check(Sources, table)
    assert list(caught.value.sentences) == sentences


def faults(table: dict[str, Any]) -> list[str]:
    with pytest.raises(Fault) as caught:
        check(Whole, table)
    return list(caught.value.sentences)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"model": {"widht": 3}}, "model has no 'widht'; did you mean 'width'?"),
        ({"zzz": 1}, "the recipe has no 'zzz'; it has seed, fast, model, items, needed"),
        ({"model": {"norm": "sandwich"}}, "model.norm is 'sandwich', expected one of 'before', 'after'"),
        ({"model": {"width": "wide"}}, "model.width is 'wide', expected a whole number"),
        ({"model": {"width": 8.5}}, "model.width is 8.5, expected a whole number"),
        ({"model": {"width": True}}, "model.width is true, expected a whole number"),
        ({"model": {"width": 1}}, "model.width is 1, expected 2 or more"),
        ({"model": {"width": 65}}, "model.width is 65, expected 64 or less"),
        ({"model": {"rate": "x"}}, "model.rate is 'x', expected a number"),
        ({"fast": 1}, "fast is 1, expected true or false"),
        ({"model": 3}, "model is 3, expected a table"),
        ({"items": [{"name": "a"}, {"name": "b", "weigth": 1.0}]}, "items[1] has no 'weigth'; did you mean 'weight'?"),
        ({"items": [{}]}, "items[0] needs 'name'"),
        ({"items": {"name": "a"}}, "items is {'name': 'a'}, expected a list"),
        ({"fast": True, "model": {"width": 64}}, "the recipe: a fast model is at most 32 wide"),
    ],
)
def test_each_fault_has_its_sentence(table: dict[str, Any], sentence: str) -> None:
    assert faults({"needed": "x"} | table) == [sentence]


def test_all_faults_come_at_once() -> None:
    assert len(faults({"sed": 1, "model": {"norm": "x", "width": 0}, "fast": "no"})) == 5  # and 'needed' is missing


def test_a_whole_number_is_a_number() -> None:
    assert check(Inner, {"rate": 1}).rate == 1.0


def test_settings() -> None:
    table = {"model": {"width": 8}, "seed": 1}
    changed = apply_settings(table, ["model.width=16", "needed=plain words", "fast=true", 'items=[{name="a"}]'])
    assert check(Whole, changed) == Whole(
        seed=1, fast=True, model=Inner(width=16), items=[Item(name="a")], needed="plain words"
    )
    assert table == {"model": {"width": 8}, "seed": 1}


@pytest.mark.parametrize("setting", ["seed", "=3", "a..b=1", ".a=1"])
def test_settings_of_another_form_are_refused(setting: str) -> None:
    with pytest.raises(Fault, match="must have the form name=value"):
        apply_settings({}, [setting])


def test_a_setting_inside_a_value_is_refused() -> None:
    with pytest.raises(Fault, match="seed is a single value and has nothing inside it"):
        apply_settings({"seed": 1}, ["seed.more=1"])


def test_what_is_written_reads_the_same() -> None:
    whole = Whole(needed='quotes " and ünïcode\n', items=[Item(name="a", weight=2.5), Item(name="b", note="n")])
    text = write(whole, "a header\nof two lines")
    assert text.startswith("# a header\n# of two lines\n")
    assert "# Where the norm stands.\nnorm = " in text
    assert check(Whole, parse(text, "it")) == whole


def test_differences_name_their_place() -> None:
    old, new = Whole(needed="x"), Whole(needed="x", seed=2, model=Inner(width=9))
    assert differences(old, new) == ["seed was 1 and is now 2", "model.width was 8 and is now 9"]
    assert differences(old, old) == []


def test_differences_are_written_as_in_a_recipe() -> None:
    old, new = Whole(needed="x", items=[Item(name="a"), Item(name="b", weight=2)]), Whole(needed="x", fast=True)
    assert differences(old, new) == [
        "fast was false and is now true",
        'items was [{ name = "a" }, { name = "b", weight = 2.0 }] and is now empty',
    ]
    assert differences(Item(name="a", note="n"), Item(name="a")) == ['note was "n" and is now not given']


def test_what_is_wrong_alone_is_found_before_the_rest_is_known() -> None:
    check_alone(Whole, {"fast": True, "model": {"width": 64}})  # needs 'needed', and fast does not go with the width
    with pytest.raises(Fault, match=r"model has no 'widht'; did you mean 'width'\?"):
        check_alone(Whole, {"model": {"widht": 64}})


def test_unreadable_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="There is no recipe at"):
        read_table(tmp_path / "none.toml")
    for content, words in ((b"a = ", "is not valid TOML"), (b"\xff", "is not UTF-8 text")):
        (tmp_path / "bad.toml").write_bytes(content)
        with pytest.raises(Fault, match=words):
            read_table(tmp_path / "bad.toml")
    with pytest.raises(Fault, match="cannot be read"):
        read_table(tmp_path)
