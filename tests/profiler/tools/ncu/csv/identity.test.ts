import { describe, expect, it } from "vitest";
import {
  parsePushPopCell,
  parseStartEndCell,
} from "../../../../../src/profiler/tools/ncu/csv/identity.ts";
import { growth } from "../../../../growth.ts";

const ranges = (...entries: string[]) =>
  parsePushPopCell(`1111  ${entries.map((entry) => `""${entry}""`).join("  ")} `);

describe("an entry of an NVTX cell", () => {
  it.each([
    ["d:a:none:none:none:none:none:none", "a"],
    ["d:a:b:Uint64:42:RGB:0xff00ff:none:none", "a:b"],
    ['d:a:Json:{"x":{"y":1}}:none:none:none:none', "a"],
    ['d:a:Json:{"x":":none:none:"}:RGB:0x12:ASCII:text: with: colons', "a"],
    ["d:a:JsonRegistered::none:none::invalid handle", "a"],
    ["d:a:Float:1.5:none:none:REGISTERED:many:colons:here", "a"],
    ["d:a:Json:of another kind", "a:Json:of another kind"],
    ["d:a", "a"],
  ])("%s", (entry, name) => {
    expect(ranges(entry)).toEqual([{ domain: "d", name }]);
  });

  it.each([":Json:none:none", ":none:none:none:none:ASCI", ":Uint64:1:RGB:0x12"])(
    "takes no longer where its name repeats %s",
    async (part) => {
      const read = (times: number) => ranges(`d:a${part.repeat(times)}:x:!:`);
      expect(await growth(read, 1000)).toBeLessThan(40);
    },
  );
});

it("start/end ranges stand in the order of their numbers, which is that of opening", () => {
  const entry = (id: number, name: string) =>
    `""${id}:<default domain>:${name}:none:none:none:none:none:none""`;
  const cell = ` ${[entry(10, "third"), entry(0, "first"), entry(3, "second")].join("  ")} `;
  expect(parseStartEndCell(cell).map(({ name }) => name)).toEqual(["first", "second", "third"]);
});
