import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  MAX_NAME_BYTES,
  type NamedRegion,
  regionDirectoryNames,
  regionKey,
} from "../../../src/report/index.ts";
import { COLLECTOR_FILES } from "../../../src/report/model/report-files.ts";
import { growth } from "../../growth.ts";
import { anyName } from "../bundles.ts";

const region = (...path: string[]): NamedRegion => ({ path, domain: "", kind: "push_pop" });

function namesOf(...regions: NamedRegion[]): (string | undefined)[] {
  const names = regionDirectoryNames(regions);
  return regions.map((each) => names.get(regionKey(each)));
}

const anyRegion: fc.Arbitrary<NamedRegion> = fc.record({
  path: fc.array(anyName, { minLength: 1, maxLength: 3 }),
  domain: fc.constantFrom("", "d"),
  kind: fc.constantFrom("push_pop", "start_end"),
});

describe("regionDirectoryNames", () => {
  it("keeps a safe label as it is", () => {
    expect(namesOf(region("stem"), region("f", "block.conv1"), region("漢字"))).toEqual([
      "stem",
      "block.conv1",
      "漢字",
    ]);
  });

  it("replaces what no file system should see", () => {
    expect(namesOf(region("A::A1"))).toEqual(["A__A1"]);
    expect(namesOf(region("../x"))).toEqual(["_.._x"]);
    expect(namesOf(region("a/b"))).toEqual(["a_b"]);
    expect(namesOf(region("a\\b"))).toEqual(["a_b"]);
    expect(namesOf(region(""))).toEqual(["_"]);
    expect(namesOf(region("."), region(".."))).toEqual(["__", "___"]);
    expect(namesOf(region("-rf"))).toEqual(["_-rf"]);
    expect(namesOf(region("nul"), region("COM1.txt"), region("console"))).toEqual([
      "_nul",
      "_COM1.txt",
      "console",
    ]);
    expect(namesOf(region("falcon"), region("menu"), region("my-report.json"))).toEqual([
      "falcon",
      "menu",
      "my-report.json",
    ]);
  });

  it("does not let a region take the place of the files beside the directories", () => {
    expect(namesOf(region("report.json"), region("Report.MD"))).toEqual([
      "_report.json",
      "_Report.MD",
    ]);
    for (const name of COLLECTOR_FILES) expect(namesOf(region(name))).toEqual([`_${name}`]);
  });

  it("prefers the label that is safe as it stands, then the path, then a hash", () => {
    expect(namesOf(region("a_b"), region("x", "a/b"))).toEqual(["a_b", "x+a_b"]);
    expect(namesOf(region("A", "stem"), region("B", "stem"))).toEqual(["A+stem", "B+stem"]);
    const [plain, hashed] = namesOf(region("a_b"), region("a/b"));
    expect(plain).toBe("a_b");
    expect(hashed).toMatch(/^a_b~[0-9a-f]{8}$/);
  });

  it("tells apart what differs only in case, normalization, domain or kind", () => {
    const regions = [
      region("Stem"),
      region("stem"),
      region("caf\u00e9"),
      region("cafe\u0301"),
      { ...region("stem"), domain: "d" },
      { ...region("stem"), kind: "start_end" },
    ];
    const names = namesOf(...regions).map((name) => name?.normalize("NFKC").toLowerCase());
    expect(new Set(names).size).toBe(regions.length);
  });

  it("cuts a label that is too long by no more than it must", () => {
    const most = MAX_NAME_BYTES - 60;
    const cut = (label: string) => namesOf(region(label))[0];
    for (const length of [most - 1, most]) expect(cut("x".repeat(length))).toBe("x".repeat(length));
    expect(cut("x".repeat(most + 1))).toBe("x".repeat(most));
    expect(cut(`${"x".repeat(most - 2)}..y`)).toBe(`${"x".repeat(most - 2)}__`);
  });

  it("cuts long labels between characters", () => {
    const [ascii = ""] = namesOf(region("x".repeat(300)));
    const [wide = ""] = namesOf(region("漢".repeat(300)));
    expect(Buffer.byteLength(ascii)).toBeLessThanOrEqual(MAX_NAME_BYTES);
    expect(wide).toMatch(/^漢+$/);
    const [one, two] = namesOf(region(`${"x".repeat(300)}1`), region(`${"x".repeat(300)}2`));
    expect(one).not.toBe(two);
  });

  it("gives every region a safe name of its own, whatever the labels", () => {
    fc.assert(
      fc.property(fc.array(anyRegion, { maxLength: 30 }), (regions) => {
        const names = regionDirectoryNames(regions);
        const keys = new Set(regions.map(regionKey));
        expect(new Set(names.keys())).toEqual(keys);
        const folded = [...names.values()].map((name) => name.normalize("NFKC").toLowerCase());
        expect(new Set(folded).size).toBe(keys.size);
        for (const name of names.values()) {
          expect(name).toMatch(/^[\p{L}\p{M}\p{N}_][\p{L}\p{M}\p{N}._+~-]*$/u);
          expect(name).not.toMatch(/\.$|^report\.|^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i);
          expect(Buffer.byteLength(name)).toBeLessThanOrEqual(MAX_NAME_BYTES);
        }
      }),
    );
  });

  it("depends on the set of regions, not on their order", () => {
    fc.assert(
      fc.property(fc.array(anyRegion, { maxLength: 10 }), (regions) => {
        const backwards = regionDirectoryNames([...regions].reverse());
        for (const [key, name] of regionDirectoryNames(regions))
          expect(backwards.get(key)).toBe(name);
      }),
    );
  });

  it("takes no longer for a label of many dots than for any of its length", async () => {
    expect(await growth((dots) => namesOf(region(`${".".repeat(dots)}x`)), 5000)).toBeLessThan(40);
  });
});
