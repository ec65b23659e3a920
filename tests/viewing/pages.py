"""Reading pages as a browser would, and text that tries to break out of them."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

HOSTILE = '</script><script>alert(1)</script><!-- & &lt; "quoted" \' \u2028\u2029 ${x} $script'


class Reader(HTMLParser):
    """Parser of what a browser would find in a page: its elements, and the text of each script and style."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside: list[tuple[str, str]] = []
        self.open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.open = tag

    def handle_endtag(self, tag: str) -> None:
        self.open = ""

    def handle_data(self, data: str) -> None:
        self.inside.append((self.open, data))

    def parts(self, tag: str) -> list[str]:
        return [text for name, text in self.inside if name == tag]


def page_data(path: Path) -> Any:
    """Return the numbers that a page carries."""
    (data,) = re.findall(r'id="data">(.*?)</script>', path.read_text(encoding="utf-8"))
    return json.loads(data)
