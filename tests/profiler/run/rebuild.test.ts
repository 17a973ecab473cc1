import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStaging, publish, removeStale } from "../../../src/profiler/run/rebuild.ts";

describe("publish", () => {
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
});

describe("staging", () => {
  const LOADER = fileURLToPath(new URL("../../../scripts/typescript-loader.mjs", import.meta.url));
  const STAGING = fileURLToPath(new URL("../../../src/profiler/run/rebuild.ts", import.meta.url));

  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "hydraconf-staging-"));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it("is a folder until it is removed, which gives the signals back", () => {
    const before = process.listenerCount("SIGINT");
    const staging = openStaging(directory);
    expect(readdirSync(directory)).toEqual([staging.directory.slice(directory.length + 1)]);
    staging.remove();
    expect([readdirSync(directory), process.listenerCount("SIGINT")]).toEqual([[], before]);
  });

  it("leaves nothing where a signal ends the process", async () => {
    const program = `
    import { writeFileSync } from "node:fs";
    import { openStaging } from ${JSON.stringify(STAGING)};
    const staging = openStaging(".");
    writeFileSync(staging.directory + "/report.json", "{}");
    setInterval(() => {}, 1000);
    process.kill(process.pid, "SIGTERM");`;
    const { exitCode } = await execa(
      process.execPath,
      ["--import", LOADER, "--input-type=module", "--eval", program],
      { cwd: directory, reject: false },
    );
    expect([exitCode, readdirSync(directory)]).toEqual([143, []]);
  });
});
