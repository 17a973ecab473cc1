import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isCodedError } from "../../../src/engine/values/errors.ts";
import {
  createKernelSelection,
  type KernelSelectionRequest,
  ncuKernelPattern,
  topKernelNames,
} from "../../../src/profiler/analysis/kernel-selection.ts";
import {
  functionNameIn,
  parseKernelPattern,
} from "../../../src/report/selection/kernel-pattern.ts";
import { runs } from "../../runs.ts";

const request = (some: Partial<KernelSelectionRequest>): KernelSelectionRequest => ({
  include: [],
  exclude: [],
  nameBase: "demangled",
  top: null,
  ...some,
});
const KERNELS = [
  "void gemm<float, 4>(float *, int)",
  "void ns::relu(float *)",
  "memset_kernel(int *)",
];
const kept = (some: Partial<KernelSelectionRequest>) => {
  const selection = createKernelSelection(request(some));
  const names = KERNELS.filter((kernelName) => selection?.keep({ kernelName }) ?? true);
  return { names: names.map(functionNameIn), notes: selection?.notes() ?? [] };
};

describe("a kernel selection", () => {
  test.each([
    [{}, ["gemm", "relu", "memset_kernel"]],
    [{ include: ["memset_kernel(int *)"] }, ["memset_kernel"]],
    [{ include: ["memset_kernel"] }, []],
    [{ include: ["memset_kernel"], nameBase: "function" as const }, ["memset_kernel"]],
    [{ include: ["*gemm*"] }, ["gemm"]],
    [{ include: ["gemm*"], nameBase: "function" as const }, ["gemm"]],
    [{ include: ["regex:re.u|gemm"] }, ["gemm", "relu"]],
    [{ exclude: ["regex:^memset"] }, ["gemm", "relu"]],
    [{ include: ["*"], exclude: ["*relu*"] }, ["gemm", "memset_kernel"]],
    [{ include: ["*relu*"], exclude: ["*relu*"] }, []],
    [{ top: ["memset_kernel(int*)"] }, ["memset_kernel"]],
  ])("%j keeps %j", (some, names) => {
    expect(kept(some).names).toEqual(names);
  });

  test("says which rules match nothing, and what the names are", () => {
    const { notes } = kept({ include: ["*gemm*", "nope"], exclude: ["regex:zzz"] });
    expect(notes).toHaveLength(3);
    expect(notes[0]).toBe(
      "kernels counted: only *gemm*, nope; without regex:zzz (demangled names)",
    );
    expect(notes[1]).toContain("kernel_name: 'nope' matches no kernel");
    expect(notes[1]).toContain("void ns::relu(float *)");
    expect(notes[2]).toContain("kernel_exclude: 'regex:zzz' matches no kernel");
    expect(kept({ include: ["nope"] }).notes).toContain("the kernel selection leaves no kernel");
    expect(kept({ include: ["*"] }).notes).toEqual(["kernels counted: only * (demangled names)"]);
  });

  test("takes a rule for matched whose kernels another rule has, too", () => {
    const { notes } = kept({
      include: ["*gemm*", "void gemm*"],
      exclude: ["*relu*", "void ns::*"],
    });
    expect(notes).toEqual([
      "kernels counted: only *gemm*, void gemm*; without *relu*, void ns::* (demangled names)",
    ]);
  });

  test("knows the longest kernels by mangled names, too, as recordings without a demangler have them", () => {
    const selection = createKernelSelection(request({ top: ["_Z4gemmPf"] }));
    expect(selection?.keep({ kernelName: "gemm(float *)", mangledName: "_Z4gemmPf" })).toBe(true);
    expect(selection?.keep({ kernelName: "relu(float *)", mangledName: "_Z4reluPf" })).toBe(false);
  });

  test("matches mangled names where there are some, and says where there are none", () => {
    const selection = createKernelSelection(
      request({ include: ["_Z4gemmPf"], nameBase: "mangled" }),
    );
    expect(selection?.keep({ kernelName: "gemm(float *)", mangledName: "_Z4gemmPf" })).toBe(true);
    expect(selection?.notes()).toHaveLength(1);
    expect(selection?.keep({ kernelName: "gemm(float *)" })).toBe(false);
    expect(selection?.notes().join()).toContain("no mangled names");
  });

  test("tests expressions that could take exponential time at once", () => {
    const { matches } = parseKernelPattern("regex:^(a+)+$", "the.key");
    expect(["a".repeat(57), `${"a".repeat(57)}!`].map(matches)).toEqual([true, false]);
  });

  test("refuses an expression whose time has no bound", () => {
    expect(() => parseKernelPattern("regex:(a)\\1", "the.key")).toThrow(
      "the.key: 'regex:(a)\\1' cannot be matched in a bounded time: it has a back reference, \\1",
    );
  });

  test("refuses an expression that is none, with its key", () => {
    try {
      parseKernelPattern("regex:(", "the.key");
      expect.unreachable();
    } catch (error) {
      expect(isCodedError(error) && error.details).toMatchObject({
        code: "profile.input",
        key: "the.key",
        message: expect.stringContaining("'regex:(' is not a JavaScript regular expression"),
      });
    }
  });

  test("takes any name for itself", () => {
    fc.assert(
      fc.property(fc.string(), (name) => {
        fc.pre(!name.startsWith("regex:"));
        expect(parseKernelPattern(name, "k").matches(name)).toBe(true);
      }),
      { numRuns: runs(200) },
    );
  });
});

