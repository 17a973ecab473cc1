import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sqlite from "node-sqlite3-wasm";
import { describe, expect, it, test } from "vitest";
import { createKernelSelection } from "../../../src/profiler/analysis/kernel-selection.ts";
import { comparableName } from "../../../src/report/selection/kernel-pattern.ts";
import { samplesOrSkip } from "../../shared.ts";

/** What the C++ library says, and what NVIDIA's demangler says, of the same kernel. */
const SAME: readonly (readonly [string, string])[] = [
  [
    "void hydraconf::cuda::(anonymous namespace)::convolution_3x3<float, 64u, 32u>(float const*, float const*)",
    "void hydraconf::cuda::<unnamed>::convolution_3x3<float, (unsigned int)64, (unsigned int)32>(const T1 *, const T1 *)",
  ],
  ["void gemm<float, true, -3>(float*)", "void gemm<float, (bool)1, (int)-3>(T1 *)"],
  ["void k<float const*, 2ul>(int)", "void k<const float *, (unsigned long)2>(int)"],
  ["relu(float*)", "relu(float *)"],
  ["unsigned long long ns::f<int>(int)", "unsigned long long ns::f<int>(T1)"],
  ["sm90_xmma_fprop_tilesize64x64", "sm90_xmma_fprop_tilesize64x64"],
];

const DIFFERENT: readonly (readonly [string, string])[] = [
  ["void gemm<float, 64u>(float*)", "void gemm<float, (unsigned int)32>(T1 *)"],
  ["void gemm<float>(float*)", "void gemm<__half>(T1 *)"],
  ["void a::k<1>()", "void b::k<(int)1>()"],
  ["void k<unsigned int>()", "void k<int>()"],
];

describe("comparableName", () => {
  test.each(SAME)("%s", (ours, theirs) => {
    expect(comparableName(theirs)).toBe(comparableName(ours));
    expect(comparableName(ours)).not.toBe("");
  });
  test.each(DIFFERENT)("%s is not %s", (ours, theirs) => {
    expect(comparableName(theirs)).not.toBe(comparableName(ours));
  });

  it("brings together what two demanglers say of the kernels of a real recording", () => {
    const sample = samplesOrSkip("the kernels of a real recording");
    if (sample === null) return;
    // A copy: the library writes its lock beside a database, and the shared folder may be mounted read-only.
    const file = join(mkdtempSync(join(tmpdir(), "names-")), "export.sqlite");
    copyFileSync(sample("pub-nsysai-h100-2gpu-2026.2-schema3.25.sqlite"), file);
    const database = new sqlite.Database(file, { readOnly: true });
    const rows = database.all(
      `SELECT DISTINCT d.value AS demangled, m.value AS mangled FROM CUPTI_ACTIVITY_KIND_KERNEL k
       JOIN StringIds d ON d.id = k.demangledName JOIN StringIds m ON m.id = k.mangledName`,
    ) as unknown as { demangled: string; mangled: string }[];
    database.close();
    const { stdout, error } = spawnSync("c++filt", {
      input: rows.map(({ mangled }) => mangled).join("\n"),
      encoding: "utf8",
    });
    if (error !== undefined) {
      console.warn("SKIPPED the kernels of a real recording: no c++filt on this machine");
      return;
    }
    const ours = stdout.trim().split("\n");
    expect(rows.length).toBeGreaterThan(20);
    const unlike = rows.flatMap(({ demangled }, i) =>
      comparableName(demangled) === comparableName(ours[i] ?? "") ? [] : [[demangled, ours[i]]],
    );
    expect(unlike).toEqual([]);
    // Not by leaving out too much: still as many kernels as functions and template arguments tell apart.
    expect(new Set(ours.map(comparableName)).size).toBe(new Set(ours).size);
  });
});

it("a selection of the recorder's longest kernels finds them among ncu's", () => {
  const [ours, theirs] = SAME[0] ?? ["", ""];
  const selection = createKernelSelection({
    ...{ include: [], exclude: [], nameBase: "demangled", top: [ours] },
  });
  expect(selection?.keep({ kernelName: theirs })).toBe(true);
  expect(selection?.keep({ kernelName: "void other<float>(T1 *)" })).toBe(false);
});
