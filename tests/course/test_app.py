"""The application behind the pages: what it runs and refuses, answers that are not given away, and what it keeps."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from paged_lessons import CODE, make_material
from starlette.testclient import TestClient

from regard.course.app import course_app
from regard.course.progress import ProgressFile
from regard.course.recording import record, write_recording
from regard.course.sources import Language, read_lesson

TOKEN = "a-token-for-tests"
SLOW = """# %% slow
import time

print("begun", flush=True)
time.sleep(600)
"""


def open_course(folder: Path, material: Path, language: Language = "en") -> TestClient:
    app = course_app(folder, language, TOKEN, material)
    return TestClient(app, base_url="http://127.0.0.1:5002")


@pytest.fixture
def material(tmp_path: Path) -> Path:
    return make_material(tmp_path / "material")


@pytest.fixture
def client(tmp_path: Path, material: Path) -> Iterator[TestClient]:
    with open_course(tmp_path / "folder", material) as client:
        yield client


def get(client: TestClient, path: str) -> Any:
    answer = client.get(f"/{TOKEN}/{path}")
    assert answer.status_code == 200, answer.text
    return answer.json()


def post(client: TestClient, path: str, body: object, status: int = 200) -> Any:
    answer = client.post(f"/{TOKEN}/{path}", json=body)
    assert answer.status_code == status, answer.text
    return answer.json()


def refused(client: TestClient, path: str, body: object, status: int = 400) -> str:
    sentence: str = post(client, path, body, status)["error"]
    return sentence


def wait(client: TestClient, number: int = 1, busy: bool = False) -> Any:
    """Wait until steps run, or run no longer, and return the state."""
    end = time.monotonic() + 30
    while ((state := get(client, f"state/{number}"))["busy"] is not None) != busy:
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)
    return state


def run(client: TestClient, number: int = 1, **steps: dict[str, Any]) -> Any:
    post(client, "run", {"lesson": number, "steps": steps})
    return wait(client, number)


def answer(client: TestClient, exercise: str, given: object) -> Any:
    return post(client, "answer", {"lesson": 1, "exercise": exercise, "answer": given})


def part(client: TestClient, name: str, number: int = 1) -> Any:
    (found,) = [part for part in get(client, f"lesson/{number}")["parts"] if part.get("name") == name]
    return found


def texts(nodes: list[Any]) -> str:
    return "".join(node if isinstance(node, str) else texts(node["children"]) for node in nodes)


def test_a_wrong_token_opens_nothing(client: TestClient) -> None:
    for path in ("1", "page/course.js", "lesson/1", "state/1", "picture/1", "recorded/1/drawn/0"):
        refusal = client.get(f"/wrong/{path}")
        assert refusal.status_code == 403
        assert refusal.json()["error"].endswith("use the one that `regard course` printed.")
    for path in ("run", "stop", "answer", "language"):
        assert client.post(f"/wrong/{path}", json={}).status_code == 403
    assert client.get("/").status_code == 404
    assert client.get(f"/{TOKEN}/1").status_code == 200


def test_other_sites_and_other_host_names_are_refused(client: TestClient) -> None:
    body = {"lesson": 1, "steps": {"first": {}}}
    for headers, status in (({"Host": "example.org"}, 421), ({"Origin": "https://example.org"}, 403)):
        assert client.post(f"/{TOKEN}/run", json=body, headers=headers).status_code == status
        assert client.get(f"/{TOKEN}/1", headers=headers).status_code == status
    assert get(client, "state/1")["busy"] is None
    own = {"Origin": "http://127.0.0.1:5002"}
    assert client.post(f"/{TOKEN}/language", json={"language": "pt"}, headers=own).status_code == 200


def test_a_form_of_another_site_cannot_be_a_request(client: TestClient) -> None:
    content = json.dumps({"lesson": 1, "steps": {"first": {}}})
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        refusal = client.post(f"/{TOKEN}/run", content=content, headers={"Content-Type": kind})
        assert refusal.status_code == 415


def test_the_page_and_its_files_are_served_under_the_token(client: TestClient) -> None:
    page = client.get(f"/{TOKEN}/2")
    assert 'src="page/course.js"' in page.text
    assert '<html lang="en" data-language="en">' in page.text
    assert "script-src 'self'" in page.headers["content-security-policy"]
    for name in ("course.js", "course/steps.js", "styles/course.css"):
        assert client.get(f"/{TOKEN}/page/{name}").status_code == 200
    for path in ("page/nothing.js", "page/course.html", "page/../app.py", "3", "lesson/3", "lesson/0"):
        assert client.get(f"/{TOKEN}/{path}").status_code == 404


def test_a_lesson_has_its_parts_in_order(client: TestClient) -> None:
    lesson = get(client, "lesson/1")
    assert (lesson["number"], lesson["title"]) == (1, "Title in en")
    assert [part["kind"] for part in lesson["parts"]] == [
        *("prose", "step", "prose", "step", "step", "step", "step", "prose", "exercise", "exercise", "exercise"),
    ]
    prose, step = lesson["parts"][:2]
    assert texts(prose["nodes"]) == "Words with weight, code and <b>no markup</b>."
    assert [node["tag"] for node in prose["nodes"][0]["children"] if isinstance(node, dict)] == ["em", "code"]
    assert step["code"][0] == {"value": "width"}
    assert [value["label"] for value in step["values"]] == ["Width in en", "Share", "Way"]
    assert texts(lesson["parts"][2]["nodes"]) == "See the page (docs/look.md) and a site."
    assert [row["number"] for row in lesson["contents"]] == [1, 2]


def test_nothing_that_is_sent_tells_an_answer_before_it_was_given(client: TestClient) -> None:
    sent = client.get(f"/{TOKEN}/lesson/1").text + json.dumps(answer(client, "sum", "0.5"))
    for secret in ("0.67", "0.005", "right in", "Right in", "tolerance", '"answer"'):
        assert secret not in sent


def test_a_step_runs_with_the_values_of_the_reader(client: TestClient, tmp_path: Path) -> None:
    state = run(client, first={"width": 7, "share": 1, "way": "greedy"})
    assert state["steps"]["first"]["pieces"] == [{"text": "first: 7 1.0 greedy\n"}]
    assert state["steps"]["first"]["status"] == "done"
    assert run(client, second={})["steps"]["second"]["pieces"] == [{"text": "second: 14\n"}]
    assert [value["value"] for value in part(client, "first")["values"]] == [7, 1.0, "greedy"]
    assert part(client, "first")["ran"]
    assert not part(client, "last")["ran"]
    assert get(client, "lesson/2")["contents"][0]["ran"] == 2
    kept = ProgressFile(tmp_path / "folder").read().lesson(1).steps
    assert kept == {"first": {"width": 7, "share": 1.0, "way": "greedy"}, "second": {}}


@pytest.mark.long
def test_earlier_steps_run_with_the_values_of_the_last_time_even_on_another_day(tmp_path: Path, material: Path) -> None:
    with open_course(tmp_path / "folder", material) as client:
        run(client, first={"width": 4})
    with open_course(tmp_path / "folder", material) as client:
        state = run(client, second={})
        assert state["steps"]["first"]["pieces"] == [{"text": "first: 4 0.5 beam\n"}]
        assert state["steps"]["second"]["pieces"] == [{"text": "second: 8\n"}]


def test_values_that_a_step_no_longer_takes_are_forgotten(tmp_path: Path, material: Path) -> None:
    ProgressFile(tmp_path / "folder").keep_step(1, "first", {"width": 99, "gone": 1})
    with open_course(tmp_path / "folder", material) as client:
        assert [value["value"] for value in part(client, "first")["values"]] == [3, 0.5, "beam"]
        assert run(client, second={})["steps"]["second"]["pieces"] == [{"text": "second: 6\n"}]


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        ({"lesson": 1, "steps": {"first": {"width": 9}}}, 400, "width must be a number from 1 to 8."),
        ({"lesson": 1, "steps": {"first": {"width": 2.5}}}, 400, "width must be a whole number."),
        ({"lesson": 1, "steps": {"first": {"width": "3"}}}, 400, "width must be a number from 1 to 8."),
        ({"lesson": 1, "steps": {"first": {"way": "import os"}}}, 400, "way must be one of beam, greedy."),
        ({"lesson": 1, "steps": {"first": {"depth": 1}}}, 400, "The step first has no value depth to set."),
        ({"lesson": 1, "steps": {"first": {"width": [1]}}}, 400, "width"),
        ({"lesson": 1, "steps": {"first": {"width": True}}}, 400, "width"),
        ({"lesson": 1, "steps": {"strange": {}}}, 404, "Lesson 1 has no step strange."),
        ({"lesson": 1, "steps": {}}, 400, "steps"),
        ({"lesson": 1, "steps": {"first": {}}, "code": "print(1)"}, 400, "code"),
        ({"lesson": 9, "steps": {"first": {}}}, 404, "There is no lesson 9."),
        ({"steps": {"first": {}}}, 400, "lesson"),
        ([], 400, "JSON object"),
    ],
)
def test_what_is_no_step_or_value_is_refused(client: TestClient, body: object, status: int, sentence: str) -> None:
    assert sentence in refused(client, "run", body, status)
    assert get(client, "state/1") == {
        "stamp": 0, "busy": None, "waiting": [], "seconds": 0.0, "steps": {}, "trouble": ""
    }  # fmt: skip


def test_a_step_that_fails_leaves_the_page_usable(client: TestClient, tmp_path: Path) -> None:
    state = run(client, fails={"depth": 0})
    assert state["steps"]["fails"]["fault"] == "ZeroDivisionError: integer division or modulo by zero"
    assert "Traceback" not in json.dumps(state)
    assert "fails" not in ProgressFile(tmp_path / "folder").read().lesson(1).steps
    assert run(client, fails={"depth": 1})["steps"]["fails"]["status"] == "done"


def test_a_step_whose_data_set_is_missing_counts_as_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_DATA", str(tmp_path / "no_data"))
    material = make_material(tmp_path / "material", 1, CODE.replace("# %% second", "# %% second [data mac-morpho]"))
    with open_course(tmp_path / "folder", material) as client:
        steps = run(client, drawn={})["steps"]
        assert {name: step["status"] for name, step in steps.items()} == {
            "first": "done",
            "second": "skipped",
            "drawn": "done",
        }
        assert steps["second"]["pieces"] == [
            {"text": "This step needs the data set mac-morpho: regard data get mac-morpho\n"}
        ]
        row = get(client, "lesson/1")["contents"][0]
        assert (row["ran"], row["skipped"], row["steps"]) == (2, 1, 5)
        second = part(client, "second")
        assert (second["missing"], second["ran"], second["skipped"]) == ("mac-morpho", False, True)
    assert [*ProgressFile(tmp_path / "folder").read().lesson(1).steps] == ["first", "drawn"]


def test_pictures_have_addresses_of_their_own(client: TestClient) -> None:
    pieces = run(client, drawn={})["steps"]["drawn"]["pieces"]
    assert pieces[1] == {"text": "after the picture\n"}
    assert (pieces[0]["width"], pieces[0]["height"]) == (40, 30)
    picture = client.get(f"/{TOKEN}/{pieces[0]['picture']}")
    assert (picture.status_code, picture.headers["content-type"]) == (200, "image/png")
    assert client.get(f"/{TOKEN}/picture/999").status_code == 404


def test_only_what_changed_is_sent_again(client: TestClient) -> None:
    stamp = run(client, first={})["stamp"]
    assert get(client, f"state/1?after={stamp}")["steps"] == {}
    run(client, second={})
    assert [*get(client, f"state/1?after={stamp}")["steps"]] == ["second"]
    for strange in ("x", "-1", "1.5"):
        assert client.get(f"/{TOKEN}/state/1?after={strange}").status_code == 404


def test_a_running_step_is_seen_after_a_reload_and_can_be_stopped(tmp_path: Path) -> None:
    material = make_material(tmp_path / "slow", 2, SLOW)
    text = "\n".join(["# Slow", "", "```step slow", "```", ""])
    for path in material.glob("*/*.md"):
        path.write_text(text, encoding="utf-8")
    with open_course(tmp_path / "folder", material) as client:
        post(client, "run", {"lesson": 1, "steps": {"slow": {}}})
        end = time.monotonic() + 30
        while not (state := get(client, "state/1"))["steps"].get("slow", {}).get("pieces"):
            assert time.monotonic() < end
        assert (state["busy"], state["steps"]["slow"]["status"]) == (1, "running")
        assert get(client, "lesson/1")["title"] == "Slow"
        assert get(client, "state/1")["steps"]["slow"]["pieces"] == [{"text": "begun\n"}]
        for number in (1, 2):
            sentence = refused(client, "run", {"lesson": number, "steps": {"slow": {}}}, 409)
            assert sentence == "A step of lesson 1 is still running; stop it or wait until it is done."
        assert get(client, "state/2")["busy"] == 1
        post(client, "stop", {})
        assert get(client, "state/1")["steps"]["slow"]["status"] == "stopped"
        assert get(client, "state/1")["busy"] is None
        post(client, "run", {"lesson": 2, "steps": {"slow": {}}})
        wait(client, 2, busy=True)


@pytest.mark.parametrize("language", ["en", "pt", "ru"])
def test_answers_are_checked_and_commented_in_the_language(tmp_path: Path, material: Path, language: Language) -> None:
    with open_course(tmp_path / "folder", material, language) as client:
        wrong = answer(client, "sum", "0,5")
        assert (wrong["is_right"], texts(wrong["comment"])) == (False, f"Hint in {language}.")
        assert part(client, "sum")["given"] is None
        for given in ("0,67", "0.67", "67 %", "2/3"):
            right = answer(client, "sum", given)
            assert (right["is_right"], texts(right["comment"])) == (True, f"Right in {language}, 0.67.")
        assert answer(client, "why", "a")["is_right"] is False
        assert answer(client, "why", "b")["is_right"] is True
        assert answer(client, "which", ["a"])["is_right"] is False
        assert answer(client, "which", ["c", "a"])["is_right"] is True
    with open_course(tmp_path / "folder", material, language) as client:
        assert part(client, "sum")["given"] == "2/3"
        assert texts(part(client, "sum")["right"]) == f"Right in {language}, 0.67."
        assert part(client, "which")["given"] == ["c", "a"]
        assert get(client, "lesson/2")["contents"][0]["solved"] == 3
        assert part(client, "sum", 2)["given"] is None


def test_what_is_no_answer_is_said(client: TestClient) -> None:
    def refuse(exercise: str, given: object) -> str:
        return refused(client, "answer", {"lesson": 1, "exercise": exercise, "answer": given})

    assert refuse("sum", "many") == "many is not a number."
    assert refuse("which", []) == "Choose an answer first."
    assert "answer" in refuse("sum", 0.67)
    assert "answer" in refuse("sum", "1" * 201)
    assert refused(client, "answer", {"lesson": 1, "exercise": "x", "answer": "1"}, 404)


def test_the_language_is_kept(tmp_path: Path, material: Path) -> None:
    with open_course(tmp_path / "folder", material, "pt") as client:
        assert get(client, "lesson/1")["title"] == "Title in pt"
        post(client, "language", {"language": "ru"})
        assert get(client, "lesson/1")["title"] == "Title in ru"
        assert 'data-language="ru"' in client.get(f"/{TOKEN}/1").text
        assert "language" in refused(client, "language", {"language": "de"})
    assert ProgressFile(tmp_path / "folder").read().language == "ru"


def test_servers_of_one_folder_have_languages_of_their_own(tmp_path: Path, material: Path) -> None:
    with (
        open_course(tmp_path / "folder", material, "pt") as ours,
        open_course(tmp_path / "folder", material, "en") as theirs,
    ):
        post(ours, "language", {"language": "ru"})
        assert get(ours, "lesson/1")["title"] == "Title in ru"
        assert get(theirs, "lesson/1")["title"] == "Title in en"
        assert 'data-language="en"' in theirs.get(f"/{TOKEN}/1").text
        wrong = post(theirs, "answer", {"lesson": 1, "exercise": "sum", "answer": "1"})
        assert texts(wrong["comment"]) == "Hint in en."


def test_a_damaged_progress_file_is_told_and_stays(client: TestClient, tmp_path: Path) -> None:
    path = tmp_path / "folder" / "progress.json"
    path.parent.mkdir()
    path.write_text("{", encoding="utf-8")
    sentence = f"{path} is damaged, or is no progress of `regard course`; move it away to begin again."
    assert client.get(f"/{TOKEN}/lesson/1").json() == {"error": sentence}
    assert refused(client, "answer", {"lesson": 1, "exercise": "sum", "answer": "0.67"}) == sentence
    assert refused(client, "language", {"language": "pt"}) == sentence
    assert refused(client, "run", {"lesson": 1, "steps": {"first": {}}}) == sentence
    assert path.read_text(encoding="utf-8") == "{"


def test_a_progress_file_that_is_damaged_while_a_step_runs_is_told(tmp_path: Path) -> None:
    code = """# %% first
