#!/usr/bin/env python3
"""Runs all benchmarks and writes docs/performance.md. What stands there between the marks "by hand" is kept. PyTorch is compared with where the
Python that runs this has it (pip install torch==2.13.0)."""
import datetime
import json
import os
import pathlib
import platform
import re
import subprocess
import sys

import compare

BEGIN, END = "<!-- by hand -->", "<!-- end of by hand -->"
NOTHING_YET = "Where the time goes, and what would come next: to be written here; this part is kept when the page is written again.\n"


def first(pattern, path):
    found = re.search(pattern, pathlib.Path(path).read_text(encoding="utf-8"), re.MULTILINE)
    return found.group(1).strip() if found else "unknown"


def output(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""


def caches():
    sizes = {}
    for line in output("lscpu", "--caches=NAME,ONE-SIZE").splitlines()[1:]:
        name, size = line.split()
        sizes[name] = size
    return ", ".join(f"{name} {size}" for name, size in sizes.items()) or "unknown"


def vectors():
    flags = first(r"^flags\s*:(.*)$", "/proc/cpuinfo").split()
    return next((name for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2"), ("sse4_2", "SSE4.2")) if flag in flags), "no known vectors")


def machine(blas_core):
    memory = int(first(r"^MemTotal:\s*(\d+)", "/proc/meminfo")) / 2**20
    compiler = (output("c++", "--version").splitlines() or ["unknown"])[0]
    return (f"{first('^model name.*:(.*)$', '/proc/cpuinfo')} ({vectors()}), {os.cpu_count()} cores, caches {caches()}, {memory:.0f} GiB of memory; "
            f"Linux {platform.release()}; {compiler}; OpenBLAS' kernels for {blas_core}.")


def micro(options):
    """(op, what, threads) -> microseconds."""
    program = pathlib.Path(options.gradus).with_name("gradus-microbench")
    command = [str(program), "--benchmark_format=json", f"--benchmark_min_time={min(0.05, options.seconds / 10)}"]
    done = subprocess.run(command, env=compare.clean_environment(options.threads), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=False, preexec_fn=compare.realtime if options.realtime else None)
    if done.returncode:
        sys.exit(f"report.py: {' '.join(command)} ended with {done.returncode}")
    times = {}
    unit = {"ns": 1e-3, "us": 1, "ms": 1e3}
    for b in json.loads(done.stdout)["benchmarks"]:
        found = re.fullmatch(r"(.*)/(forward|backward|composite)/threads:(\d+)/real_time", b["name"])
        key = (found[1], found[2], int(found[3])) if found else (b["name"], "", 1)
        times[key] = b["real_time"] * unit[b["time_unit"]]
    return times


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(c) for c in row) + " |" for row in rows]) + "\n"


def large_ops(times, threads):
    def cell(op, what):
        one, many = times[op, what, 1], times.get((op, what, threads))
        return f"{compare.number(one)}" + (f" · {compare.number(many)} ({one / many:.2f})" if many and threads > 1 else "")
    names = [op for op, what, n in times if what == "forward" and n == 1 and re.search(r"\d$", op) and "/" not in op]
    return table(["op", "forward", "backward, fused", "backward, composite"], [[op, *(cell(op, w) for w in ("forward", "backward", "composite"))] for op in names])


def small_ops(times):
    samples = {op: t for (op, what, n), t in times.items() if what == "forward" and n == 1 and "/" in op}
    rows = [[op, *(compare.number(times[op, w, 1]) if (op, w, 1) in times else "" for w in ("forward", "backward", "composite"))] for op in samples]
    return table(["sample", "forward", "backward, fused", "backward, composite"], rows)


def must_show(options):
    """The lines on memory, length and threads, each with what is wanted."""
    def bench(name, seconds=options.seconds, threads=None):
        return compare.gradus(options, "--workload", name, "--seconds", str(seconds), threads=threads)
    char, one = bench("gpt_char", threads=2), bench("gpt_char", threads=1)
    full, window = bench("attention_16384", 0.1), bench("attention_16384_window_256")
    scaling, ratio = one["median_ms"] / char["median_ms"], full["median_ms"] / window["median_ms"]
    blas = [compare.gradus(options, "--floor", "gpt_char", "--seconds", str(options.seconds), threads=n)["median_ms"] for n in (1, 2)]
    memory, over = char["process_peak_bytes"] / 1e6, full["bytes_over_inputs_outputs_gradients"] / 1e6
    rows = [["peak memory of gpt_char, whole process", f"{memory:.0f} MB", "at most 400 MB", memory <= 400],
            ["thread scaling of gpt_char, 1 to 2", f"{scaling:.2f} ({one['median_ms']:.0f} to {char['median_ms']:.0f} ms)", "at least 1.7", scaling >= 1.7],
            ["the same of its matrix products by OpenBLAS alone", f"{blas[0] / blas[1]:.2f} ({blas[0]:.0f} to {blas[1]:.0f} ms)", "what the machine gives", None],
            ["attention 1 x 8 x 16384 x 64: peak over inputs, outputs, gradients", f"{over:.1f} MB ({full['median_ms']:.0f} ms)", "under 300 MB", over < 300],
            ["the same with a window of 256", f"{ratio:.1f} times faster ({window['median_ms']:.0f} ms)", "at least 15", ratio >= 15]]
    return table(["what", "measured", "wanted", "met"], [[*row[:3], {True: "yes", False: "no", None: ""}[row[3]]] for row in rows])


