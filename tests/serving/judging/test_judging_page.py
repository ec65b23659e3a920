"""The application of `regard judge`: blind, shuffled, behind a token, and continued after a reload."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from regard.serving.judging.app import judging_app
from regard.serving.judging.comparison import Comparison, Item, Shown
from regard.serving.judging.votes import VotesFile, read_votes

TOKEN = "a-token-for-tests"
ITEMS = [Item(f"line-{n}", Shown(f"source {n}"), Shown(f"left {n}"), Shown(f"right {n}")) for n in range(20)]
COMPARISON = Comparison(ITEMS, "secret-model", "secret-person", "better", "b")


def open_page(folder: Path, comparison: Comparison = COMPARISON) -> TestClient:
    file = VotesFile(folder / "votes.jsonl", comparison)
    return TestClient(judging_app(comparison, file, TOKEN), base_url="http://127.0.0.1:5001")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with open_page(tmp_path) as client:
        yield client


def item(client: TestClient, judge: str = "Ana", **more: object) -> dict[str, Any]:
    answer: dict[str, Any] = client.get(f"/{TOKEN}/item", params={"judge": judge, **more}).json()
    return answer


def vote(client: TestClient, at: int, choice: str, judge: str = "Ana") -> dict[str, Any]:
    answer = client.post(f"/{TOKEN}/vote", json={"judge": judge, "at": at, "choice": choice})
    assert answer.status_code == 200, answer.text
    report: dict[str, Any] = answer.json()
    return report


def texts(state: dict[str, Any]) -> list[str]:
    return [output["text"] for output in state["outputs"]]


def test_a_wrong_token_opens_nothing(client: TestClient) -> None:
    for path in ("", "item?judge=Ana", "page/judge.js", "shown/0/1?judge=Ana"):
        answer = client.get(f"/wrong/{path}")
        assert answer.status_code == 403
        assert answer.json() == {"error": "This address has the wrong token; use the one that `regard judge` printed."}
    assert client.post("/wrong/vote", json={"judge": "Ana", "at": 0, "choice": "1"}).status_code == 403
    assert client.get("/").status_code == 404
    assert client.get(f"/{TOKEN}/").status_code == 200


def test_other_sites_and_other_host_names_are_refused(client: TestClient) -> None:
    assert client.get(f"/{TOKEN}/item?judge=A", headers={"Host": "example.org"}).status_code == 421
    assert client.get(f"/{TOKEN}/item?judge=A", headers={"Origin": "https://example.org"}).status_code == 403


def test_the_page_and_its_files_are_served_under_the_token(client: TestClient) -> None:
    page = client.get(f"/{TOKEN}/")
    assert 'src="page/judge.js"' in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    for name in ("judge.js", "styles/judge.css", "parts/server.js"):
        assert client.get(f"/{TOKEN}/page/{name}").status_code == 200
    assert client.get(f"/{TOKEN}/page/nothing.js").status_code == 404


def test_nothing_that_is_sent_says_which_side_is_which(client: TestClient) -> None:
    text = json.dumps([item(client, at=at) for at in range(20)])
    for secret in ("secret", "line-", COMPARISON.identity, '"a"', '"b"', "order", "person"):
        assert secret not in text
    page = client.get(f"/{TOKEN}/").text
    assert "secret" not in page
    assert "left" not in re.sub(r'<script type="application/json".*?</script>', "", page)
    assert set(item(client)) == {"question", "total", "voted", "at", "source", "outputs", "choice"}
    assert item(client)["outputs"][0].keys() == {"kind", "text"}


def test_items_and_sides_are_shuffled_for_each_judge(client: TestClient) -> None:
    orders = {judge: [texts(item(client, judge, at=at)) for at in range(20)] for judge in ("Ana", "Rui")}
    assert orders["Ana"] != orders["Rui"]
    for order in orders.values():
        assert Counter(first.split()[0] for first, _ in order) == {"left": 10, "right": 10}
        assert sorted(int(first.split()[1]) for first, _ in order) == list(range(20))
        assert [int(first.split()[1]) for first, _ in order] != list(range(20))
        assert [first.split()[0] for first, _ in order] != ["left", "right"] * 10
    assert [texts(item(client, "Ana", at=at)) for at in range(20)] == orders["Ana"]


def test_each_item_has_its_own_source_and_outputs(client: TestClient) -> None:
    for at in range(20):
        state = item(client, at=at)
        number = state["source"]["text"].split()[1]
        assert sorted(texts(state)) == [f"left {number}", f"right {number}"]


def test_a_vote_is_written_for_the_side_that_was_shown(client: TestClient, tmp_path: Path) -> None:
    expected = {}
    for at, choice in enumerate("12=" * 6):
        state = item(client, at=at)
        side = "tie" if choice == "=" else {"left": "a", "right": "b"}[texts(state)[int(choice) - 1].split()[0]]
        expected[f"line-{texts(state)[0].split()[1]}"] = side
        vote(client, at, choice)
    votes = read_votes(tmp_path / "votes.jsonl")
    assert votes.ballots == {"Ana": expected}
    assert {vote.order for vote in votes.votes} == {("a", "b"), ("b", "a")}


def test_a_page_that_is_reloaded_continues_and_a_second_vote_replaces_the_first(tmp_path: Path) -> None:
    with open_page(tmp_path) as client:
        assert vote(client, 0, "1")["at"] == 1
        assert vote(client, 1, "2")["at"] == 2
        before = item(client)
    with open_page(tmp_path) as client:
        assert item(client) == before
        assert (before["at"], before["voted"], before["total"]) == (2, 2, 20)
        assert item(client, at=0)["choice"] == "1"
        assert vote(client, 0, "=")["voted"] == 2
        assert item(client, at=0)["choice"] == "="
        assert item(client, " Ana  ")["voted"] == 2  # spaces around a name do not make another judge
        assert item(client, "Rui")["voted"] == 0
        for at in range(2, 20):
            state = vote(client, at, "1")
        assert state == {"question": "better", "total": 20, "voted": 20, "at": None}
    assert Counter(read_votes(tmp_path / "votes.jsonl").ballots["Ana"].values()).total() == 20


@pytest.mark.parametrize("judge", ["", "   ", "x" * 61, "a\u0007b", "\u202eanA"])
def test_a_name_that_is_none_is_refused(client: TestClient, judge: str) -> None:
    answer = client.get(f"/{TOKEN}/item", params={"judge": judge})
    assert answer.status_code == 400
    assert answer.json() == {"error": "A judge's name has 1 to 60 letters, digits or signs."}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"judge": "Ana", "at": 20, "choice": "1"}, 404),
        ({"judge": "Ana", "at": -1, "choice": "1"}, 400),
        ({"judge": "Ana", "at": 0, "choice": "a"}, 400),
        ({"judge": "Ana", "at": 0, "choice": "1", "side": "a"}, 400),
        ({"judge": 3, "at": 0, "choice": "1"}, 400),
        ({"at": 0, "choice": "1"}, 400),
        ([], 400),
    ],
)
def test_a_vote_that_is_none_is_refused(client: TestClient, tmp_path: Path, body: object, status: int) -> None:
    answer = client.post(f"/{TOKEN}/vote", json=body)
    assert answer.status_code == status
    assert answer.json()["error"]
    assert read_votes(tmp_path / "votes.jsonl").votes == []


def test_places_that_are_none_are_refused(client: TestClient) -> None:
    for at in ("20", "-1", "x", ""):
        assert client.get(f"/{TOKEN}/item", params={"judge": "Ana", "at": at}).status_code == 404
    assert client.get(f"/{TOKEN}/shown/0/1?judge=Ana").status_code == 404  # a text has no file


def test_files_are_sent_in_the_order_shown_and_under_neutral_addresses(tmp_path: Path) -> None:
    source = Shown(content=b"source", media="image/png")
    sides = [Shown(content=content, media="audio/wav") for content in (b"A", b"B")]
    items = [Item(str(number), source, *sides) for number in range(6)]
    comparison = Comparison(items, "one", "two")
    with open_page(tmp_path, comparison) as client:
        for at, seen in enumerate(comparison.order_for("Ana")):
            parts = [client.get(f"/{TOKEN}/shown/{at}/{part}?judge=Ana") for part in ("source", "1", "2")]
            assert parts[0].headers["content-type"] == "image/png"
            assert [part.content.decode() for part in parts[1:]] == [side.upper() for side in seen.sides]
        assert item(client)["outputs"] == [{"kind": "sound", "text": ""}] * 2
        assert client.get(f"/{TOKEN}/shown/0/3?judge=Ana").status_code == 404
