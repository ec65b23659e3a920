"""The page of a lesson in a real browser: steps with other values, exercises in each language, reloading, 390 px."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Browser

from regard.course.app import course_app
from regard.course.progress import ProgressFile
from regard.course.recording import record, write_recording
from regard.course.sources import Language, read_lesson

sys.path.insert(0, str(Path(__file__).parents[1] / "course"))
sys.path.insert(0, str(Path(__file__).parents[1] / "serving"))
from loopback import on_loopback
from paged_lessons import CODE, make_material

pytestmark = pytest.mark.browser

SLOW = """
# %% slow
import os, time

print("begun", flush=True)
while not os.path.exists("go on"):
    time.sleep(0.01)
print("ended")
"""
OUTPUT = "return document.querySelector(`#step-${arguments[0]} .pieces`).textContent"
STATUS = "return document.querySelector(`#step-${arguments[0]}`).dataset.status ?? ''"
COUNTS = "return document.getElementById('counts').textContent"


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("course")
    material = make_material(folder / "material", 2, CODE + SLOW)
    for path in material.glob("*/*.md"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("## Exercises", "```step slow\n```\n\n## Exercises"), encoding="utf-8")
    lesson = read_lesson(1, material)
    (folder / "recorded").mkdir()
    (folder / "recorded" / "go on").touch()
    write_recording(lesson, record(lesson, folder / "recorded", lambda name, outputs: None))
    return material


@pytest.fixture
def course(browser: Browser, left_behind: None, tmp_path: Path, material: Path) -> Iterator[Browser]:
    """Show lesson 1 in English; `tmp_path` is the folder of the course."""
    with on_loopback(course_app(tmp_path, "en", "token", material)) as address:
        browser.open(f"{address}/token/1")
        wait_for_lesson(browser, "Title in en")
        yield browser
        browser.run("sessionStorage.clear()")
        browser.driver.get("about:blank")


def wait_for_lesson(page: Browser, title: str) -> None:
    page.wait("return document.getElementById('title').textContent", wanted=title)
    page.wait("return document.querySelectorAll('.exercise').length", wanted=3)


def write(page: Browser, selector: str, text: str) -> None:
    field = page.find(selector)
    field.clear()
    field.send_keys(text)


def choose(page: Browser, selector: str, value: str) -> None:
    change = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('change'))"
    page.run(change, page.find(selector), value)


def run(page: Browser, name: str) -> None:
    page.find(f"#step-{name} .run").click()


def test_a_step_runs_with_another_value_after_those_before_it(course: Browser, tmp_path: Path) -> None:
    assert course.run(OUTPUT, "first") == "first: 3 0.5 beam\n"  # of our own run
    assert "Output of our run" in course.text("#step-first .output")
    write(course, "#step-first-0", "7")
    choose(course, "#step-first-2", "greedy")
    write(course, "#step-first-1", "0,25")
    assert course.text("#step-first .code").splitlines()[:3] == ["width = 7", "share = 0.25", 'way = "greedy"']
    run(course, "first")
    course.wait(OUTPUT, "first", wanted="first: 7 0.25 greedy\n")
    course.wait(STATUS, "first", wanted="done")
    course.wait("return document.querySelector('#step-first .whose').hidden")
    run(course, "drawn")
    course.wait("return document.querySelector('#step-drawn .pieces img').naturalWidth", wanted=40)
    course.wait(OUTPUT, "second", wanted="second: 14\n")
    course.wait(COUNTS, wanted="Steps: 3 of 6 · exercises: 0 of 3")
    course.driver.refresh()
    wait_for_lesson(course, "Title in en")
    course.wait(OUTPUT, "second", wanted="second: 14\n")
    assert course.find("#step-first-0").get_attribute("value") == "7"
    assert ProgressFile(tmp_path).read().lesson(1).steps["first"] == {"width": 7, "share": 0.25, "way": "greedy"}
    assert course.said() == []


def test_a_wrong_value_is_told_and_not_sent(course: Browser) -> None:
    write(course, "#step-first-0", "2,5")
    assert course.text("#step-first-0-hint") == "Enter a whole number from 1 to 8."
    course.requests()
    course.press("ENTER")
    course.wait("return document.activeElement.id", wanted="step-first-0")
    assert [address for address in course.requests() if address.endswith("/run")] == []
    write(course, "#step-first-0", "2")
    course.press("ENTER")  # in a field, the key runs the step
    course.wait(OUTPUT, "first", wanted="first: 2 0.5 beam\n")


def test_a_step_that_fails_shows_one_line_and_the_page_stays_usable(course: Browser) -> None:
    write(course, "#step-fails-0", "0")
    run(course, "fails")
    course.wait(STATUS, "fails", wanted="failed")
    fault = "ZeroDivisionError: integer division or modulo by zero"
    course.wait("return document.querySelector('#step-fails .fault').textContent", wanted=fault)
    write(course, "#step-fails-0", "1")
    run(course, "fails")
    course.wait(STATUS, "fails", wanted="done")
    course.wait(OUTPUT, "fails", wanted="before 1\n")
    assert course.all("#step-fails .fault") == []


def test_all_steps_run_one_is_reloaded_and_stopped(course: Browser, tmp_path: Path) -> None:
    course.find("#run-all").click()
    course.wait(OUTPUT, "slow", wanted="begun\n")
    assert course.run(STATUS, "slow") == "running"
    assert course.find("#step-first .run").get_attribute("disabled")
    assert not course.find("#step-first .stop").is_displayed()
    course.driver.refresh()
    wait_for_lesson(course, "Title in en")
    course.wait(OUTPUT, "slow", wanted="begun\n")
    course.wait("return document.querySelector('#step-slow .stop').hidden", wanted=False)
    course.find("#step-slow .stop").click()
    course.wait(STATUS, "slow", wanted="stopped")
    course.wait("return document.getElementById('run-all').hidden", wanted=False)
    course.wait(COUNTS, wanted="Steps: 5 of 6 · exercises: 0 of 3")
    (tmp_path / "go on").touch()
    run(course, "slow")
    course.wait(OUTPUT, "slow", wanted="begun\nended\n")
    course.wait(COUNTS, wanted="Steps: 6 of 6 · exercises: 0 of 3")
    assert course.said() == []


VERDICT = "return document.querySelector(`#exercise-${arguments[0]} .verdict`).textContent"
WORDS = {
    "en": ("Right.", "Not yet.", "Give an answer first.", "Steps: 0 of 6 · exercises: 3 of 3"),
    "pt": ("Certo.", "Ainda não.", "Responda primeiro.", "Passos: 0 de 6 · exercícios: 3 de 3"),
    "ru": ("Верно.", "Пока нет.", "Сначала дайте ответ.", "Шаги: 0 из 6 · упражнения: 3 из 3"),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("language", WORDS)
def test_answers_are_right_or_wrong_in_each_language(course: Browser, language: Language) -> None:
    right, wrong, none, counts = WORDS[language]
    if language != "en":
        choice = course.find("#language select")
        course.run(
            "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('change'))", choice, language
        )
        wait_for_lesson(course, f"Title in {language}")
        assert course.run("return document.documentElement.lang") == language
    check = "document.querySelector(`#exercise-${arguments[0]} button`).click()"
    course.run(check, "sum")
    course.wait(VERDICT, "sum", wanted=none)
    for given, verdict in (("0,5", f"{wrong}Hint in {language}."), ("0,67", f"{right}Right in {language}, 0.67.")):
        write(course, "#exercise-sum input", given)
        course.run(check, "sum")
        course.wait(VERDICT, "sum", wanted=verdict)
    for letter, verdict in (("a", f"{wrong}Why hint in {language}."), ("b", f"{right}Why right in {language}.")):
        course.find(f"#exercise-why [value={letter}]").click()
        course.run(check, "why")
        course.wait(VERDICT, "why", wanted=verdict)
    for letter, verdict in (("a", f"{wrong}Which hint in {language}."), ("c", f"{right}Which right in {language}.")):
        course.find(f"#exercise-which [value={letter}]").click()
        course.run(check, "which")
        course.wait(VERDICT, "which", wanted=verdict)
    course.wait(COUNTS, wanted=counts)
    course.driver.refresh()
    wait_for_lesson(course, f"Title in {language}")
    course.wait(VERDICT, "which", wanted=f"{right}Which right in {language}.")
    assert course.find("#exercise-sum input").get_attribute("value") == "0,67"
    assert course.find("#exercise-which [value=c]").is_selected()
    assert course.said() == []


@pytest.mark.long
def test_a_language_is_changed_at_the_same_place_and_lessons_are_a_link_away(course: Browser) -> None:
    course.run("document.getElementById('exercise-why').scrollIntoView({ block: 'start' })")
    top = "return Math.round(document.getElementById('exercise-why').getBoundingClientRect().top)"
    before = course.run(top)
    choose(course, "#language select", "ru")
    wait_for_lesson(course, "Title in ru")
    course.wait(top, wanted=before)
    assert course.text("#turning") == "Следующий урок2. Title in ru"
    course.run("document.querySelector('#turning a').click()")
    course.wait("return document.getElementById('number').textContent", wanted="Урок 2")
    wait_for_lesson(course, "Title in ru")
    assert course.text("#turning") == "Предыдущий урок1. Title in ru"
    links = "return [...document.querySelectorAll('#contents a')].map((each) => each.getAttribute('aria-current'))"
    assert course.run(links) == [None, "page"]
    run(course, "second")
    course.wait(OUTPUT, "second", wanted="second: 6\n")
    course.run("document.querySelector('#turning a').click()")
    course.wait("return document.getElementById('number').textContent", wanted="Урок 1")
    wait_for_lesson(course, "Title in ru")
    course.wait("return document.querySelector('#contents li:nth-child(2) small').textContent.length > 0")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_window(course: Browser, width: int) -> None:
    course.appear(width)
    run(course, "drawn")
    course.wait(STATUS, "drawn", wanted="done")
    course.find("#lessons summary").click()
    course.settle()
    assert course.run("return document.documentElement.scrollWidth <= innerWidth")
    wide = "return [...document.querySelectorAll('#course > *')].filter((each) => each.offsetWidth > innerWidth).length"
    assert course.run(wide) == 0
    course.press("ESCAPE")
    course.wait("return document.getElementById('lessons').open", wanted=False)


def test_everything_has_a_name_for_screen_readers(course: Browser) -> None:
    fields = course.names("textbox", "combobox", "radio", "checkbox", "button", more_than=10)
    assert all(fields), fields
    assert "Width in en" in fields
    assert "Output of step 1" in course.names("log", more_than=3)
    assert {"Step 1 first", "Exercise 1"} <= {*course.names("region", more_than=5)}


@pytest.mark.long
def test_a_step_without_its_data_set_is_shown_as_skipped(
    browser: Browser, left_behind: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGARD_DATA", str(tmp_path / "no_data"))
    material = make_material(tmp_path / "material", 1, CODE.replace("# %% second", "# %% second [data mac-morpho]"))
    words = "return document.querySelector('#step-second [role=status]').textContent"
    counts = "Steps: 1 of 5, 1 skipped · exercises: 0 of 3"
    for is_first_day in (True, False):
        with on_loopback(course_app(tmp_path / "folder", "en", "token", material)) as address:
            browser.open(f"{address}/token/1")
            wait_for_lesson(browser, "Title in en")
            if is_first_day:
                browser.find("#step-second .run").click()
                browser.wait(STATUS, "second", wanted="skipped")
            browser.wait(COUNTS, wanted=counts)
            assert browser.run(words) == "Skipped: its data set is missing"
            assert counts in str(browser.run("return document.getElementById('contents').textContent"))
            browser.run("sessionStorage.clear()")
            browser.driver.get("about:blank")
