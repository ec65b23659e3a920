"""Markdown of lessons as trees of elements, from which the page's script makes elements: no markup is ever parsed."""

from collections.abc import Iterator
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from regard.course.prose import without_links

Node = str | dict[str, Any]  # a text, or an element: its tag, its children, and the address of a link

_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
_TAGS = {
    **{kind: kind for kind in ("blockquote", "strong", "em", "table", "thead", "tbody", "tr", "th", "td")},
    "paragraph": "p",
    "bullet_list": "ul",
    "ordered_list": "ol",
    "list_item": "li",
}
_TEXTS = {"softbreak": " ", "hardbreak": "\n"}


def render(markdown: str) -> list[Node]:
    """Return the blocks of a text. The documents are not on this machine, so their pages are only named."""
    return _children(SyntaxTreeNode(_MARKDOWN.parse(without_links(markdown))))


def render_line(markdown: str) -> list[Node]:
    """Return the parts of a line, such as an answer to choose."""
    return _children(SyntaxTreeNode(_MARKDOWN.parseInline(without_links(markdown))))


def _children(node: SyntaxTreeNode) -> list[Node]:
    return [made for child in node.children for made in _made(child)]


def _made(node: SyntaxTreeNode) -> Iterator[Node]:
    if node.type in _TAGS and not node.hidden:
        yield {"tag": _TAGS[node.type], "children": _children(node)}
    elif node.type == "heading":
        yield {"tag": node.tag, "children": _children(node)}
    elif node.type in ("fence", "code_block"):
        yield {"tag": "pre", "children": [{"tag": "code", "children": [node.content]}]}
    elif node.type == "code_inline":
        yield {"tag": "code", "children": [node.content]}
    elif node.type == "link" and str(node.attrs["href"]).startswith(("https://", "http://")):
        yield {"tag": "a", "href": node.attrs["href"], "children": _children(node)}
    elif node.type in _TEXTS:
        yield _TEXTS[node.type]
    elif node.children:
        yield from _children(node)
    elif node.content:
        yield node.content
