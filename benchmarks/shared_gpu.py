"""Work that several processes do on one GPU: small captured products by one process, and by many at once.

    .venv/bin/python benchmarks/shared_gpu.py
    nvidia-cuda-mps-control -d && .venv/bin/python benchmarks/shared_gpu.py

Each process replays a captured graph of 200 products, of the sizes of a small recurrent model. Without NVIDIA's MPS the
processes take turns, so that many get no more done than one; with it they compute at the same time.
"""

import argparse
import subprocess
import sys
import time

import torch

from regard.hardware.sharing import is_shared

ROWS, INPUTS, GATES = 250, 356, 1024
PRODUCTS = 100  # pairs of them in a graph
UNSYNCHRONISED = 5  # replays that may wait in the queue
READY = 20.0  # seconds in which every process is ready


def pass_of(states: torch.Tensor, into: torch.Tensor, back: torch.Tensor) -> torch.Tensor:
    for _ in range(PRODUCTS):
        states = torch.tanh(states @ into) @ back * 0.01
    return states


def replay(begin: float, seconds: float) -> float:
    """Replays a second of this process, from one moment on."""
    states, into, back = (
        torch.randn(*shape, device="cuda") for shape in ((ROWS, INPUTS), (INPUTS, GATES), (GATES, INPUTS))
    )
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        pass_of(states, into, back)
    side.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        pass_of(states, into, back)
    if (late := time.time() - begin) > 0:
        sys.exit(f"This process was ready {late:.0f} seconds too late.")
    time.sleep(begin - time.time())
    count, end = 0, begin + seconds
    while time.time() < end:
        graph.replay()
        count += 1
        if count % UNSYNCHRONISED == 0:
            torch.cuda.synchronize()
    torch.cuda.synchronize()
    return count / (time.time() - begin)


def together(processes: int, seconds: float) -> float:
    """Replays a second of all processes together."""
    words = [sys.executable, __file__, "--begin", str(time.time() + READY), "--seconds", str(seconds)]
    started = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(processes)]
    return sum(float(process.communicate()[0] or "nan") for process in started)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--begin", type=float, help=argparse.SUPPRESS)  # of a process that measures
    options = parser.parse_args()
    if options.begin:
        print(replay(options.begin, options.seconds))
        return
    print(f"MPS {'runs' if is_shared() else 'does not run'}")
    for processes in options.processes:
        print(f"{processes} at once: {together(processes, options.seconds):.0f} replays a second together", flush=True)


if __name__ == "__main__":
    main()
