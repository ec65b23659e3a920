"""The application behind the pages of the course. Its addresses begin with a token; it runs only steps of lessons."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import Field
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from regard.base.faults import Fault
from regard.base.recipe import Kind, Options, check
from regard.course.answers import check_answer
from regard.course.page_data import comment_on, contents, fitting_recording, kept_values, lesson_page, read_values
from regard.course.progress import ProgressFile
from regard.course.sources import Language, Lesson, lesson_numbers, read_lesson
from regard.course.workbench import StepRun, Values, Workbench
from regard.serving.http.bodies import read_json
from regard.serving.http.guard import Guard, Warn
from regard.serving.http.refusals import Refusal
from regard.serving.http.replies import ERROR_HANDLERS, json_response
from regard.serving.http.tokens import Endpoint, behind_token
from regard.serving.metrics import Metrics
from regard.serving.options import ServingOptions
from regard.serving.static import course_page, page_files

_NOT_SHOWN = "There is nothing at this address."
_LONGEST_ANSWER = 200  # characters


class RunRequest(Options):
    """Steps to run, as the page asks for them."""

    lesson: int = Field(description="The number of the lesson.")
    steps: dict[str, dict[str, int | float | str]] = Field(min_length=1, description="The values of each step.")


class AnswerRequest(Options):
    """An answer as the page sends it."""

    lesson: int = Field(description="The number of the lesson.")
    exercise: str = Field(description="The name of the exercise.")
    answer: str | list[str] = Field(max_length=_LONGEST_ANSWER, description="What was written or chosen.")


class LanguageRequest(Options):
    """The language that the reader has chosen."""

    language: Language = Field(description="The language of all lessons.")


class Course:
    """Answers the pages: lessons, runs of their steps, answers to their exercises."""

    def __init__(self, folder: Path, language: Language, token: str, options: ServingOptions, material: Path) -> None:
        self._language, self._token, self._limits, self._material = language, token, options.limits, material
        self.progress = ProgressFile(folder)
        self.bench = Workbench(folder, material, self._keep_run)
        self._trouble = ""  # why the last step could not be kept
        self._files = page_files()

    def routes(self) -> list[Route]:
        asked = {"run": self.run, "stop": self.stop, "answer": self.answer, "language": self.language}
        return [
            Route("/{token}/{number:int}", self._guarded(self.page)),
            Route("/{token}/page/{name:path}", self._guarded(self.file)),
            Route("/{token}/lesson/{number:int}", self._guarded(self.lesson)),
            Route("/{token}/state/{number:int}", self._guarded(self.state)),
            Route("/{token}/picture/{number:int}", self._guarded(self.picture)),
            Route("/{token}/recorded/{number:int}/{step}/{place:int}", self._guarded(self.recorded)),
            *(Route(f"/{{token}}/{name}", self._guarded(do), methods=["POST"]) for name, do in asked.items()),
        ]

    def _guarded(self, endpoint: Endpoint) -> Endpoint:
        return behind_token(endpoint, self._token, "regard course")

    async def page(self, request: Request) -> Response:
        """Answer with the page of a lesson, in the reader's language."""
        self._lesson(request.path_params["number"])
        return course_page(self._language).reply(request)

    async def file(self, request: Request) -> Response:
        file = self._files.get(request.path_params["name"])
        if file is None:
            raise Refusal(404, _NOT_SHOWN)
        return file.reply(request)

    async def lesson(self, request: Request) -> Response:
        """Answer with a lesson and the list of all."""
        lesson, progress = self._lesson(request.path_params["number"]), self.progress.read()
        page = lesson_page(lesson, self._language, progress.lesson(lesson.number))
        return json_response({**page, "contents": contents(self._material, self._language, progress)})

    async def state(self, request: Request) -> Response:
        """Answer with what the steps of a lesson have shown since the page asked last."""
        after = request.query_params.get("after", "0")
        if not after.isdecimal():
            raise Refusal(404, _NOT_SHOWN)
        changes = self.bench.changes(request.path_params["number"], int(after[:20]))
        return json_response({**changes, "trouble": self._trouble})

    async def picture(self, request: Request) -> Response:
        """Answer with a picture that a step has shown."""
        return _png(self.bench.picture(request.path_params["number"]))

    async def recorded(self, request: Request) -> Response:
        """Answer with a picture of our own run."""
        recording = fitting_recording(self._lesson(request.path_params["number"]))
        outputs = recording.steps.get(request.path_params["step"], ())
        place = request.path_params["place"]
        return _png(outputs[place].picture if place < len(outputs) else None)

    async def run(self, request: Request) -> Response:
        """Begin to run steps, one or several; the page then asks for the state."""
        body = await self._read(request, RunRequest)
        lesson = self._lesson(body.lesson)
        if strange := [name for name in body.steps if name not in lesson.steps]:
            raise Refusal(404, f"Lesson {lesson.number} has no step {strange[0][:_LONGEST_ANSWER]}.")
        steps = {name: read_values(step, body.steps[name]) for name, step in lesson.steps.items() if name in body.steps}
        if (busy := self.bench.busy_with) is not None:
            raise Refusal(409, f"A step of lesson {busy} is still running; stop it or wait until it is done.")
        self._trouble = ""
        self.bench.run(lesson, steps, self._last_values(lesson))
        return json_response({})

    async def stop(self, request: Request) -> Response:
        """Stop what is running."""
        await self._read(request, Options)
        await asyncio.to_thread(self.bench.stop)
        return json_response({})

    async def answer(self, request: Request) -> Response:
        """Check an answer, and say why it is right or give a hint."""
        body = await self._read(request, AnswerRequest)
        lesson = self._lesson(body.lesson)
        if body.exercise not in lesson.exercises:
            raise Refusal(404, f"Lesson {lesson.number} has no such exercise.")
        offered = lesson.text(self._language).exercise(body.exercise).choices
        is_right = check_answer(lesson.exercises[body.exercise], offered, body.answer)
        if is_right:
            await asyncio.to_thread(self.progress.keep_answer, lesson.number, body.exercise, body.answer)
        comment = comment_on(lesson, body.exercise, self._language, is_right)
        return json_response({"is_right": is_right, "comment": comment})

    async def language(self, request: Request) -> Response:
        """Change the language of this server, and keep it for those that start later."""
        body = await self._read(request, LanguageRequest)
        await asyncio.to_thread(self.progress.keep_language, body.language)
        self._language = body.language
        return json_response({})

    async def _read(self, request: Request, kind: type[Kind]) -> Kind:
        async with asyncio.timeout(self._limits.seconds):
            table = await read_json(request, self._limits.body)
        table.pop("api_key", None)  # which a page of `regard serve` left in the same browser tab
        return check(kind, table, "the request")

    def _lesson(self, number: int) -> Lesson:
        if number not in lesson_numbers(self._material):
            raise Refusal(404, f"There is no lesson {number}.")
        return read_lesson(number, self._material)

    def _last_values(self, lesson: Lesson) -> dict[str, Values]:
        """Return the values of each step's last run."""
        kept = {**self.progress.read().lesson(lesson.number).steps, **self.bench.values_of(lesson.number)}
        return {name: kept_values(step, kept.get(name, {})) for name, step in lesson.steps.items()}

    def _keep_run(self, number: int, run: StepRun) -> None:
        try:
            if run.status == "skipped":
                self.progress.keep_skipped(number, run.name)
            else:
                self.progress.keep_step(number, run.name, run.values)
        except Fault as fault:
            self._trouble = " ".join(fault.sentences)


def _png(content: bytes | None) -> Response:
    if not content:
        raise Refusal(404, _NOT_SHOWN)
    return Response(content, 200, {"Cache-Control": "no-store"}, "image/png")


def course_app(
    folder: Path,
    language: Language,
    token: str,
    material: Path,
    warn: Warn = lambda sentence: None,
) -> Guard:
    """Return the application of the course; the reader may choose another language on its page.

    Other servers of the same folder keep theirs.
    """
    options = ServingOptions()
    course = Course(folder, language, token, options, material)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(course.bench.close)

    app = Starlette(routes=course.routes(), exception_handlers=ERROR_HANDLERS, lifespan=lifespan)
    app.router.redirect_slashes = False
    return Guard(app, options, Metrics(), None, warn)
