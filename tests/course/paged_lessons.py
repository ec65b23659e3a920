"""A small course for tests: two lessons whose steps take no time and whose texts say which language they are in."""

from pathlib import Path

from regard.course.sources import LANGUAGES

CODE = """# %% first
width = 3  # set: 1 to 8
share = 0.5  # set: 0 to 1
way = "beam"  # set: beam, greedy
total = width * 2  # doubled
print("first:", width, share, way)

# %% second
print("second:", total)

# %% drawn
from PIL import Image
from regard.course import picture

Image.new("RGB", (40, 30), "teal").save("drawn.png")
picture("drawn.png")
print("after the picture")

# %% fails
depth = 1  # set: 0 to 4
print("before", 1 // depth)

# %% last
print("last")
"""
TABLE = """
reads = ["look.md"]
[[exercises]]
name = "sum"
kind = "number"
answer = 0.67
tolerance = 0.005
[[exercises]]
name = "why"
kind = "choice"
answer = "b"
[[exercises]]
name = "which"
kind = "choices"
answer = ["a", "c"]
"""
TEXT = """# Title in {language}

Words with *weight*, `code` and <b>no markup</b>.

```step first
width: Width in {language}
share: Share
way: Way
```

See [the page](look.md) and [a site](https://example.org/).

```step second
```

```step drawn
```

```step fails
depth: Depth
```

```step last
```

## Exercises

```exercise sum
Two thirds?
right: Right in {language}, `0.67`.
hint: Hint in {language}.
```

```exercise why
Why?
- a: since `x`
- b: because
right: Why right in {language}.
hint: Why hint in {language}.
```

```exercise which
Which?
- a: one
- b: two
- c: three
right: Which right in {language}.
hint: Which hint in {language}.
```
"""


def make_material(folder: Path, lessons: int = 2, code: str = CODE) -> Path:
    """Write lessons into a folder, all alike but for their numbers."""
    for number in range(1, lessons + 1):
        place = folder / f"{number:02}_small"
        place.mkdir(parents=True)
        (place / "code.py").write_text(code, encoding="utf-8")
        (place / "lesson.toml").write_text(TABLE, encoding="utf-8")
        for language in LANGUAGES:
            (place / f"{language}.md").write_text(TEXT.format(language=language), encoding="utf-8")
    return folder
