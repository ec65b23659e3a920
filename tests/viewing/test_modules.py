"""The scripts of the pages: what they ask of each other is there and used, and joined they are one script."""

import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest

from regard.viewing import (
    choices,
    contexts,
    facts,
    frames,
    gallery,
    graph,
    modules,
    overlay,
    page,
    sealed,
    slots,
    strip,
    strokes,
    tags,
    tree,
    windows,
    word_map,
)
from regard.viewing.modules import join_modules, module_order

PAGES = (
    page,
    choices,
    contexts,
    facts,
    frames,
    gallery,
    graph,
    overlay,
    slots,
    strip,
    strokes,
    tags,
    tree,
    windows,
    word_map,
)
ENTRIES = [each.SCRIPT for each in PAGES]
VIEWS = Path(str(resources.files("regard.viewing") / "page"))
SERVED = Path(str(resources.files("regard.serving") / "page"))
SCRIPTS = sorted([*VIEWS.glob("*.js"), *SERVED.glob("*.js")])
NAMES = re.compile(r"^(?:export )?(?:async )?(?:function|const|let|class) (\w+|\[[^\]]+\])", re.MULTILINE)


def top_names(text: str) -> list[str]:
    """What a script names at its top."""
    return [name for found in NAMES.findall(text) for name in re.findall(r"\w+", found)]


def imports(text: str) -> Iterator[tuple[str, list[str]]]:
    """Of each import its module and the names it takes."""
    for names, module in re.findall(r'^import \{([^}]*)\} from "\./([\w-]+\.js)";', text, re.MULTILINE):
        yield module, re.findall(r"\w+", names)


def exported(text: str) -> set[str]:
    return set(re.findall(r"^export (?:async )?(?:function|const|let|class) (\w+)", text, re.MULTILINE))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_what_is_imported_is_there_and_is_used(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    body = re.sub(r"^import .*?;$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert len(re.findall(r"^import ", text, re.MULTILINE)) == len(list(imports(text)))  # none in another form
    for module, names in imports(text):
        (found,) = [path for path in SCRIPTS if path.name == module]
        assert set(names) <= exported(found.read_text(encoding="utf-8"))
        assert [name for name in names if not re.search(rf"\b{name}\b", body)] == []


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
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
    order = module_order(page.SCRIPT)
    assert order[-1] == page.SCRIPT
    assert len(set(order)) == len(order)
    for place, name in enumerate(order):
        needed = [module for module, _ in imports((VIEWS / name).read_text(encoding="utf-8"))]
        assert set(needed) <= set(order[:place])


def test_scripts_that_import_each_other_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"a.js": 'import { b } from "./b.js";\n', "b.js": 'import { a } from "./a.js";\n'}
    monkeypatch.setattr(modules, "read_part", texts.__getitem__)
    with pytest.raises(ValueError, match=r"a\.js → b\.js → a\.js"):
        module_order("a.js")


def test_imports_of_several_lines_and_exports_are_taken_out(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {
        "a.js": 'import {\n  one,\n} from "./b.js";\n\nexport function two() {\n  return one;\n}\n',
        "b.js": "export let one = 1;\n",
    }
    monkeypatch.setattr(modules, "read_part", texts.__getitem__)
    assert join_modules("a.js") == "let one = 1;\n\nfunction two() {\n  return one;\n}\n"


def test_every_file_is_part_of_a_page() -> None:
    used = {name for each in PAGES for name in (*module_order(each.SCRIPT), *each.STYLES)}
    assert {path.name for path in VIEWS.iterdir() if path.is_file()} == used | {sealed.FRAME}


def test_files_that_a_server_gives_out_side_by_side_have_different_names() -> None:
    views, served = ({path.name for path in folder.iterdir() if path.is_file()} for folder in (VIEWS, SERVED))
    assert not views & served


@pytest.mark.parametrize("name", ["index.html", "docs.html"])
def test_the_served_pages_name_files_that_are_there_and_nothing_outside(name: str) -> None:
    text = (SERVED / name).read_text(encoding="utf-8")
    addresses = re.findall(r'(?:src|href)="([^"]*)"', text)
    there = {path.name for path in [*VIEWS.iterdir(), *SERVED.iterdir()]}
    assert {address.removeprefix("page/") for address in addresses if address.startswith("page/")} <= there
    assert {address for address in addresses if not address.startswith("page/")} <= {"docs", "./"}
    assert not re.search(r"<style|style=|<script>|\son\w+=", text)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_no_script_makes_markup_or_code_of_text(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser", text
    )
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
    assert max(map(len, text.splitlines())) <= 120


def test_the_served_page_asks_for_all_its_scripts_at_once() -> None:
    text = (SERVED / "index.html").read_text(encoding="utf-8")
    texts = {path.name: path.read_text(encoding="utf-8") for path in SCRIPTS}
    needed: set[str] = set()
    waiting = ["main.js"]
    while waiting:
        new = {module for module, _ in imports(texts[waiting.pop()])} - needed
        needed |= new
        waiting += new
    assert re.findall(r'rel="modulepreload" href="page/([^"]+)"', text) == sorted(needed)
