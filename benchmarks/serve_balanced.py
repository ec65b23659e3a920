"""Two servers behind a load balancer on loopback, of which one is killed in the middle; every answer is compared.

The balancer is as simple as one can be: it takes turns, and where nobody listens it tries the next. Clients ask one
after the other, each request over a connection of its own, and ask again if that breaks.

    .venv/bin/python benchmarks/serve_balanced.py runs/demo
"""

import argparse
import asyncio
import json
import os
import signal
import threading
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

from serve_load import served

from regard.console import say_table
from regard.data.demo.corpus import pairs

REQUESTS = 200


async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while block := await reader.read(2**16):
            writer.write(block)
            await writer.drain()
    writer.close()


async def balance(ports: list[int], ready: "asyncio.Future[int]", sent: dict[int, int]) -> None:
    turns = count()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in ports:
            port = ports[next(turns) % len(ports)]
            with suppress(OSError):
                theirs = await asyncio.open_connection("127.0.0.1", port)
                sent[port] += 1
                await asyncio.gather(pass_on(reader, theirs[1]), pass_on(theirs[0], writer))
                return
        writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    ready.set_result(server.sockets[0].getsockname()[1])
    await server.serve_forever()


def balancer(ports: list[int], sent: dict[int, int]) -> int:
    """The port of a balancer in a thread of its own."""
    found, is_ready = list[int](), threading.Event()

    async def run() -> None:
        ready = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(balance(ports, ready, sent))
        found.append(await ready)
        is_ready.set()
        await task

    threading.Thread(target=lambda: asyncio.run(run()), daemon=True).start()
    is_ready.wait()
    return found[0]


def ask(port: int, text: str) -> str:
    body = urlencode({"q": text, "source": "en", "target": "pt"}).encode()
    with urlopen(f"http://127.0.0.1:{port}/translate", body, timeout=60) as answer:
        return str(json.load(answer)["translatedText"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", type=Path)
    model, texts = parser.parse_args().model, [english for english, _ in pairs("test")][:REQUESTS]
    with ExitStack() as servers:
        (first, process), (second, _) = (servers.enter_context(served(model)) for _ in range(2))
        right = [ask(second, text) for text in texts]
        sent = {first: 0, second: 0}
        port, again, wrong = balancer([first, second], sent), 0, 0
        for number, text in enumerate(texts):
            if number == len(texts) // 2:
                os.kill(process, signal.SIGKILL)
            try:
                found = ask(port, text)
            except (URLError, OSError):
                again += 1
                found = ask(port, text)
            wrong += found != right[number]
    say_table(
        ["requests", "to the first, killed at half", "to the second", "asked again", "wrong or lost"],
        [[str(len(texts)), str(sent[first]), str(sent[second]), str(again), str(wrong)]],
    )


if __name__ == "__main__":
    main()
