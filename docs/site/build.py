"""Builds the site of the documents: `.venv/bin/python docs/site/build.py [FOLDER]`, by default into build/docs.

The site needs no server and no network: search works from files, no font or script comes from elsewhere. Source files
that the documents link to become pages of the site.
"""

import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from regard.course.pages import NAMES, page_place, site_files
from regard.course.sources import lesson_numbers, read_lesson

HERE = Path(__file__).parent
DOCS, ROOT = HERE.parent, HERE.parents[1]
OUTSIDE = re.compile(r"\]\(\.\./([^)#]+)(#[^)]*)?\)")  # a link that leads out of docs/
ADDRESS = re.compile(r'<(?:script|img|link|iframe)\b[^>]*?\b(?:src|href)="((?:https?:)?//[^"]+)"')
AT_THE_ROOT = {  # documents beside docs/, and what they are called on the site
    "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md",
    "README.md": "index.md",
}  # fmt: skip
SHIM = re.compile(r'<script src="https://unpkg\.com/iframe-worker/shim"[^>]*></script>')


def main(folder: Path) -> None:
    """Build the site into a folder, in place of what an earlier build left there."""
    shutil.rmtree(folder, ignore_errors=True)
    pages = folder / "pages"
    pages.mkdir(parents=True)
    shutil.copytree(DOCS / "pictures", pages / "pictures")
    shutil.copy(HERE / "site.css", pages)
    (folder / "zensical.toml").write_text(_settings(), encoding="utf-8")
    for page in sorted(DOCS.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        (pages / page.name).write_text(OUTSIDE.sub(lambda link: _link(link, pages), text), encoding="utf-8")
    for name, page_name in AT_THE_ROOT.items():
        if page_name != "index.md":
            text = (ROOT / name).read_text(encoding="utf-8").replace("](docs/", "](")
            text = re.sub(r"\]\(((?!https?:|#)[^)#]+)\)", lambda link: _from_root(link, pages), text)
            (pages / page_name).write_text(text, encoding="utf-8")
    for number in lesson_numbers():
        for place, content in site_files(read_lesson(number)):
            (pages / place).parent.mkdir(parents=True, exist_ok=True)
            (pages / place).write_bytes(content)
    zensical = Path(sysconfig.get_path("scripts"), "zensical")
    subprocess.run([zensical, "build", "--strict", "--config-file", "zensical.toml"], cwd=folder, check=True)
    shutil.copy(HERE / "worker.js", folder / "site" / "assets")
    for page in (folder / "site").rglob("*.html"):
        _keep_at_home(page, folder / "site")
    print(f"Open {folder / 'site' / 'index.html'} in a browser.")


def _settings() -> str:
    """Return the settings of the site with the lessons of the course in each language after the page of the course."""
    lessons = [read_lesson(number) for number in lesson_numbers()]
    entries = ['"course.md"']
    for language, name in NAMES.items():
        pages = ", ".join(f'"{page_place(lesson, language)}"' for lesson in lessons)
        entries.append(f'{{ "{name}" = [{pages}] }}')
    return (HERE / "zensical.toml").read_text(encoding="utf-8").replace('["course.md"]', f"[{', '.join(entries)}]")


def _link(link: re.Match[str], pages: Path) -> str:
    """Return a link to the page of a file outside docs/."""
    return f"]({_page_of(link[1], pages)}{link[2] or ''})"


def _from_root(link: re.Match[str], pages: Path) -> str:
    """Return a link of a document at the root as it is on the site, where what is in docs/ lies beside it."""
    return link[0] if (DOCS / link[1]).exists() else f"]({_page_of(link[1], pages)})"


def _page_of(name: str, pages: Path) -> str:
    """Return the page of a file or folder of the repository; that of source code is written."""
    if name in AT_THE_ROOT:
        return AT_THE_ROOT[name]
    name, source = name.rstrip("/"), ROOT / name
    page = Path("source", f"{name}.md")
    (pages / page).parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        files = [file for file in sorted(source.iterdir()) if file.is_file()]
        text = "\n".join(f"## {file.name}\n\n{_shown(file)}" for file in files)
    else:
        text = _shown(source)
    (pages / page).write_text(f"# {name}\n\n{text}", encoding="utf-8")
    return page.as_posix()


def _shown(file: Path) -> str:
    """Return a file as a block of code."""
    return f"````{_language(file.name)}\n{file.read_text(encoding='utf-8')}````\n"


def _language(name: str) -> str:
    return {".py": "python", ".toml": "toml", ".js": "javascript", ".ipynb": "json"}.get(Path(name).suffix, "text")


def _keep_at_home(page: Path, site: Path) -> None:
    """Let a page load our own worker, and refuse one that would load anything from elsewhere."""
    depth = len(page.relative_to(site).parts) - 1
    text = SHIM.sub(f'<script src="{"../" * depth}assets/worker.js"></script>', page.read_text(encoding="utf-8"))
    page.write_text(text, encoding="utf-8")
    if found := ADDRESS.findall(text):
        sys.exit(f"{page.relative_to(site)} loads {found[0]}; the site must work without a network.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "docs").resolve())
