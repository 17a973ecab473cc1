import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { modelOf } from "../../src/profiler/tools/counters/counter-values.ts";
import { REQUEST_LIMITS } from "../../src/profiler/tools/counters/request.ts";
import { createSelector } from "../../src/report/selection/range-pattern.ts";
import {
  type Counted,
  type Counting,
  countingGpu,
  countRanges,
  forget,
  METRICS,
} from "./count-ranges.ts";
import { fakeGpu } from "./fake-gpu.ts";
import { availableClients, buildFixture, cuptiInclude } from "./fixtures.ts";

// The recorder reads counters of ranges from a pretended CUPTI that holds it to the header's rules.

const canBuild = availableClients("counters of ranges").length > 0;

/** Runs a script that has to go well: CUPTI's rules are kept, and the program is not disturbed. */
async function counted(script: string, counting: Counting = {}): Promise<Counted> {
  const found = await countRanges(script, counting);
  expect(found.violations).toBe("");
  expect(found.outcome).toEqual({ code: 0, stdout: "done" });
  return found;
}

const failuresOf = ({ processes }: Counted) =>
  processes.flatMap(({ failures }) => failures.map(({ text }) => text));

/** What a report says where this was the last run. */
const notesAfter = ({ directory }: Counted) =>
  modelOf(
    {
      ...{ chip: "XX100", metrics: METRICS, passes: 1 },
      levels: [{ level: 0, recordings: "", files: {} }],
    },
    {
      ...{ directory, aggregate: true, recorded: null, operationDomains: [] },
      selection: { include: [], exclude: [] },
    },
  ).notes;

/** What each launch of a script should count for, without CUPTI: kernels and nanoseconds by path. */
function expected(script: string, { level = 0, selection, operationDomains = [] }: Counting) {
  const selector = createSelector(selection ?? { include: [], exclude: [] });
  const stacks = new Map<string, { domain: string; name: string }[]>();
  const sums = new Map<string, [number, number]>();
  for (const [thread = "", what = "", ...rest] of script.split(" ")) {
    const stack = stacks.get(thread) ?? [];
    stacks.set(thread, stack);
    const text = rest.join("");
    if (what === ">" || what === "@")
      stack.push({ domain: what === "@" ? "other" : "", name: text });
    else if (what === "<" || what === ".") {
      const at = stack.findLastIndex(({ domain }) => domain === (what === "." ? "other" : ""));
      if (at >= 0) stack.splice(at, 1);
    } else if ("kKc".includes(what)) {
      const measured = stack.flatMap(({ domain }, at) => {
        const open = stack.slice(0, at + 1);
        const isIncluded = open.some((range) => selector.includes(range.domain, range.name));
        const isExcluded = open.some((range) => selector.excludes(range.domain, range.name));
        return isIncluded && !isExcluded && !operationDomains.includes(domain) ? [at] : [];
      });
      const at = level === 0 ? measured.at(-1) : measured[level - 1];
      if (at === undefined) continue;
      const path = stack
        .slice(0, at + 1)
        .map(({ domain, name }) => (domain === "" ? name : `${domain}@${name}`));
      const [kernels, ns] = sums.get(path.join("/")) ?? [0, 0];
      sums.set(
        path.join("/"),
        what === "c" ? [kernels, ns + 10] : [kernels + 1, ns + Number(text)],
      );
    }
  }
  return sums;
}

const STEPS = fc.array(
  fc.tuple(
    fc.constantFrom("0", "0", "0", "1", "2"),
    fc.oneof(
      fc.constantFrom(">a", ">b", ">c1", ">é", "@a", "@b"),
      fc.constantFrom("<", "<", "."),
      fc.constantFrom("k1", "k20", "k300", "K4000", "c", "s"),
      fc.constantFrom("k50", "r"),
    ),
  ),
  { maxLength: 40 },
);

const COUNTING: fc.Arbitrary<Counting> = fc.record({
  level: fc.constantFrom(0, 0, 1, 2, 3),
  selection: fc.record({
    include: fc.subarray(["a", "*", "?1", "other@*", "\\é", "@b"], { maxLength: 2 }),
    exclude: fc.subarray(["b", "c*", "other@b"], { maxLength: 1 }),
  }),
  operationDomains: fc.subarray(["other"]),
});

const scriptOf = (steps: readonly (readonly [string, string])[]): string =>
  steps.map(([thread, step]) => `${thread}${step}`).join(" ");

