"""The scripts of the pages: imports exist and are used, and bundled they form one script."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from regard.onefile import page as onefile_page
from regard.serving.static import CARD, COURSE, page_files
from regard.viewing import (
    choices,
    contexts,
    facts,
    forward,
    frames,
    gallery,
    graph,
    head_steps,
    lesson_page,
    modules,
    overlay,
    page,
    reasons,
    roles,
    sealed,
    slots,
    strip,
    strokes,
    tables,
    tags,
    tree,
    windows,
    word_map,
)
from regard.viewing.modules import join_modules, module_order
from regard.viewing.texts import LANGUAGES

PAGES = (
    page,
    choices,
    contexts,
    facts,
    forward,
    frames,
    gallery,
    graph,
    head_steps,
    lesson_page,
    overlay,
    reasons,
    roles,
    slots,
    strip,
    strokes,
    tables,
    tags,
    tree,
    windows,
    word_map,
)
ENTRIES = [*(f"views/{page.SCRIPT}" for page in PAGES), *(desk.script for desk in onefile_page.DESKS.values())]
# The pages that a server delivers, and their scripts.
SERVED = {
    "index.html": "main.js",
    "docs.html": "docs.js",
    "judge.html": "judge.js",
    "card.html": "card.js",
    "course.html": "course.js",
}
PAGE = Path(str(modules.PAGE))
SCRIPTS = sorted(PAGE.rglob("*.js"))
NAMES = re.compile(r"^(?:export )?(?:async )?(?:function|const|let|class) (\w+|\[[^\]]+\])", re.MULTILINE)


def top_names(text: str) -> list[str]:
    """Return the top-level names of a script."""
    return [name for names in NAMES.findall(text) for name in re.findall(r"\w+", names)]


def name_of(path: Path) -> str:
    return path.relative_to(PAGE).as_posix()


def imports(script: Path) -> Iterator[tuple[Path, list[str]]]:
    """Return each imported file, where an editor would look for it, and the imported names."""
    text = script.read_text(encoding="utf-8")
    for names, address in re.findall(r'^import \{([^}]*)\} from "(\.[^"]+)";', text, re.MULTILINE):
        yield (script.parent / address).resolve(), re.findall(r"\w+", names)


def exported(text: str) -> set[str]:
    return set(re.findall(r"^export (?:async )?(?:function|const|let|class) (\w+)", text, re.MULTILINE))


@pytest.mark.parametrize("script", SCRIPTS, ids=name_of)
def test_what_is_imported_is_there_and_is_used(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    body = re.sub(r"^import .*?;$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert len(re.findall(r"^import ", text, re.MULTILINE)) == len(list(imports(script)))  # none in another form
    for module, names in imports(script):
        assert set(names) <= exported(module.read_text(encoding="utf-8"))
        assert [name for name in names if not re.search(rf"\b{name}\b", body)] == []


@pytest.mark.parametrize("script", SCRIPTS, ids=name_of)
def test_what_is_named_is_used(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    others = "".join(path.read_text(encoding="utf-8") for path in SCRIPTS if path != script)
    for name in top_names(text):
        inside = len(re.findall(rf"\b{name}\b", text))
        assert inside > 1 or (name in exported(text) and re.search(rf"\b{name}\b", others)), name


@pytest.mark.parametrize("entry", ENTRIES)
def test_joined_scripts_have_no_imports_and_every_name_once(entry: str) -> None:
    text = join_modules(entry)
    assert not re.search(r"^(import|export)\b", text, re.MULTILINE)
    names = top_names(text)
    assert sorted(set(names)) == sorted(names)
    assert len(names) > 20


def test_a_script_stands_behind_what_it_imports() -> None:
    order = module_order(ENTRIES[0])
    assert order[-1] == ENTRIES[0]
    assert len(set(order)) == len(order)
    for place, name in enumerate(order):
        assert {name_of(module) for module, _ in imports(PAGE / name)} <= set(order[:place])


def test_scripts_that_import_each_other_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"a.js": 'import { b } from "./b/c.js";\n', "b/c.js": 'import { a } from "../a.js";\n'}
    monkeypatch.setattr(modules, "read_part", texts.__getitem__)
    with pytest.raises(ValueError, match=r"a\.js → b/c\.js → a\.js"):
        module_order("a.js")


def test_imports_of_several_lines_and_exports_are_taken_out(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {
        "a.js": 'import {\n  one,\n} from "./b.js";\n\n/** @import { One } from "./b.js" */\n\n'
        "export function two() {\n  return one;\n}\n",
        "b.js": "export let one = 1;\n",
    }
    monkeypatch.setattr(modules, "read_part", texts.__getitem__)
    assert join_modules("a.js") == "let one = 1;\n\nfunction two() {\n  return one;\n}\n"


def reached(entry: str) -> set[str]:
    """Return a script and everything it imports."""
    scripts: set[str] = set()
    waiting = [entry]
    while waiting:
        name = waiting.pop()
        scripts.add(name)
        waiting += {name_of(module) for module, _ in imports(PAGE / name)} - scripts
    return scripts


def test_every_file_is_part_of_a_page() -> None:
    offline = {name for entry in ENTRIES for name in reached(entry)}
    offline |= {f"styles/{name}" for page in PAGES for name in page.STYLES}
    desks = onefile_page.DESKS.values()
    offline |= {name for desk in desks for name in (desk.markup, *(f"styles/{style}" for style in desk.styles))}
    served = {name for page, script in SERVED.items() for name in (page, *reached(script), *addresses(page))}
    texts = {f"texts/{language}.json" for language in LANGUAGES}
    files = {name_of(path) for path in PAGE.rglob("*") if path.is_file()}
    assert files == offline | served | texts | {sealed.FRAME, onefile_page.FRAME}


def test_a_view_knows_no_desk_and_a_part_neither() -> None:
    for script in SCRIPTS:
        folder = name_of(script).partition("/")[0]
        imported = {name_of(module).partition("/")[0] for module, _ in imports(script)}
        may = {"parts": {"parts"}, "views": {"parts", "views"}}.get(folder)
        assert may is None or imported <= may, name_of(script)


def addresses(page: str) -> set[str]:
    """Return the page files that an HTML file names."""
    return set(re.findall(r'(?:src|href)="page/([^"]*)"', (PAGE / page).read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", SERVED)
def test_the_served_pages_name_files_that_are_there_and_nothing_outside(page: str) -> None:
    text = (PAGE / page).read_text(encoding="utf-8")
    assert all((PAGE / name).is_file() for name in addresses(page))
    others = {address for address in re.findall(r'(?:src|href)="([^"]*)"', text) if not address.startswith("page/")}
    assert others <= {"docs", "./"}
    assert not re.search(r"<style|style=|<script>|\son\w+=", text)


@pytest.mark.parametrize("script", SCRIPTS, ids=name_of)
def test_no_script_makes_markup_or_code_of_text(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser", text
    )
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
    assert max(map(len, text.splitlines())) <= 120


def test_the_served_page_asks_for_all_its_scripts_at_once() -> None:
    text = (PAGE / "index.html").read_text(encoding="utf-8")
    needed = reached("main.js") - {"main.js"}
    assert re.findall(r'rel="modulepreload" href="page/([^"]+)"', text) == sorted(needed)


def test_a_browser_finds_every_file_where_it_lies() -> None:
    sent = page_files()
    unsent = {sealed.FRAME, onefile_page.FRAME, CARD, COURSE, *(f"texts/{language}.json" for language in LANGUAGES)}
    unsent |= {name_of(path) for path in (PAGE / "onefile").iterdir()}
    assert set(sent) | unsent == {name_of(path) for path in PAGE.rglob("*") if path.is_file()}
    assert sent["views/graph.js"].content == (PAGE / "views" / "graph.js").read_bytes()
