import fc from "fast-check";
import { expect, it } from "vitest";
import { createKernelCounts } from "../../../src/profiler/analysis/kernel-tallies.ts";

it("counts as plain maps do, each kernel of a group in order of first appearance", () => {
  const number = fc.oneof(fc.nat(5), fc.nat(5000), fc.nat(0xffffffff));
  const launch = fc.record({ group: fc.nat(3), kernel: number, ns: fc.nat(1000) });
  fc.assert(
    fc.property(fc.array(launch, { maxLength: 2000, size: "max" }), (launches) => {
      const counts = createKernelCounts();
      const plain = [0, 1, 2, 3].map(() => new Map<number, readonly [number, number]>());
      for (const { group, kernel, ns } of launches) {
        counts.add(group, kernel, ns);
        const [calls, time] = plain[group]?.get(kernel) ?? [0, 0];
        plain[group]?.set(kernel, [calls + 1, time + ns]);
      }
      const grouped = counts.byGroup();
      for (const [group, expected] of plain.entries()) {
        const found: (readonly [number, readonly [number, number]])[] = [];
        grouped.forEach(group, (kernel, calls, ns) => void found.push([kernel, [calls, ns]]));
        expect(found).toEqual([...expected]);
      }
    }),
  );
});

it("counts more kernels than it has made room for at first", () => {
  const counts = createKernelCounts();
  const kernels = Array.from({ length: 10_000 }, (_, kernel) => kernel);
  for (const group of [0, 1, 0]) for (const kernel of kernels) counts.add(group, kernel, 1);
  const found: (readonly [number, number])[] = [];
  counts.byGroup().forEach(0, (kernel, calls) => void found.push([kernel, calls]));
  expect(found).toEqual(kernels.map((kernel) => [kernel, 2]));
});

it("has nothing of a group that nothing was added to", () => {
  const counts = createKernelCounts();
  counts.add(1, 7, 10);
  const found: number[] = [];
  for (const group of [0, 2]) counts.byGroup().forEach(group, (kernel) => void found.push(kernel));
  expect(found).toEqual([]);
});
