"""Seconds that maps of one decision take: `benchmarks/why.py runs/demo --text "Those chefs feed dogs."`.

Integrated gradients of 50 steps for a sentence of the demo's translator should take less than two seconds on two cores.
"""

import argparse
import os
import statistics
import time

import torch

import regard
from regard.base.faults import Fault
from regard.seeing.why.maps import METHODS, map_of
from regard.seeing.why.question import ask


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="a model folder, such as the demo's")
    parser.add_argument("--text", default="Those chefs feed dogs.", help="what it reads")
    parser.add_argument("--threads", type=int, default=2, help="cores to use")
    parser.add_argument("--rounds", type=int, default=5, help="how often each method runs")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    model = regard.load(arguments.model, device="cpu")
    question = ask(model, arguments.text)
    print(f"{len(question.names)} units, {arguments.threads} threads, load {os.getloadavg()[0]:.1f}")
    print("| method | median seconds | CPU seconds |\n| --- | --- | --- |")
    for method in METHODS:
        try:
            map_of(question, method)  # the first run loads what is needed
        except Fault as fault:
            print(f"| {method} | {fault} | |")
            continue
        seconds, processor = [], []
        for _ in range(arguments.rounds):
            began, busy = time.perf_counter(), time.process_time()
            map_of(question, method)
            seconds.append(time.perf_counter() - began)
            processor.append(time.process_time() - busy)
        print(f"| {method} | {statistics.median(seconds):.3f} | {statistics.median(processor):.3f} |")


if __name__ == "__main__":
    main()