open("progress.json", "w").write("{")
"""
    with open_course(tmp_path / "folder", make_material(tmp_path / "material", 1, code)) as client:
        state = run(client, first={})
    assert state["steps"]["first"]["status"] == "done"
    assert "progress.json is damaged" in state["trouble"]
    assert (tmp_path / "folder" / "progress.json").read_text(encoding="utf-8") == "{"


def test_our_own_outputs_are_shown_as_long_as_they_belong_to_the_code(
    client: TestClient, material: Path, tmp_path: Path
) -> None:
    assert part(client, "drawn")["recorded"] == []
    lesson = read_lesson(1, material)
    write_recording(lesson, record(lesson, tmp_path / "recorded", lambda name, outputs: None))
    recorded = part(client, "drawn")["recorded"]
    assert recorded == [
        {"picture": "recorded/1/drawn/0", "width": 40, "height": 30},
        {"text": "after the picture\n"},
    ]
    picture = client.get(f"/{TOKEN}/{recorded[0]['picture']}")
    assert picture.content.startswith(b"\x89PNG")
    for path in ("recorded/1/drawn/1", "recorded/1/drawn/9", "recorded/1/none/0", "recorded/3/drawn/0"):
        assert client.get(f"/{TOKEN}/{path}").status_code == 404
    code = lesson.folder / "code.py"
    code.write_text(code.read_text(encoding="utf-8") + "print(1)\n", encoding="utf-8")
    assert part(client, "drawn")["recorded"] == []