test.each([
  ["matrix_addition2D(float *, float *)", "matrix_addition2D"],
  ["void at::native::vectorized_kernel<4, at::native::Fill<int>>(int, T2)", "vectorized_kernel"],
  ["void <unnamed>::k<(int)3>(T1)", "k"],
  ["void (anonymous namespace)::softmax<float>(float *)", "softmax"],
  ["ampere_sgemm_128x64_nn", "ampere_sgemm_128x64_nn"],
  ["void (anonymous)::k(int)", "k"],
  ["outer<int>::inner<float>(int)", "inner"],
  ["a<b>c(int)", "ac"],
  ["S::operator->(int)", "operator->"],
  ["(int)", "(int)"],
  ["void k<", "k"],
  ["", ""],
])("the function of %s is %s", (demangled, name) => {
  expect(functionNameIn(demangled)).toBe(name);
});

test.each([
  ["gemm", "gemm"],
  ["regex:ge.m", "regex:ge.m"],
  ["*gemm<float, ?>", "regex:^.*gemm<float, .>$"],
  ["k(int *)", "regex:^k\\(int .*\\)$"],
])("%s is %s for ncu, which knows no globs", (pattern, native) => {
  expect(ncuKernelPattern(pattern)).toBe(native);
});

test("the longest kernels come first, copies apart", () => {
  const at = (name: string, ns: number, kind?: "memcpy") => ({
    name,
    ...(kind && { kind }),
    device: 0,
    stream: 0,
    launchThreadId: 1,
    launchNs: 0,
    startNs: 0,
    endNs: ns,
  });
  const recordingOf = (...kernels: readonly ReturnType<typeof at>[]) => ({
    collector: "nsys",
    clock: "c",
    originNs: 0n,
    notes: [],
    processes: [
      {
        pid: 1,
        parentPid: null,
        executable: "p",
        startNs: 0,
        endNs: 9,
        finished: true,
        ranges: [],
        marks: [],
        kernels,
        notes: [],
      },
    ],
  });
  const one = recordingOf(at("a", 5), at("b", 4), at("b", 4), at("copy", 99, "memcpy"), at("c", 1));
  expect(topKernelNames([one], 2)).toEqual(["b", "a"]);
  // Longest over all recordings, each name once, whichever it was longest in.
  const other = recordingOf(at("c", 9), at("a", 1), at("d", 7));
  expect(topKernelNames([one, other], 3)).toEqual(["c", "b", "d"]);
  expect(topKernelNames([one, one], 3)).toEqual(["b", "a", "c"]);
});
