"""How fast it is, what the recorder costs, and what compute-sanitizer finds."""

import os

from gpu.nsys import OPTIONS as NSYS_OPTIONS
from gpu.nsys import usable_nsys
from gpu.program import SPEED, sizes_flags, sizes_text, variants, warm_up_passes
from gpu.report import Failed, Skipped, first_line
from gpu.run import complaint, find_tool, run


# Kernels so short that launching them as graphs can make a difference, and so long that they show what the GPU can do.
SHORT = SPEED[0]
LONG = SPEED[4]


def speed_checks(program):
    variants_here = variants(program.library)
    float32 = variants_here[0]
    wanted = [(sizes, float32, []) for sizes in SPEED]
    wanted += [(sizes, variant, []) for variant in variants_here[1:] for sizes in (SHORT, LONG)]
    wanted += [(SHORT, variant, ["--cuda-graph"]) for variant in variants_here[:2]]
    for sizes, (variant, flags, _), graph in wanted:
        what = f"{program.library} {sizes_text(sizes)} {variant}{' graph' if graph else ''}"
        yield what, lambda s=sizes, f=[*flags, *graph]: check_speed(program, s, f)


def check_speed(program, sizes, flags):
    args = [*sizes_flags(*sizes), "--warmup", warm_up_passes(sizes), "--iterations", 50, "--peaks"]
    document = program.document([*program.gpu, *args, *flags])
    rate = document["gflops_per_second"]
    peak = document["peaks"]["gflops_per_second"]
    share = f", {100 * rate / peak:.1f} % of {peak:.0f} GFLOP/s" if peak else ""
    return f"{document['timings_ms']['median']:.3f} ms, {rate:.0f} GFLOP/s{share}"


ROUNDS = 3
NSYS_ROUNDS = 2


def check_overhead(program, library, sizes):
    """Median time of a pass alone, with ranges recorded, with kernels recorded, and under nsys, in turn."""
    # Short passes often, long ones as often as a tenth of the time allows.
    iterations = 1000 if sizes == SPEED[0] else 200
    args = [*program.gpu, *sizes_flags(*sizes), "--warmup", warm_up_passes(sizes), "--iterations", iterations]
    recorder = {
        "NVTX_INJECTION64_PATH": library,
        "CUDA_INJECTION64_PATH": library,
        # Of tens of thousands of launches: nobody keeps them.
        "HYDRACONF_RECORDER_DIR": os.path.join(program.folder, "overhead"),
    }
    nsys = usable_nsys()[:1]
    under = [*nsys, "profile", *NSYS_OPTIONS, "-o", os.path.join(program.folder, "overhead-nsys")]
    ways = {
        "alone": ({}, ()),
        "ranges": ({**recorder, "HYDRACONF_RECORDER_GPU": "off"}, ()),
        "kernels": (recorder, ()),
        **({"nsys": ({}, under)} if nsys else {}),
    }
    times = {name: [] for name in ways}
    problems = []
    for turn in range(ROUNDS):
        for name, (env, tool) in list(ways.items()):
            # Starting it takes as long as all the others.
            if name == "nsys" and turn >= NSYS_ROUNDS:
                continue
            try:
                times[name].append(program.document(args, env=env, under=tool)["timings_ms"]["median"])
            except (Failed, ValueError) as problem:
                if name != "nsys":
                    raise
                problems.append(f"; nsys: {first_line(problem)[:100]}")
                del ways[name], times[name]
    best = {name: min(values) for name, values in times.items()}
    launches = 4 + 5 * sizes[3]  # stem 2, each block 5, head 2
    ranges = 3 + 2 * sizes[3]  # stem, residual, head, and two of each block
    told = [f"a pass of {launches} launches in {ranges} ranges alone {best['alone']:.4f} ms"]
    for name in [name for name in best if name != "alone"]:
        cost = best[name] - best["alone"]
        count, of_what = (ranges, "range") if name == "ranges" else (launches, "launch")
        each = f"{1e3 * cost / count:+.2f} us per {of_what}"
        told.append(f"with {name} {best[name]:.4f} ms ({100 * cost / best['alone']:+.1f} %, {each})")
    return "; ".join(told) + "".join(problems)


def sanitizer_checks(program):
    for tool in ("memcheck", "racecheck", "synccheck", "initcheck"):
        yield f"{program.library} {tool}", lambda t=tool: check_sanitizer(program, t)


def check_sanitizer(program, tool):
    sanitizer = find_tool("compute-sanitizer", "/usr/local/cuda*/*/compute-sanitizer")
    if sanitizer is None:
        raise Skipped("no compute-sanitizer")
    args = [*sizes_flags(2, 3, 17, 1, 9), *program.gpu, "--batch-norm", "batch"]
    command = [sanitizer, "--tool", tool, "--error-exitcode", "9", program.path, *args]
    result = run(command, 90, check=False, log=program.log)
    text = result.stdout + result.stderr
    if result.returncode != 0 or ("ERROR SUMMARY: 0 errors" not in text and tool != "racecheck"):
        raise Failed(f"exit {result.returncode}: {complaint(result)}\n{text[-3000:]}")
    return text.strip().split("\n")[-1]
