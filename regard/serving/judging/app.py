"""The application of `regard judge`. Its addresses begin with a token, and nothing it sends tells the sides apart."""

import asyncio
import time
import unicodedata
from typing import Any, Literal

from pydantic import Field
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from regard.base.recipe import Options, check
from regard.metrics.judgements import Choice
from regard.serving.http.bodies import read_json
from regard.serving.http.guard import Guard, Warn
from regard.serving.http.refusals import Refusal
from regard.serving.http.replies import ERROR_HANDLERS, json_response
from regard.serving.http.tokens import Endpoint, behind_token
from regard.serving.judging.comparison import Comparison, Seen, Shown
from regard.serving.judging.votes import Vote, VotesFile
from regard.serving.metrics import Metrics
from regard.serving.options import ServingOptions
from regard.serving.static import JUDGE, page_files

_LONGEST_NAME = 60  # characters
_MOST_JUDGES = 1000  # judges whose order is remembered
_NOT_SHOWN = "There is nothing at this address."
_KEYS = ("1", "2", "=")


class VoteRequest(Options):
    """A vote as the page sends it: for the first output shown, the second, or neither."""

    judge: str = Field(description="The judge's name.")
    at: int = Field(ge=0, description="The place of the item in the judge's order.")
    choice: Literal["1", "2", "="] = Field(description="The first output, the second, or neither.")


class Judging:
    """Answers the page: the items in each judge's order, and their votes."""

    def __init__(self, comparison: Comparison, votes: VotesFile, token: str, options: ServingOptions) -> None:
        self.comparison, self.votes, self._token, self._limits = comparison, votes, token, options.limits
        self._orders: dict[str, list[Seen]] = {}
        self._files = page_files()
        self._writing = asyncio.Lock()

    def routes(self) -> list[Route]:
        return [
            Route("/{token}/", self._guarded(self.page)),
            Route("/{token}/page/{name:path}", self._guarded(self.page)),
            Route("/{token}/item", self._guarded(self.item)),
            Route("/{token}/shown/{at:int}/{part}", self._guarded(self.shown)),
            Route("/{token}/vote", self._guarded(self.vote), methods=["POST"]),
        ]

    def _guarded(self, endpoint: Endpoint) -> Endpoint:
        return behind_token(endpoint, self._token, "regard judge")

    async def page(self, request: Request) -> Response:
        file = self._files.get(request.path_params.get("name", JUDGE))
        if file is None:
            raise Refusal(404, _NOT_SHOWN)
        return file.reply(request)

    async def item(self, request: Request) -> Response:
        """Answer with an item: at the place asked for, or the first without a vote of this judge."""
        judge, at = _judge(request.query_params.get("judge", "")), request.query_params.get("at")
        return json_response(self._state(judge, None if at is None else self._place(at)))

    async def shown(self, request: Request) -> Response:
        """Answer with the file of a source or an output."""
        seen = self._order(_judge(request.query_params.get("judge", "")))[self._place(request.path_params["at"])]
        parts: dict[str, Shown | None] = {"source": seen.item.source}
        parts["1"], parts["2"] = seen.outputs
        part = parts.get(request.path_params["part"])
        if part is None or not part.media:
            raise Refusal(404, _NOT_SHOWN)
        return Response(part.content, 200, {"Cache-Control": "no-store"}, part.media)

    async def vote(self, request: Request) -> Response:
        """Write a vote down and answer with the next item."""
        async with asyncio.timeout(self._limits.seconds):
            table = await read_json(request, self._limits.body)
        table.pop("api_key", None)  # which a page of `regard serve` left in the same browser tab
        body = check(VoteRequest, table, "the vote")
        judge, at = _judge(body.judge), self._place(body.at)
        seen = self._order(judge)[at]
        chosen: tuple[Choice, ...] = (*seen.sides, "tie")
        vote = Vote(
            comparison=self.comparison.identity,
            judge=judge,
            item=seen.item.name,
            order=seen.sides,
            choice=chosen[_KEYS.index(body.choice)],
            time=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        )
        async with self._writing:
            await asyncio.to_thread(self.votes.add, vote)
        return json_response(self._state(judge, None))

    def _order(self, judge: str) -> list[Seen]:
        if judge not in self._orders:
            if len(self._orders) >= _MOST_JUDGES:
                self._orders.clear()
            self._orders[judge] = self.comparison.order_for(judge)
        return self._orders[judge]

    def _place(self, at: str | int) -> int:
        if not str(at).isdecimal() or int(at) >= len(self.comparison.items):
            raise Refusal(404, _NOT_SHOWN)
        return int(at)

    def _state(self, judge: str, at: int | None) -> dict[str, Any]:
        """Return what the page shows next; `at` is None once everything is judged."""
        order, ballot = self._order(judge), self.votes.ballots.get(judge, {})
        if at is None:
            at = next((place for place, seen in enumerate(order) if seen.item.name not in ballot), None)
        voted = sum(seen.item.name in ballot for seen in order)
        state = {"question": self.comparison.question, "total": len(order), "voted": voted, "at": at}
        if at is None:
            return state
        seen = order[at]
        choice = ballot.get(seen.item.name)
        return state | {
            "source": None if seen.item.source is None else seen.item.source.as_dict(),
            "outputs": [output.as_dict() for output in seen.outputs],
            "choice": None if choice is None else _KEYS[(*seen.sides, "tie").index(choice)],
        }


def _judge(name: str) -> str:
    """Return a judge's name in its normal form; refuse one that is empty, too long or not printable."""
    name = " ".join(unicodedata.normalize("NFC", name).split())
    if not name or len(name) > _LONGEST_NAME or not name.isprintable():
        raise Refusal(400, f"A judge's name has 1 to {_LONGEST_NAME} letters, digits or signs.")
    return name


def judging_app(comparison: Comparison, votes: VotesFile, token: str, warn: Warn = lambda sentence: None) -> Guard:
    """Return the application with which people judge a comparison; all addresses begin with the token."""
    options = ServingOptions()
    judging = Judging(comparison, votes, token, options)
    app = Starlette(routes=judging.routes(), exception_handlers=ERROR_HANDLERS)
    app.router.redirect_slashes = False
    return Guard(app, options, Metrics(), None, warn)
