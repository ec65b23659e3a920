"""Sentences for errors of the operating system, such as an unreadable file; each names the file."""

import errno
import os
import re
from pathlib import Path

# Temporary files, which lie next to the file they will replace.
_HIDDEN = re.compile(r"\.([^/]+)\.(?:partial|unfinished(?:\.jsonl)?)$")
_SENTENCES = {
    errno.EACCES: "{place} may not be read or written by you (permission denied).",
    errno.EPERM: "{place} may not be changed by you (operation not permitted).",
    errno.ENOENT: "There is no file or folder {place}.",
    errno.EISDIR: "{place} is a folder, and a file is needed.",
    errno.ENOTDIR: "{place} is not a folder, or lies under something that is not a folder.",
    errno.EEXIST: "{place} exists already.",
    errno.ELOOP: "{place} is a symbolic link that loops.",
    errno.ENAMETOOLONG: "{place} is too long a name for the file system.",
    errno.ENOSPC: "No space is left on the device of {place}; make room and try again.",
    errno.EDQUOT: "Your quota on the device of {place} is used up; make room and try again.",
    errno.EFBIG: "{place} would exceed the largest file size allowed there (`ulimit -f` shows your limit).",
    errno.EIO: "The device of {place} reports an input/output error; check the disk.",
    errno.EROFS: "{place} is on a read-only file system.",
    errno.ESTALE: "The server that holds {place} no longer knows it (stale file handle); mount it again.",
    errno.EMFILE: "{place} could not be opened: this process has too many open files (`ulimit -n` shows the limit).",
    errno.ENFILE: "{place} could not be opened: the system has too many open files.",
}
# Errors that can occur in a file that is already open; these come without a name.
_NAMELESS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS, errno.ESTALE, errno.EMFILE, errno.ENFILE)
_WRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# How other libraries report the same: Rust gives the number, C++ and the linker the system's words.
_NUMBERED = re.compile(r"\(os error (\d+)\)")


def refusal_sentence(error: BaseException) -> str | None:
    """Return the sentence for an error of the operating system; None for other errors and those not about files."""
    name, number = None, None
    if isinstance(error, OSError):
        name, number = error.filename2 or error.filename, error.errno
    else:
        number = _number_in(str(error))
    if number not in _SENTENCES or not (name or number in _NAMELESS):
        return None
    unnamed = "the output" if number in _WRITTEN else "a file"
    place = _HIDDEN.sub(r"\1", os.fsdecode(name) if isinstance(name, bytes | os.PathLike) else str(name or unnamed))
    sentence = _SENTENCES[number].format(place=place)
    if number == errno.ENOENT and not Path(place).parent.is_dir():  # true of inputs and outputs alike
        sentence = f"There is no folder {Path(place).parent}, where {Path(place).name} should be."
    return sentence[0].upper() + sentence[1:] if name is None else sentence


def _number_in(message: str) -> int | None:
    if (match := _NUMBERED.search(message)) and int(match[1]) in _SENTENCES:
        return int(match[1])
    return next((number for number in _NAMELESS if os.strerror(number) in message), None)
