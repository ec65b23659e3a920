"""Model cards on the server: as a page, and as the Markdown that `regard card` writes."""

import asyncio
import html

from markdown_it import MarkdownIt
from starlette.requests import Request
from starlette.responses import Response

from regard.base.faults import Fault
from regard.runs.card.facts import gather
from regard.runs.card.page import Card, make_card
from regard.serving.flow import Service
from regard.serving.http.refusals import Refusal
from regard.serving.served import Served
from regard.serving.static import PageFile, card_page

MARKDOWN = "text/markdown; charset=utf-8"
_RULES = ("heading", "table", "fence", "list", "backticks", "emphasis", "escape", "entity")  # no links, no HTML


class Cards:
    """The cards of the served models; each is made when it is first requested."""

    def __init__(self) -> None:
        self._made: dict[str, Card] = {}
        self._making = asyncio.Lock()  # one at a time, since the checksums of large models take a while

    async def page(self, service: Service, request: Request) -> Response:
        model = _model(service, request)
        return page_of(model.name, await self._card(model)).reply(request)

    async def file(self, service: Service, request: Request) -> Response:
        card = await self._card(_model(service, request))
        return Response(card.text, 200, {"Cache-Control": "no-cache"}, MARKDOWN)

    async def _card(self, model: Served) -> Card:
        async with self._making:
            if model.name not in self._made:
                self._made[model.name] = await asyncio.to_thread(_make, model)
            return self._made[model.name]


def _model(service: Service, request: Request) -> Served:
    """Return the model that a request names, by default the first."""
    name = request.query_params.get("model")
    return next(iter(service.catalogue.models.values())) if name is None else service.catalogue.named(name)


def _make(model: Served) -> Card:
    """Make a card; a refusal must not tell where the folder is."""
    if model.origin is None:
        raise Refusal(404, f"The model {model.name} has no card: it does not come from a folder.")
    try:
        return make_card(gather(model.origin, model.loaded_description))
    except (Fault, OSError):
        raise Refusal(
            503, f"The model {model.name} has no card now: its folder has changed since the server started."
        ) from None


def page_of(name: str, card: Card) -> PageFile:
    """Return the page of a card: its body as HTML, and its head."""
    markdown = MarkdownIt("zero").enable(_RULES)
    markdown.add_render_rule("table_open", lambda *given: '<div class="scrolled" tabindex="0">\n<table>\n')
    markdown.add_render_rule("table_close", lambda *given: "</table>\n</div>\n")
    return card_page(title=html.escape(name), body=markdown.render(card.body), head=html.escape(card.head))
