import fc from "fast-check";
import { expect, it } from "vitest";
import { createKernelCounts, createPlaces } from "../../../src/profile/regions/kernel-counts.ts";

it("counts as plain maps do, whatever stands beside it, each kernel in order of first appearance", () => {
  const launch = fc.record({
    region: fc.nat(3),
    index: fc.oneof(fc.nat(5), fc.nat(5000)),
    ns: fc.nat(1000),
  });
  fc.assert(
    fc.property(fc.array(launch, { maxLength: 2000, size: "max" }), (launches) => {
      const places = createPlaces();
      const counts = [0, 1, 2, 3].map(() => createKernelCounts(places));
      const plain = counts.map(() => new Map<number, readonly [number, number]>());
      for (const { region, index, ns } of launches) {
        counts[region]?.add(index, 1, ns);
        const [calls, time] = plain[region]?.get(index) ?? [0, 0];
        plain[region]?.set(index, [calls + 1, time + ns]);
      }
      for (const [region, expected] of plain.entries()) {
        const found: (readonly [number, readonly [number, number]])[] = [];
        counts[region]?.forEach((index, calls, ns) => void found.push([index, [calls, ns]]));
        expect(found).toEqual([...expected]);
      }
    }),
  );
});