describe.runIf(canBuild)("counters of ranges", () => {
  test("each launch counts in the innermost range of its thread, whatever is nested or in another context", async () => {
    const script = "0>a 0k100 0>b 0k10 0K20 0< 0k7 0< 0k5 0>c 0k3 0r 0k4 0<";
    const found = await counted(script);
    expect([...found.values]).toEqual([
      ["a", [2, 107]],
      ["a/b", [2, 30]],
      ["c", [2, 7]],
    ]);
    // One of each context, and a further one where the context was made anew.
    expect(found.processes[0]?.files.size).toBe(3);
    forget(found);
  });

  test("of a level, each range counts with all in it", async () => {
    const script = "0>a 0k100 0>b 0k10 0< 0k7 0< 0>c 0k3 0<";
    const first = await counted(script, { level: 1 });
    expect([...first.values]).toEqual([
      ["a", [3, 117]],
      ["c", [1, 3]],
    ]);
    const second = await counted(script, { level: 2 });
    expect([...second.values]).toEqual([["a/b", [1, 10]]]);
    expect(second.processes[0]?.depth).toBe(2);
    forget(first, second);
  });

  test("a range that has no launch is none for CUPTI", async () => {
    const found = await counted("0>a 0>b 0< 0s 0< 0>c 0k3 0<");
    expect(found.processes[0]?.measurements).toHaveLength(1);
    forget(found);
  });

  test("the end of a range that is not measured is not late for the counters", async () => {
    const found = await counted("0>a 0k1 0w 0K5 0<");
    expect([...found.values]).toEqual([["a", [2, 6]]]);
    expect(found.processes[0]?.tally).toMatchObject({ lateEnds: 0, missedLaunches: 0 });
    forget(found);
  });

  test("whatever the program does, its launches count where they belong, and CUPTI's rules are kept", async () => {
    await fc.assert(
      fc.asyncProperty(STEPS, COUNTING, async (steps, counting) => {
        const script = scriptOf(steps);
        const found = await counted(script, counting);
        expect(new Map(found.values)).toEqual(expected(script, counting));
        expect(failuresOf(found)).toEqual([]);
        forget(found);
      }),
      { numRuns: 60 },
    );
  }, 120_000);

  const FUNCTIONS = [
    ...["ProfilerInitialize", "ProfilerDeviceSupported", "DeviceGetChipName", "GetDeviceId"],
    ...["Enable", "GetCounterDataSize", "CounterDataImageInitialize", "SetConfig", "Start"].map(
      (name) => `RangeProfiler${name}`,
    ),
    ...["PushRange", "PopRange", "Stop", "DecodeData", "Disable"].map(
      (name) => `RangeProfiler${name}`,
    ),
  ];

  test("every call that fails is told, and nothing is called out of order after it", async () => {
    for (const name of FUNCTIONS) {
      const found = await counted("0>a 0k100 0>b 0k10 0< 0K7 0< 0r 0>c 0k1 0<", {
        env: { FAKE_CUPTI_FAIL: `${name}=35` },
      });
      expect(failuresOf(found)[0], name).toBe(`cupti${name}: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES`);
      forget(found);
    }
  }, 60_000);

  test("so is one that fails later, and what came before it is kept in its own file", async () => {
    await fc.assert(
      fc.asyncProperty(
        STEPS,
        fc.constantFrom(...FUNCTIONS.filter((name) => name !== "GetDeviceId")),
        fc.nat({ max: 4 }),
        async (steps, name, nth) => {
          const env = { FAKE_CUPTI_FAIL: `${name}/${nth}=7` };
          const found = await counted(scriptOf(steps), { env });
          for (const [path, [kernels]] of found.values)
            expect(expected(scriptOf(steps), {}).get(path)?.[0]).toBeGreaterThanOrEqual(kernels);
          forget(found);
        },
      ),
      { numRuns: 40 },
    );
  }, 120_000);

  test.each([
    ["virtual_gpu", "the virtual GPU does not allow profiling"],
    ["architecture", /too old for counters/],
    ["other", "CUPTI does not support these counters on this GPU"],
  ])("a device without counters is told: %s", async (field, text) => {
    const found = await counted("0>a 0k1 0<", { env: { FAKE_CUPTI_SUPPORT: field } });
    expect(failuresOf(found)).toEqual([expect.stringMatching(text)]);
    expect(found.values.size).toBe(0);
    forget(found);
  });

  test("so is a chip without a configuration, a size that cannot be, an older CUPTI", async () => {
    const chip = await counted("0>a 0k1 0<", { env: { FAKE_CHIP: "YY200" } });
    expect(failuresOf(chip)).toEqual(["there is no configuration of counters for chip YY200"]);
    const size = await counted("0>a 0k1 0<", { env: { FAKE_CUPTI_LIES: "size" } });
    expect(failuresOf(size)).toEqual([expect.stringMatching(/tells of no size that can be right/)]);
    const gpu = await fakeGpu(["-DcuptiRangeProfilerEnable=cuptiSomethingElse"]);
    const { cupti } = gpu;
    const env = { HYDRACONF_CUPTI_PATH: cupti };
    const older = await counted("0>a 0k1 0<", { env });
    expect(failuresOf(older)).toEqual([
      "this CUPTI has no Range Profiler, which came with CUDA 12.6",
    ]);
    forget(chip, size, older);
  });

  test("two passes share an image; a program that does something else in the second is told", async () => {
    const script = "0>a 0k100 0< 0>b 0k10 0<";
    const env = { FAKE_HOST_PASSES: "2" };
    const first = await counted(script, { passes: 2, env });
    expect(first.processes[0]?.files.get("device-0-0.counters")?.complete).toEqual({
      ...{ ranges: 2, dropped: 0, isLastPass: false },
    });
    const second = await counted(script, { passes: 2, after: [first], env });
    expect(second.processes[0]?.files.get("device-0-0.counters")?.complete?.isLastPass).toBe(true);
    expect(notesAfter(first)).toEqual([
      "1 file of counters had passes left to collect after the last run, as CUPTI says: values may be missing",
    ]);
    expect(notesAfter(second)).toEqual([]);
    const other = await counted("0>a 0K100 0<", { passes: 2, after: [first], env });
    expect(failuresOf(other)).toEqual(["the run for the pass before measured something else"]);
    forget(first, second, other);
  });

  test("a thousand ranges and more come in several files; none beyond the limit is measured", async () => {
    const many = Array.from({ length: 1100 }, () => "0>a 0k1 0<").join(" ");
    const all = await counted(many);
    expect(all.values.get("a")).toEqual([1100, 1100]);
    expect(all.processes[0]?.files.size).toBe(2);
    const some = await counted(many, { mostRanges: 5 });
    expect(some.values.get("a")).toEqual([5, 5]);
    expect(some.processes[0]?.tally.beyondLimit).toBe(1095);
    forget(all, some);
  });

  test("a request has room for as many patterns as its settings allow, and no more", async () => {
    const { patterns } = REQUEST_LIMITS;
    const include = Array.from({ length: patterns }, (_, at) => (at === 0 ? "a" : `other ${at}`));
    const most = await counted("0>a 0k1 0<", { selection: { include, exclude: include.slice(1) } });
    expect([...most.values]).toEqual([["a", [1, 1]]]);
    const more = await counted("0>a 0k1 0<", {
      selection: { include: [...include, "b"], exclude: [] },
    });
    expect(more.values.size).toBe(0);
    forget(most, more);
  });

  test("a request has room for as much text as its settings allow, and none for more than 1 MiB", async () => {
    const long = "x".repeat(REQUEST_LIMITS.bytes - 100);
    const most = await counted("0>a 0k1 0<", {
      selection: { include: [long, "a"], exclude: [] },
    });
    expect([...most.values]).toEqual([["a", [1, 1]]]);
    const more = await counted("0>a 0k1 0<", {
      selection: { include: ["x".repeat(1 << 20), "a"], exclude: [] },
    });
    expect(more.values.size).toBe(0);
    forget(most, more);
  });

  test("without room for the request, or with one that is damaged, nothing is counted", async () => {
    const found = await counted("0>a 0k1 0<", { env: { HYDRACONF_RECORDER_COUNTERS: "/nowhere" } });
    expect(found.processes[0]?.files.size).toBe(0);
    expect(readdirSync(found.results)).toEqual([]);
    forget(found);
  });

  test("a limit of file sizes ends the counters, not the program", async () => {
    const found = await counted("0>a 0k1 0<", {
      before: ["sh", "-c", 'ulimit -f 64; exec "$@"', "sh"],
    });
    expect(failuresOf(found)).toEqual(["what was measured could not be written"]);
    expect(statSync(join(found.results, "device-0-0.counters")).size).toBe(0);
    forget(found);
  });
});

describe.runIf(canBuild)("beside NVIDIA's headers", () => {
  const include = cuptiInclude();

  test("our description of the Range Profiler agrees with them in every place", async () => {
    if (include === null || !existsSync(join(include, "cupti_range_profiler.h"))) {
      console.warn("SKIPPED the check of cupti/range_profiler.hpp: no cupti_range_profiler.h");
      return;
    }
    // Its static assertions are the test.
    const flags = ["-c", "-isystem", include];
    const built = buildFixture("range_profiler_check.cc", "nvtx3 headers", flags);
    await expect(built).resolves.toBeTruthy();
    await countingGpu();
  });
});
