import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { publish, removeStale } from "../../../src/profile/rebuild/publish.ts";

let run = "";
let staging = "";
beforeEach(() => {
  run = mkdtempSync(join(tmpdir(), "publish-"));
  staging = join(run, ".report-new");
});

function write(directory: string, files: readonly string[], text: string): void {
  for (const file of files) {
    mkdirSync(dirname(join(directory, file)), { recursive: true });
    writeFileSync(join(directory, file), text);
  }
}

const REGION_FILES = ["report.json", "report.md", "raw.csv", "sections.txt"];
const regionFiles = (name: string) => REGION_FILES.map((file) => `ncu/regions/${name}/${file}`);

describe("new reports", () => {
  it("take the places of old ones, in folders that are made where there are none", () => {
    write(run, ["report.md", "kept.txt"], "old");
    write(staging, ["report.md", "ncu/regions/a/report.json"], "new");
    const places = publish(staging, run, [join(staging, "report.md")]);
    expect(places).toEqual([join(run, "report.md")]);
    expect(readFileSync(join(run, "report.md"), "utf8")).toBe("new");
    expect(readFileSync(join(run, "ncu/regions/a/report.json"), "utf8")).toBe("new");
    expect(readFileSync(join(run, "kept.txt"), "utf8")).toBe("old");
    expect(existsSync(join(staging, "report.md"))).toBe(false);
  });

  it("clear folders of regions that they do not have, but for the user's own files", () => {
    const regions = join(run, "ncu/regions");
    write(
      run,
      [...regionFiles("gone"), ...regionFiles("mine"), "ncu/regions/mine/notes.txt"],
      "old",
    );
    write(run, [...regionFiles("here"), "ncu/regions/report.json", "ncu/raw.csv"], "old");
    write(staging, ["ncu/regions/here/report.json", "recorder/regions/new/report.json"], "new");
    removeStale(staging, run);
    expect(readdirSync(regions).toSorted()).toEqual(["here", "mine", "report.json"]);
    expect(readdirSync(join(regions, "mine"))).toEqual(["notes.txt"]);
    expect(readdirSync(join(regions, "here"))).toEqual(["report.json"]);
    expect(readFileSync(join(regions, "here/report.json"), "utf8")).toBe("old");
    expect(existsSync(join(run, "ncu/raw.csv"))).toBe(true);
  });
});
