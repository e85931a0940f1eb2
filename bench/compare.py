#!/usr/bin/env python3
"""The same workloads in Gradus and in PyTorch 2.13.0, in turns, with the same number of threads: medians, minima, ratios.

PyTorch runs eagerly, with the optimizer's fused kernel, and through torch.compile (which needs a C++ compiler); the fastest counts.
The floor is what OpenBLAS alone needs for the step's matrix products (gradus-bench --floor). Without PyTorch its columns stay empty:
    pip install torch==2.13.0
"""
import argparse
import importlib.util
import json
import os
import pathlib
import select
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
# What must be reached: times as fast as PyTorch (microgpt: as the tape of scalars, gradus-bench's microgpt_scalar), and times the BLAS floor.
FASTER = {
    "chain_scalar_1000": 15, "chain_64_1000": 15, "mha_seed": 1.4, "seq2seq_copy": 2.5, "seq2seq_seed": 1.45, "gpt_nano": 1.35,
    "gpt_char": 1.12, "gpt2_124M": 1.15, "sdpa_1024": 1.3, "sdpa_4096": 1.3, "softmax_4096x1024": 1, "layer_norm_4096x1024": 1,
    "gelu_tanh_4096x1024": 3, "cross_entropy_4096x1024": 1, "add_broadcast_4096x1024": 1, "exp_4096x1024": 1, "transpose_copy_4096x1024": 1,
    "microgpt": 2.5}
FLOOR = {"gpt_nano": 1.3, "gpt_char": 1.18, "gpt2_124M": 1.35}
WITH_PRODUCTS = ["mha_seed", "seq2seq_copy", "seq2seq_seed", "gpt_nano", "gpt_char", "gpt2_124M", "sdpa_1024", "sdpa_4096"]


def modes(name):
    """How PyTorch runs it. Unrolled by torch.compile a chain would be one kernel and measure no op's overhead; only optimizers have a fused kernel;
    names of every length would be compiled anew."""
    if name.startswith("chain"):
        return ["eager"]
    if name == "microgpt":
        return ["eager", "fused"]
    return ["eager", "fused", "compile"] if name.startswith(("seq", "gpt")) else ["eager", "compile"]


def realtime():
    """Ahead of everything else on a shared machine; needs root."""
    for thread in os.listdir("/proc/self/task"):
        os.sched_setscheduler(int(thread), os.SCHED_FIFO, os.sched_param(10))


def clean_environment(threads):
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
        environment.pop(name, None)
    return environment


def measure(step, scale, seconds):
    """Like gradus-bench: a warm-up of a tenth, then steps for so many seconds, at least five."""
    step()
    end = time.perf_counter() + seconds / 10
    while time.perf_counter() < end:
        step()
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        begin = time.perf_counter()
        step()
        times.append((time.perf_counter() - begin) * 1e3 * scale)
    return {"median_ms": statistics.median(times), "min_ms": min(times), "repeats": len(times)}


def peak_bytes():
    with open("/proc/self/status", encoding="utf-8") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def work(name, mode, options):
    """A PyTorch process: prepares, says so, then measures whenever a line with a number of seconds arrives."""
    import torch
    import torch_workloads
    torch.set_num_threads(1 if name == "microgpt" else options.threads)
    if options.realtime and mode != "compile":
        realtime()
    step, scale, parameters = torch_workloads.prepare(name, mode, options.file)
    step()
    if options.realtime:
        realtime()  # not while compilers run
    step()
    print(json.dumps({"parameters": parameters, "version": torch.__version__}), flush=True)
    for line in sys.stdin:
        print(json.dumps({**measure(step, scale, float(line)), "process_peak_bytes": peak_bytes()}), flush=True)


class Torch:
    """One workload in one mode, in a process of its own."""

    def __init__(self, name, mode, options):
        command = [sys.executable, __file__, "--worker", name, mode, "--threads", str(options.threads), *["--realtime"] * options.realtime, *names(options)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env=clean_environment(options.threads))
        self.told, self.results = {}, []

    def answer(self, seconds):
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        line = self.process.stdout.readline() if ready else ""
        return json.loads(line) if line else None

    def run(self, seconds):
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        self.results.append({**self.told, **self.answer(600)})

    def stop(self):
        self.process.kill()
        self.process.wait()


def names(options):
    return ["--file", options.file] if options.file else []


