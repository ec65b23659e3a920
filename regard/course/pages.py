"""A lesson as a page of the documents: Markdown with the recorded outputs."""

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from regard.course.phrases import PHRASES, Phrases
from regard.course.prose import with_links
from regard.course.recording import read_recording
from regard.course.running import Output
from regard.course.sources import LANGUAGES, ExercisePart, Language, Lesson, Prose, Step, StepPart

NAMES: dict[Language, str] = {"en": "English", "pt": "Português", "ru": "Русский"}


def site_files(lesson: Lesson) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Yield the pictures of a lesson, and its page and notebook in each language, by their places on the site."""
    from regard.course.notebook import notebook_of

    for name, outputs in read_recording(lesson).steps.items():
        pictures = [output.picture for output in outputs if output.picture]
        for place, content in enumerate(pictures):
            yield PurePosixPath("course", "pictures", _picture(lesson, name, place)), content
    for language in LANGUAGES:
        page = page_place(lesson, language)
        yield page, page_of(lesson, language).encode()
        yield page.with_suffix(".ipynb"), notebook_of(lesson, language)


def page_place(lesson: Lesson, language: Language) -> PurePosixPath:
    """Return the place of a lesson's page on the site."""
    return PurePosixPath("course", language, f"{_stem(lesson)}.md")


def page_of(lesson: Lesson, language: Language) -> str:
    """Return the page of a lesson in a language."""
    text, recording, phrases = lesson.text(language), read_recording(lesson), PHRASES[language]
    others = [f"[{NAMES[other]}](../{other}/{_stem(lesson)}.md)" for other in LANGUAGES if other != language]
    begins = phrases.page_begins.format(number=lesson.number, notebook=f"{_stem(lesson)}.ipynb")
    blocks = [f"# {lesson.number}. {text.title}", f"{begins} · {' · '.join(others)}"]
    for part in text.parts:
        if isinstance(part, Prose):
            blocks.append(with_links(part.markdown, lambda document: f"../../{document}"))
        elif isinstance(part, StepPart):
            outputs = recording.steps.get(part.name, ())
            blocks += [_code(lesson.steps[part.name]), *_outputs(lesson, part.name, outputs, phrases)]
        else:
            blocks.append(_exercise(part, phrases))
    return "\n\n".join(blocks) + "\n"


def _code(step: Step) -> str:
    return f"```{'sh' if step.is_command else 'python'}\n{step.shown}\n```"


def _outputs(lesson: Lesson, name: str, outputs: Sequence[Output], phrases: Phrases) -> Iterator[str]:
    if outputs:
        yield phrases.output
    pictures = 0
    for output in outputs:
        if output.kind == "picture":
            yield f"![{name}](../pictures/{_picture(lesson, name, pictures)})"
            pictures += 1
        else:
            yield f"```text\n{output.text.rstrip()}\n```"


def _exercise(part: ExercisePart, phrases: Phrases) -> str:
    choices = "\n".join(f"- **{letter}**: {choice}" for letter, choice in part.choices.items())
    question = with_links(part.question, lambda document: f"../../{document}")
    return "\n\n".join(filter(None, [question, choices, f"*{phrases.hint}: {part.hint}*"]))


def _stem(lesson: Lesson) -> str:
    return f"{lesson.number:02}-{lesson.name.replace('_', '-')}"


def _picture(lesson: Lesson, step: str, place: int) -> str:
    return f"{lesson.number:02}-{step}-{place + 1}.png"
