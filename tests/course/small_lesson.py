"""A lesson of two quick steps and three exercises, for tests."""

from pathlib import Path

import pytest

CODE = """# %% first
width = 3  # set: 1 to 8
way = "beam"  # set: beam, greedy
from regard.course import picture, run

print("width", width, way)

# %% drawn
import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(2, 1))
axes.plot([0, width])
picture(figure)
plt.close(figure)
width * 2
"""
TABLE = """
reads = ["look.md"]
[[exercises]]
name = "sum"
kind = "number"
answer = 6.5
tolerance = 0.1
[[exercises]]
name = "why"
kind = "choice"
answer = "a"
[[exercises]]
name = "wider"
kind = "option"
answer = "--beam 5"
"""
TEXTS = {
    "en": ("A short lesson", "Words and a [page](look.md#files).", "How wide", "## Exercises"),
    "pt": ("Uma lição curta", "Palavras e uma [página](look.md#files).", "Largura", "## Exercícios"),
    "ru": ("Короткий урок", "Слова и [страница](look.md#files).", "Ширина", "## Упражнения"),
}
TEXT = """# {title}

{words}

```step first
width: {label}
way: Way
```

```step drawn
```

{exercises}

```exercise sum
3 + 3.5?
right: Yes, 6.5.
hint: Add.
```

```exercise why
Why?
- a: so
- b: else
right: Yes, so.
hint: Think.
```

```exercise wider
Which option?
right: Yes, five.
hint: See --help.
```
"""


@pytest.fixture
def material(tmp_path: Path) -> Path:
    """Return a folder of material with one lesson."""
    folder = tmp_path / "material" / "01_short"
    folder.mkdir(parents=True)
    (folder / "code.py").write_text(CODE, encoding="utf-8")
    (folder / "lesson.toml").write_text(TABLE, encoding="utf-8")
    for language, (title, words, label, exercises) in TEXTS.items():
        text = TEXT.format(title=title, words=words, label=label, exercises=exercises)
        (folder / f"{language}.md").write_text(text, encoding="utf-8")
    return folder.parent
