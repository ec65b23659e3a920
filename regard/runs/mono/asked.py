"""Texts of one language on the command line or from Python, and the table of a recipe that they make."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.base.faults import Fault
from regard.data.lines import raw_lines


@dataclass(frozen=True)
class AskedTexts:
    """Files of one language, the model that writes the other side, and their share of the pairs."""

    files: Sequence[Path] = ()
    back: Path | None = None
    forward: Path | None = None
    share: float | None = None

    def __bool__(self) -> bool:
        return bool(self.files)

    @property
    def paths(self) -> list[Path]:
        return [*self.files, *filter(None, (self.back, self.forward))]

    def check(self, learns_pairs: bool) -> None:
        """Refuse contradictions; `learns_pairs` says whether there is a recipe or files of pairs to add these to."""
        for name, value in {"--back": self.back, "--forward": self.forward, "--mono-share": self.share}.items():
            if value is not None and not self.files:
                raise Fault(f"{name} belongs to text of one language; name it with --mono FILE.")
        if not self.files:
            return
        if not learns_pairs:
            raise Fault("--mono adds text to pairs; give --source and --target, --pairs, or a recipe for a translator.")
        if self.back is not None and self.forward is not None:
            raise Fault(
                "--back is for text of the target language and --forward for text of the source language; give one of "
                "them, or list both texts in a recipe's data.mono."
            )
        if self.share is not None and not 0 < self.share < 1:
            raise Fault(f"--mono-share is {self.share:g}, expected a share between 0 and 1, such as 0.5.")
        for file in self.files:
            if file.is_fifo():
                raise Fault(f"{file} is a pipe, but training reads its text more than once; write it to a file first.")
            if not file.is_file():
                raise Fault(f"There is no file {file}.")
        if len({file.resolve() for file in self.files}) < len(self.files):
            raise Fault("--mono names the same file twice.")

    def table(self) -> list[dict[str, Any]]:
        """Return the texts as a recipe has them; several share --mono-share by their numbers of lines."""
        model = self.back or self.forward
        way = "back" if self.back else "forward" if self.forward else "copy"
        entries: list[dict[str, Any]] = [{"file": str(file.resolve()), "way": way} for file in self.files]
        sizes = self.lines() if self.share is not None and len(entries) > 1 else [1]
        for entry, size in zip(entries, sizes * (len(entries) // len(sizes)), strict=True):
            if model is not None:
                entry["model"] = str(model.resolve())
            if self.share is not None:
                entry["share"] = self.share * size / sum(sizes)
        return entries

    def lines(self) -> list[int]:
        """Return the number of lines of each file."""
        return [sum(1 for _ in raw_lines(file)) for file in self.files]

    def sentences(self) -> list[str]:
        """Return a sentence for each text that says what is done with it."""
        if self.back:
            how = f"{self.back} writes a source for each line, with a tag before it (back-translation)"
        elif self.forward:
            how = f"{self.forward} writes a target for each line (forward translation)"
        else:
            how = "each line is its own source (copied text); with --back MODEL it would be back-translated"
        share = "" if self.share is None else f"; {self.share:.0%} of the pairs come from it"
        return [f"{file}: {how}{share}." for file in self.files]
