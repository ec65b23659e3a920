"""Roles of heads as a table, as numbers, as a picture and as a page."""

import json
from pathlib import Path

import pytest

from regard.viewing.roles import HeadRole, HeadRoles, RoleHead, draw_roles, roles_page, roles_table, roles_to_json
from regard.viewing.texts import read_texts

FIRST = RoleHead("encoder.0.look", 1, 1, 0.25, 0.2)
SECOND = RoleHead("encoder.0.look", 1, 2, 0.8, 0.6)
ROLES = HeadRoles(
    1200,
    [
        HeadRole("encoder", "previous token", 2000, 1000, -1, None, SECOND, [FIRST, SECOND]),
        HeadRole("encoder", "verb to subject", 40, 20, -1, 0.9, SECOND, [FIRST, SECOND], {"bleu": (97.0, 95.5)}),
        HeadRole("encoder", "long range", 50, 25, None, 2.5, SECOND, [FIRST, SECOND]),
    ],
)


def test_the_table_says_what_position_alone_does_and_what_is_lost_without_the_head() -> None:
    columns, rows = roles_table(ROLES)
    assert columns[3:] == ["position alone", "head", "strongest", "mean weight", "bleu without"]
    assert rows == [
        ["encoder", "previous token", "2,000", "–", "1.2", "80%", "60%", "–"],
        ["encoder", "verb to subject", "40", "90% (-1)", "1.2", "80%", "60%", "95.5 (-1.5)"],
        ["encoder", "long range", "50", "2.5", "1.2", "0.8", "0.6", "–"],
    ]


def test_a_head_has_a_role_if_it_beats_position_alone() -> None:
    assert [role["beats_position"] for role in roles_to_json(ROLES)["roles"]] == [True, False, False]


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_the_picture_has_a_cell_for_each_head_and_role(tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"roles{suffix}"
    assert draw_roles(ROLES, out) == set()
    if suffix == ".svg":
        assert all(f">{text}<" in out.read_text(encoding="utf-8") for text in ("1.1", "1.2", "position", "80", "25"))


def test_the_page_has_its_numbers_and_every_role_has_a_name_in_every_language() -> None:
    from regard.seeing.head_roles import ROLES as NAMES

    page = roles_page(ROLES, "demo")
    assert json.loads(json.dumps(page.data))["roles"][1]["switched_off"]["bleu"] == {"with": 97.0, "without": 95.5}
    assert "verb to subject" in page.html
    for texts in read_texts().values():
        assert all(f"roles.names.{name}" in texts for name in NAMES)
