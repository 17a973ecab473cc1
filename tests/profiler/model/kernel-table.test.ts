import fc from "fast-check";
import { expect, it } from "vitest";
import {
  createKernelTable,
  type ExecutedKernel,
} from "../../../src/profiler/model/kernel-table.ts";
import type { KernelInstance } from "../../../src/profiler/model/timeline.ts";
import { runs } from "../../runs.ts";

const id = fc.nat(0xfffffffe);
const time = fc.integer({ min: -1000, max: 2 ** 52 });

const executed: fc.Arbitrary<ExecutedKernel> = fc
  .record(
    {
      kind: fc.constantFrom("kernel" as const, "memcpy" as const, "memset" as const),
      name: fc.string({ maxLength: 5 }),
      device: id,
      context: id,
      stream: fc.option(id),
      startNs: time,
      endNs: time,
      bytes: fc.nat(2 ** 31),
      correlation: id,
      graph: fc.record(
        { id, node: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }) },
        { noNullPrototype: true },
      ),
    },
    {
      requiredKeys: ["kind", "name", "device", "stream", "startNs", "endNs"],
      noNullPrototype: true,
    },
  )
  .map((kernel) => kernel as ExecutedKernel);
const launch = fc.record({ launchThreadId: fc.option(id), launchNs: fc.integer({ max: 20 }) });

it("gives back what was added, in order of launches, equal ones as they were added", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(executed, launch), { maxLength: 3000, size: "max" }),
      (kernels) => {
        const table = createKernelTable();
        for (const [kernel] of kernels) table.add(kernel);
        let next = 0;
        const list = table.finish((correlation, startNs, endNs) => {
          const [kernel, of] = kernels[next++] as (typeof kernels)[number];
          expect([correlation, startNs, endNs]).toEqual([
            kernel.correlation ?? null,
            kernel.startNs,
            kernel.endNs,
          ]);
          return { ...of, startNs: startNs + 1, endNs: endNs + 2 };
        });
        const expected = kernels
          .map(([kernel, of]): KernelInstance => {
            const { startNs, endNs } = kernel;
            return { ...kernel, ...of, startNs: startNs + 1, endNs: endNs + 2 };
          })
          .sort((a, b) => a.launchNs - b.launchNs);
        expect([...list]).toStrictEqual(expected);
        expect(list.length).toBe(kernels.length);
        expect([list.at(0), list.at(kernels.length)]).toEqual([expected[0], undefined]);
      },
    ),
    { numRuns: runs(15) },
  );
});
