"""Pages for one person on this machine: their addresses begin with a token that only the command has printed."""

import hmac
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from regard.serving.http.refusals import Refusal
from regard.serving.http.replies import error_response, note_failure

Endpoint = Callable[[Request], Awaitable[Response]]


def behind_token(endpoint: Endpoint, token: str, command: str) -> Endpoint:
    """Return an endpoint that refuses a wrong token and turns every exception into an answer.

    The address has the token in its part `{token}`; `command` is what printed it.
    """

    async def answer(request: Request) -> Response:
        try:
            given = request.path_params["token"].encode(errors="replace")
            if not hmac.compare_digest(given, token.encode()):
                raise Refusal(403, f"This address has the wrong token; use the one that `{command}` printed.")
            return await endpoint(request)
        except Exception as error:
            note_failure(request, error)
            return error_response(error)

    return answer
