import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { runImport } from "../../../src/profile/subcommands/import.ts";
import type { RegionReportBundle } from "../../../src/report/document.ts";
import { isConfigError } from "../../../src/values/errors.ts";

const RECORDINGS = fileURLToPath(new URL("../../fixtures/recordings", import.meta.url));

const cwd = mkdtempSync(join(tmpdir(), "hydraconf import-"));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

/** Runs `deep-profile import` in this process; a refusal is its error. */
async function importFiles(args: readonly string[]) {
  const out = { stdout: "", stderr: "" };
  const code = await runImport(args, {
    cwd,
    env: { COLUMNS: "100" },
    now: new Date(2026, 0, 2, 3, 4, 5),
    console: {
      stdout: (text) => {
        out.stdout += text;
      },
      stderr: (text) => {
        out.stderr += text;
      },
    },
  });
  return { code, ...out };
}

const refusal = async (args: readonly string[]) => {
  try {
    await importFiles(args);
    return null;
  } catch (error) {
    if (!isConfigError(error)) throw error;
    return error.details;
  }
};

describe("deep-profile import", () => {
  test("makes the reports of a recording, in a directory of its own each time", async () => {
    const source = join(RECORDINGS, "resnet-regions");
    for (const stamp of ["20260102-030405", "20260102-030405-2"]) {
      const { code, stdout } = await importFiles([source]);
      expect(code).toBe(0);
      const run = join(cwd, "tmp/profile-output", stamp);
      expect(readdirSync(run).sort()).toEqual([
        "kernels.md",
        "recorder",
        "report.md",
        "stakeholder_summary.md",
      ]);
      const bundle: RegionReportBundle = JSON.parse(
        readFileSync(join(run, "recorder/regions/report.json"), "utf8"),
      );
      const labels = bundle.reports[0]?.regions.map(({ name }) => name) ?? [];
      expect(labels).toContain("A::A1");
      for (const label of labels) expect(stdout).toContain(label);
      expect(stdout).toContain(join("tmp/profile-output", stamp, "report.md"));
    }
  });

  test("shows the regions asked for, in the directory asked for", async () => {
    const source = join(RECORDINGS, "resnet-regions");
    const { stdout } = await importFiles([
      source,
      "-o",
      "chosen",
      "--include",
      "B",
      "--no-aggregate",
    ]);
    const bundle: RegionReportBundle = JSON.parse(
      readFileSync(join(cwd, "chosen/recorder/regions/report.json"), "utf8"),
    );
    expect(bundle.reports[0]?.scope).toMatch(/^process:/);
    expect(bundle.reports[0]?.regions.map(({ path }) => path[0])).not.toContain("A");
    expect(stdout).toContain("the selection leaves out");
    expect(await refusal([source, "-o", "chosen"])).toMatchObject({ code: "app.run_directory" });
  });

  test("says what it cannot read, and leaves nothing behind", async () => {
    writeFileSync(join(cwd, "empty.csv"), "");
    writeFileSync(join(cwd, "other.txt"), "hello\n");
    writeFileSync(
      join(cwd, "torn.nvtxrec"),
      Uint8Array.of(0x89, 0x4e, 0x56, 0x54, 0x58, 0x52, 0x45, 0x43, 9),
    );
    expect(await refusal([])).toMatchObject({ code: "app.usage" });
    expect(await refusal(["absent", "-o", "new"])).toMatchObject({
      code: "profile.input",
      message: "absent cannot be read: there is no such file or directory",
    });
    expect(await refusal(["empty.csv", "-o", "new"])).toMatchObject({
      message: "empty.csv is empty",
      hint: expect.stringContaining("ncu writes an empty table"),
    });
    expect(await refusal(["other.txt", "-o", "new"])).toMatchObject({
      message: "other.txt is no file that can be imported",
      available: expect.arrayContaining([expect.stringContaining("recording of deep-profile")]),
    });
    expect(existsSync(join(cwd, "new"))).toBe(false);
  });

  test("--help names every format", async () => {
    const { code, stdout } = await importFiles(["--help"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Usage: deep-profile import \[options\] FILE\.\.\.\n/);
    expect(stdout).toContain("recording of deep-profile");
  });
});
