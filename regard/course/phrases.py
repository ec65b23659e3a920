"""Sentences of notebooks and pages of lessons that are the same in all lessons, in each language."""

from dataclasses import dataclass
from types import MappingProxyType

from regard.course.sources import Language


@dataclass(frozen=True)
class Phrases:
    """The sentences in one language."""

    notebook_begins: str
    for_example: str
    write_answer: str
    page_begins: str
    output: str
    hint: str
    course: str


PHRASES = MappingProxyType[Language, Phrases](
    {
        "en": Phrases(
            "Install `regard` in the environment of this notebook, then run the cells from top to bottom with "
            "Shift+Enter. Models are kept next to the notebook. Change the values that have a comment, and run "
            "their cell again.",
            "for example",
            "Write your answer in place of the three dots.",
            "Run this lesson on your machine with `regard course {number}`, or as a [notebook]({notebook}).",
            "Output of our run:",
            "Hint",
            "Course",
        ),
        "pt": Phrases(
            "Instale o `regard` no ambiente deste notebook e execute as células de cima para baixo com Shift+Enter. "
            "Os modelos ficam ao lado do notebook. Mude os valores que têm um comentário e execute a célula de novo.",
            "por exemplo",
            "Escreva sua resposta no lugar dos três pontos.",
            "Execute esta lição na sua máquina com `regard course {number} --language pt`, ou como "
            "[notebook]({notebook}).",
            "Saída da nossa execução:",
            "Dica",
            "Curso",
        ),
        "ru": Phrases(
            "Установите `regard` в окружение этого ноутбука и запускайте ячейки сверху вниз по Shift+Enter. "
            "Модели хранятся рядом с ноутбуком. Меняйте значения с комментарием и запускайте их ячейку ещё раз.",
            "например",
            "Впишите ответ вместо трёх точек.",
            "Запустите этот урок у себя: `regard course {number} --language ru`, или откройте как "
            "[ноутбук]({notebook}).",
            "Вывод нашего запуска:",
            "Подсказка",
            "Курс",
        ),
    }
)
