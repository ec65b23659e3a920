"""Read files compressed with Zstandard, using the library of the extra `data`."""

import io
from io import BufferedIOBase
from pathlib import Path

from regard.base.extras import importing

_PIECE = 1 << 10  # packed bytes to unpack at a time; in some files, every four become 128 KiB


def open_zstandard(path: Path) -> BufferedIOBase:
    """Open a file's content as a stream; damaged or truncated data raises EOFError, as with gzip."""
    with importing("data", f"{path}, which is compressed by Zstandard,"):
        import zstandard

    class Reader(io.RawIOBase):
        """Unpacks frame by frame. The library's own reader accepts a truncated frame as complete."""

        def __init__(self) -> None:
            self._file = path.open("rb")
            self._frame: zstandard.ZstdDecompressionObj | None = None
            self._packed = b""
            self._plain = memoryview(b"")

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # BufferedReader passes no other type
            while not self._plain:
                self._packed = self._packed or self._file.read(_PIECE)
                if not self._packed and self._frame is None:
                    return 0
                self._unpack()
            count = min(len(buffer), len(self._plain))
            buffer[:count], self._plain = self._plain[:count], self._plain[count:]
            return count

        def _unpack(self) -> None:
            if not self._packed:
                raise EOFError("it is truncated")
            self._frame = self._frame or zstandard.ZstdDecompressor().decompressobj()
            try:
                self._plain = memoryview(self._frame.decompress(self._packed))
            except zstandard.ZstdError as error:
                raise EOFError(str(error)) from None
            self._packed = b""
            if self._frame.eof:
                self._packed, self._frame = self._frame.unused_data, None

        def close(self) -> None:
            self._file.close()
            super().close()

    return io.BufferedReader(Reader(), 1 << 20)