def gradus(options, *arguments, threads=None):
    """What gradus-bench says, with OpenBLAS left to choose its kernels."""
    command = [str(options.gradus), *arguments, "--threads", str(threads or options.threads), "--json", *names(options)]
    done = subprocess.run(command, env=clean_environment(options.threads), capture_output=True, text=True, check=False,
                          preexec_fn=realtime if options.realtime else None)
    if done.returncode:
        sys.exit(f"compare.py: {' '.join(command)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def folded(results):
    """Rounds of one thing: the median of their medians, the least of their minima."""
    return results and {**results[-1], "median_ms": statistics.median(r["median_ms"] for r in results), "min_ms": min(r["min_ms"] for r in results),
            "repeats": sum(r["repeats"] for r in results)}


def torch_processes(name, options, notes):
    ready = {}
    for mode in modes(name):
        if not options.torch or (mode == "compile" and not options.compile):
            continue
        process = Torch(name, mode, options)
        told = process.answer(options.compile_timeout)
        if told:
            ready[mode] = process
            process.told = told
        else:
            process.stop()
            notes.append(f"{name}: PyTorch ({mode}) did not run, or was not ready within {options.compile_timeout:g} s")
    return ready


def compare(name, options):
    notes, own, scalar, floors = [], [], [], []
    torch = torch_processes(name, options, notes)
    for _ in range(options.rounds):
        own.append(gradus(options, "--workload", name, "--seconds", str(options.seconds)))
        for process in torch.values():
            process.run(options.seconds)
        if name == "microgpt":
            scalar.append(gradus(options, "--workload", "microgpt_scalar", "--seconds", str(options.seconds)))
        if name in WITH_PRODUCTS:
            floors.append(gradus(options, "--floor", name, "--seconds", str(options.seconds / 2)))
    for process in torch.values():
        process.stop()
        if process.told["parameters"] != own[0]["parameters"]:
            sys.exit(f"compare.py: {name} has {own[0]['parameters']} parameters in Gradus, {process.told['parameters']} in PyTorch")
    return judged({"name": name, "gradus": folded(own), "torch": {mode: folded(p.results) for mode, p in torch.items()}, "scalar": folded(scalar),
                   "floor": folded(floors), "notes": notes, "faster_wanted": FASTER[name], "floor_wanted": FLOOR.get(name)})


def judged(r):
    """Adds the ratios of medians, and whether they are what is wanted (None where there is nothing to compare with)."""
    rivals = [r["scalar"]] if r["scalar"] else list(r["torch"].values())
    met = []
    if rivals:
        r["faster"] = min(x["median_ms"] for x in rivals) / r["gradus"]["median_ms"]
        met.append(r["faster"] >= r["faster_wanted"])
    if r["floor"]:
        r["over_floor"] = r["gradus"]["median_ms"] / r["floor"]["median_ms"]
        if r["floor_wanted"]:
            met.append(r["over_floor"] <= r["floor_wanted"])
    r["met"] = all(met) if rivals else None
    return r


def number(x):
    return "" if x is None else f"{x:.3f}" if x < 1 else f"{x:.2f}" if x < 100 else f"{x:.0f}"


def cells(r):
    def pair(x):
        return f"{number(x['median_ms'])} ({number(x['min_ms'])})" if x else ""
    wanted = f"{r['faster_wanted']:g}" + (f" (tape: {number(r['scalar']['median_ms'])})" if r["scalar"] else "") + (f", floor x {r['floor_wanted']:g}" if r["floor_wanted"] else "")
    return [r["name"], pair(r["gradus"]), *(pair(r["torch"].get(mode)) for mode in ("eager", "fused", "compile")), number(r.get("faster")), wanted,
            pair(r["floor"]), number(r.get("over_floor")), {True: "yes", False: "no", None: ""}[r["met"]]]


HEAD = ["workload", "Gradus", "torch eager", "fused", "compile", "faster", "wanted", "BLAS floor", "x floor", "met"]


def markdown(results):
    lines = ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    return "\n".join(lines + ["| " + " | ".join(cells(r)) + " |" for r in results]) + "\n"


def show(cell_row):
    widths = [25, 16, 16, 16, 16, 7, 17, 16, 7, 3]
    print("  ".join(f"{c:<{w}}" if i in (0, 6) else f"{c:>{w}}" for i, (c, w) in enumerate(zip(cell_row, widths))), flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="NAME", action="append", help="this workload alone (may be repeated)")
    parser.add_argument("--seconds", type=float, default=1, help="of each measurement (default 1)")
    parser.add_argument("--rounds", type=int, default=3, help="how often Gradus and PyTorch take turns (default 3)")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of both (default: all cores)")
    parser.add_argument("--gradus", default=HERE.parent / "build/release/bin/gradus-bench", help="the gradus-bench to run")
    parser.add_argument("--no-compile", dest="compile", action="store_false", help="leave torch.compile out")
    parser.add_argument("--no-torch", dest="torch", action="store_false", help="leave PyTorch out")
    parser.add_argument("--compile-timeout", type=float, default=300, help="seconds to wait for torch.compile (default 300)")
    parser.add_argument("--realtime", action="store_true", help="measure ahead of other processes (SCHED_FIFO; needs root)")
    parser.add_argument("--file", help="names, one a line, for microgpt (default: made up)")
    parser.add_argument("--json", action="store_true", help="print one JSON value instead of the table")
    parser.add_argument("--markdown", metavar="F", help="write the table there, too")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    return parser


def compare_all(options, chosen):
    if options.torch and not importlib.util.find_spec("torch"):
        print("compare.py: no PyTorch beside this Python; its columns stay empty (pip install torch==2.13.0)", file=sys.stderr)
        options.torch = False
    if not options.json:
        print(f"milliseconds: median (minimum) of {options.rounds} x {options.seconds:g} s, {options.threads} threads")
        show(HEAD)
    results = []
    for name in chosen:
        results.append(compare(name, options))
        if not options.json:
            show(cells(results[-1]))
            for note in results[-1]["notes"]:
                print("  " + note)
    return results


def main():
    options = arguments().parse_args()
    if options.worker:
        return work(*options.worker, options)
    chosen = options.only or list(FASTER)
    for name in chosen:
        if name not in FASTER:
            sys.exit(f"compare.py: no workload '{name}'; there are {', '.join(FASTER)}")
    results = compare_all(options, chosen)
    if options.json:
        print(json.dumps(results))
    if options.markdown:
        pathlib.Path(options.markdown).write_text(markdown(results), encoding="utf-8")
    return None


if __name__ == "__main__":
    main()
