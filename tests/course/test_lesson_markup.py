"""Texts and code as the page receives them: trees of known elements, lines whose parts make up the code."""

from typing import Any

import pytest

from regard.course.listing import listing
from regard.course.markup import Node, render, render_line
from regard.course.sources import LANGUAGES, Language, Prose, Step, Value, lesson_numbers, read_lesson

TAGS = {
    *("p", "ul", "ol", "li", "h2", "em", "strong", "code", "pre", "a", "blockquote"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}


def tags(nodes: list[Node]) -> set[str]:
    return {tag for node in nodes if isinstance(node, dict) for tag in {node["tag"]} | tags(node["children"])}


def bare(node: Node) -> Any:
    """Return a node as nested lists, which are shorter to write."""
    return node if isinstance(node, str) else [node["tag"], *map(bare, node["children"])]


@pytest.mark.parametrize(
    ("markdown", "nodes"),
    [
        ("Some *words*\nand `code`.", [["p", "Some ", ["em", "words"], " ", "and ", ["code", "code"], "."]]),
        ("- one\n- **two**", [["ul", ["li", "one"], ["li", ["strong", "two"]]]]),
        ("1. one\n\n   more", [["ol", ["li", ["p", "one"], ["p", "more"]]]]),
        ("## Head", [["h2", "Head"]]),
        ("```\na < b\n```", [["pre", ["code", "a < b\n"]]]),
        ("|a|\n|-|\n|1|", [["table", ["thead", ["tr", ["th", "a"]]], ["tbody", ["tr", ["td", "1"]]]]]),
        ("<script>alert(1)</script>", [["p", "<script>alert(1)</script>"]]),
        ("see [the page](look.md#files)", [["p", "see the page (", ["code", "docs/look.md"], ")"]]),
        ("[x](javascript:alert(1))", [["p", "[x](javascript:alert(1))"]]),
        ("[x](file:///etc) [y](../up) ![z](http://a/b.png)", [["p", "[x](file:///etc) ", "y", " ", "z"]]),
    ],
)
def test_markdown_becomes_elements_and_never_markup(markdown: str, nodes: list[Any]) -> None:
    assert [bare(node) for node in render(markdown)] == nodes


def test_a_link_to_a_site_keeps_its_address() -> None:
    assert render_line("[x](https://example.org/?a=b)") == [
        {"tag": "a", "href": "https://example.org/?a=b", "children": ["x"]}
    ]


@pytest.mark.parametrize("number", lesson_numbers())
@pytest.mark.parametrize("language", LANGUAGES)
def test_lessons_use_only_elements_that_the_page_shows(number: int, language: Language) -> None:
    parts = read_lesson(number).text(language).parts
    used = {tag for part in parts if isinstance(part, Prose) for tag in tags(render(part.markdown))}
    assert {"p", "h2"} <= used <= TAGS


CODE = '''width = 3  # set: 1 to 8
for word in ["one", f"{width}"]:  # why
    print("""two
    lines""", word)

run("regard show attention -o head.png")'''


def test_code_is_listed_with_its_parts_values_and_commands() -> None:
    assert listing(Step("a", CODE, (Value("width", 3, 1, 8),)))[::5] == [
        {"value": "width"},
        {"command": "regard show attention -o head.png"},
    ]
    lines = listing(Step("a", CODE, (Value("width", 3, 1, 8),)))
    assert lines[1]["parts"][:4] == [("keyword", "for"), ("", " word "), ("keyword", "in"), ("", " [")]
    assert lines[1]["parts"][-1] == ("comment", "# why")
    assert lines[2]["parts"][-1] == ("text", '"""two')
    assert lines[3]["parts"][0] == ("text", '    lines"""')
    assert lines[4] == {"parts": []}


@pytest.mark.parametrize("number", lesson_numbers())
def test_nothing_of_the_code_of_lessons_is_lost(number: int) -> None:
    for step in read_lesson(number).steps.values():
        shown = step.shown.split("\n")
        for line, text in zip(listing(step), shown, strict=True):
            if "value" in line:
                assert text.startswith(f"{line['value']} = ")
            else:
                assert line.get("command", "".join(part for _, part in line.get("parts", []))) == text