def kept(path):
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return text.split(BEGIN)[1].split(END)[0].strip("\n") + "\n" if BEGIN in text and END in text else NOTHING_YET


def comparison(options):
    """All rows; kept beside the programs, so that --reuse can write the page again without comparing anew."""
    saved = pathlib.Path(options.gradus).with_name("comparison.json")
    if options.reuse:
        return json.loads(saved.read_text(encoding="utf-8"))
    results = compare.compare_all(options, list(compare.FASTER))
    saved.write_text(json.dumps(results), encoding="utf-8")
    return results


def page(options, path):
    results = comparison(options)
    shown, times = must_show(options), micro(options)
    torch = next((p["version"] for r in results for p in r["torch"].values() if "version" in p), None)
    rival = f"PyTorch {torch}" if torch else "PyTorch was not there: `pip install torch==2.13.0`, then `make bench PYTHON=...` with that Python"
    unmet = [r["name"] for r in results if r["met"] is False]
    verdict = "" if not torch else "\nAll of them are met.\n" if not unmet else f"\nNot met: {', '.join(unmet)}.\n"
    notes = "".join(f"\n{note}.\n" for r in results for note in r["notes"])
    per_op = [f"{times[f'overhead/elements:{n}', '', 1] / 1000:.2f} us on {n} element{'s' * (n > 1)}" for n in (1, 64)]
    return f"""# Speed

Written by `make bench` (bench/report.py) on {datetime.date.today()}. {machine(results[0]['gradus']['blas_core'])} {rival}.

## Training steps and single ops, beside PyTorch

Milliseconds, median (minimum) of {options.rounds} turns of {options.seconds:g} s each; {options.threads} threads, float32, forward and backward, for models the optimizer's step.
*faster*: the fastest of PyTorch's medians over that of Gradus; for microgpt (10,000 steps, one thread) the tape of scalars over it, on {'the names in ' + pathlib.Path(options.file).name if options.file else 'made-up names'}.
*x floor*: the median over that of plain OpenBLAS calls for the step's matrix products (on one thread or on all, whichever is faster). {'Measured ahead of other processes (SCHED_FIFO). ' if options.realtime else ''}What each workload is: `gradus-bench --list`.

{compare.markdown(results)}{verdict}{notes}
```sh
python3 bench/compare.py --seconds {options.seconds:g} --rounds {options.rounds} --threads {options.threads}   # the table
env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE build/release/bin/gradus-bench --workload gpt_nano --seconds 2 --threads 2 --json
build/release/bin/gradus-bench --floor gpt_nano
build/release/bin/gradus-microbench --benchmark_filter='softmax|overhead'
```

## Memory, length, threads

{shown}
## Where the time goes, and what would come next

{BEGIN}
{kept(path)}{END}

## Overhead

One op forward and backward in a chain of 1,000: {' and '.join(per_op)}. One op that is not recorded: {times['overhead_no_grad', '', 1]:.3f} us.

## Single ops on one thread and on {options.threads}

Microseconds on one thread · on {options.threads} (how many times faster). The fused rule is used when no graph of the gradient is asked for.

{large_ops(times, options.threads)}
<details><summary>Every op on its small samples, one thread, microseconds: mostly overhead</summary>

{small_ops(times)}
</details>
"""


def main():
    parser = compare.arguments()
    parser.description = __doc__
    parser.add_argument("--out", default=compare.HERE.parent / "docs/performance.md", help="where to (default docs/performance.md)")
    parser.add_argument("--reuse", action="store_true", help="take the comparison from the last run")
    options = parser.parse_args()
    path = pathlib.Path(options.out)
    text = page(options, path)
    path.write_text(text, encoding="utf-8")
    print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
