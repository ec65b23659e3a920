"""`regard heads --roles`: a table, numbers, a picture, and what is refused."""

import json
from pathlib import Path

import pytest

import regard
from regard.cli import main
from regard.commands.head_roles import with_effects
from regard.data.demo.corpus import LinkedPair
from regard.data.demo.wording import WordLinks
from regard.seeing.pair_roles import pair_roles


def test_roles_without_links(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["heads", str(trained), "--roles", "--most", "8"]) == 0
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert lines[0].split("  ")[0] == "side"
    assert any(line.startswith("encoder  previous token") for line in lines)
    assert "no true links" in printed.err
    assert main(["heads", str(trained), "--roles", "--most", "8", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["sentences"] == 8
    assert {role["side"] for role in report["roles"]} >= {"encoder", "decoder"}


@pytest.mark.parametrize("name", ["roles.png", "roles.svg", "roles.json", "roles.html"])
def test_roles_as_a_file(trained: Path, tmp_path: Path, name: str) -> None:
    out = tmp_path / name
    assert main(["heads", str(trained), "--roles", "--most", "4", "-o", str(out)]) == 0
    assert out.stat().st_size > 500


def test_switched_off_heads_have_their_scores(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["heads", str(trained), "--roles", "--switch-off", "--most", "4", "--json"]) == 0
    for role in json.loads(capsys.readouterr().out)["roles"]:
        assert set(role["switched_off"]) == {"bleu", "exact"}
        assert all(0 <= score["without"] <= 100 for score in role["switched_off"].values())


@pytest.mark.long
def test_words_of_a_role_are_scored_too(trained: Path) -> None:
    model = regard.load(trained)
    pair = LinkedPair("Ana sleeps.", "Ana dorme.", WordLinks([(0, 0)], []), {}, {"verb-subject": [(1, 0)]})
    roles = with_effects(model, pair_roles(model.task, [pair, pair]), [pair, pair], lambda *progress: None)
    effects = {role.role: role.effects for role in roles.roles if role.side == "decoder"}
    assert set(effects["verb to subject"]) == {"bleu", "exact", "its words"}
    assert set(effects["previous token"]) == {"bleu", "exact"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--switch-off"], "--switch-off needs --roles."),
        (["-o", "roles.png"], "--out needs --roles."),
        (["--roles", "--by", "diagonal"], "--by does not go with --roles."),
        (["--roles", "-o", "roles.gif"], "roles.gif does not end in .png, .svg, .json or .html"),
        (["--roles", "--most", "1"], "Roles need at least two sentences"),
    ],
)
def test_bad_use_has_its_sentence(
    trained: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["heads", str(trained), *arguments]) == 2
    assert words in capsys.readouterr().err
