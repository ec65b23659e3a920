"""JSON and TOML from untrusted sources: good input is read; input that would hang or crash is refused at once."""

from pathlib import Path

import pytest

from regard.base.faults import Fault
from regard.base.parsing import MOST_BYTES, parse_json, parse_toml
from regard.base.recipe import apply_settings
from regard.cli import main

DIGITS = "9" * 5000
HOSTILE = {
    "lists in lists": ("a = " + "[" * 100_000, "nested more than 32 deep"),
    "lists that end": ("a = " + "[" * 33 + "]" * 33, "nested more than 32 deep"),
    "tables in tables": ("a = " + "{a=" * 33 + "1" + "}" * 33, "nested more than 32 deep"),
    "a dotted key": (".".join("a" * 100_000) + " = 1", "nested more than 32 deep"),
    "a dotted key of quotes": ("""."a".'a'""" * 50_000 + " = 1", "nested more than 32 deep"),
    "a dotted key in a table": ("a = {" + "b." * 33 + "b = 1}", "nested more than 32 deep"),
    "a dotted table": (f"[{'.'.join('a' * 100_000)}]", "nested more than 32 deep"),
    "dotted tables": (f"[{'.'.join('a' * 34)}]\n" * 10_000, "nested more than 32 deep"),
    "digits": (f"a = {DIGITS}", "a number or a name of more than 128 characters"),
    "digits with underscores": (f"a = {'9_' * 100}9", "a number or a name of more than 128 characters"),
    "hexadecimal digits": (f"a = 0x{DIGITS}", "a number or a name of more than 128 characters"),
    "a fraction": (f"a = 0.{DIGITS}", "a number or a name of more than 128 characters"),
    "a name": ("a" * 10_000 + " = 1", "a number or a name of more than 128 characters"),
    "size": ("# " + "a" * MOST_BYTES, "for such a file"),
    "open texts": ('a = "' + '\\"' * 500_000, "is not valid TOML"),
    "open long texts": ("a = '''" + "'' " * 300_000, "is not valid TOML"),
    "no TOML": ("a = ", "is not valid TOML"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_toml_is_refused(name: str) -> None:
    text, words = HOSTILE[name]
    with pytest.raises(Fault, match=words) as fault:
        parse_toml(text, "recipe.toml")
    assert len(str(fault.value)) < 300
    assert str(fault.value).startswith("recipe.toml ")


def test_texts_and_comments_may_hold_anything() -> None:
    text = f'''
    a = "{"." * 100}{"[" * 100}{DIGITS} \\" # {"." * 100}"  # "{"." * 100}{DIGITS}
    b = """{"[" * 100}"{DIGITS}"" {"." * 100}"""
    c = ['{"{" * 100}{DIGITS}', -{2**63}, {2**63 - 1}, 1979-05-27T07:32:00.999999-07:00]
    'd.{"." * 100}'.e.f = 1e400
    '''
    table = parse_toml(text, "recipe.toml")
    assert table["a"].endswith('" # ' + "." * 100)
    assert table["c"][1:3] == [-(2**63), 2**63 - 1]
    assert table["d." + "." * 100]["e"]["f"] == float("inf")


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[" * 100_000, b"9" * 5000, b"NaN", b'{"a": -Infinity}', b"\xff", b'"' + b"a" * MOST_BYTES]
)
def test_hostile_json_is_refused(content: bytes) -> None:
    with pytest.raises(Fault, match=r"^scores.json (is damaged: it is not JSON|has .* too large)"):
        parse_json(content, "scores.json")
    assert parse_json(b'{"a": [1, 2.5, null]}', "scores.json") == {"a": [1, 2.5, None]}


def test_settings_are_bounded_too() -> None:
    with pytest.raises(Fault, match="must have the form name=value"):
        apply_settings({}, [".".join("a" * 100_000) + "=1"])
    assert apply_settings({}, [f"a.b={DIGITS}", "c=[[1]]"]) == {"a": {"b": DIGITS}, "c": [[1]]}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[model]\nencoder_layers = 10000\n", "model.encoder_layers is 10000, expected 512 or less"),
        ("[model]\nwidth = 1000000000\n", "model.width is 1000000000, expected 65536 or less"),
        (
            "[data.tokeniser]\nvocabulary = 1000000000\n",
            "data.tokeniser.vocabulary is 1000000000, expected 16777216 or",
        ),
        ("family = 'seq2seq'\n[model]\nembedding = 1000000\n", "model.embedding is 1000000, expected 65536 or less"),
        (
            "[model]\nwidth = 65536\nheads = 16\nfeed_forward = 1048576\n[data]\ntrain = ['nowhere', 'nowhere']\n",
            "parameters, which take",
        ),
        (f"[training]\nsteps = {10**100}\n", "training.steps: 1000000000000000000000000"),
        ("".join(f"a{number} = 1\n" for number in range(20_000)), "and 19,981 more"),
        (f"seed = '{'a' * 10_000}'\n", "…, expected a whole number"),
    ],
)
def test_what_cannot_be_is_refused_before_it_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, words: str
) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(text)
    assert main(["train", str(recipe), "--out", str(tmp_path / "run")]) == 2
    message = capsys.readouterr().err
    assert words in message, message
    assert len(message) < 10_000
    assert not (tmp_path / "run").exists()
