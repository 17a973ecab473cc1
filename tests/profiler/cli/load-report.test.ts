import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { isCodedError } from "../../../src/engine/values/errors.ts";
import { collectorsOf, loadReport } from "../../../src/profiler/cli/load-report.ts";
import type { Subcommand } from "../../../src/profiler/cli/subcommand.ts";
import { runCompare, runReport } from "../../../src/profiler/cli/subcommand-lines.ts";
import { CONTRACT, CONTRACTS } from "../../../src/report/model/document.ts";
import { createReportValidator } from "../../../src/report/validation/validate.ts";
import { bundleOf, resnet } from "../../report/bundles.ts";

const directory = mkdtempSync(join(tmpdir(), "hydraconf-load-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const validator = createReportValidator();

const load = (contract: unknown) => {
  writeFileSync(
    join(directory, "report.json"),
    JSON.stringify({ ...bundleOf([resnet]), contract }),
  );
  return loadReport("report.json", directory, validator, "recorder");
};

function refusal(contract: unknown): string {
  try {
    load(contract);
  } catch (error) {
    if (isCodedError(error)) return error.message;
    throw error;
  }
  return "";
}

/** The hint of a command that was given a file to import. */
async function importHint(run: Subcommand["run"], ...args: readonly string[]) {
  const console = { stdout: () => {}, stderr: () => {} };
  const error: unknown = await run(args, {
    cwd: directory,
    env: {},
    now: new Date(0),
    console,
  }).catch((thrown: unknown) => thrown);
  if (!isCodedError(error)) throw error;
  expect(error.message).toContain("(Nsight Compute CSV)");
  return error.details.hint;
}

describe("a report to compare", () => {
  it.each(CONTRACTS)("is read with contract %s", (contract) => {
    const { bundle } = load(contract);
    expect(bundle.reports.length).toBeGreaterThan(0);
    expect(bundle.contract).toBe(CONTRACT);
  });

  it.each(["hydraconf.region-report/2.0", "hydraconf.region-report/1.4", "other/1.0"])(
    "is refused with contract %s, with the versions that are read",
    (contract) => {
      const message = refusal(contract);
      expect(message).toContain(`"${contract}" is not supported by hydraconf`);
      expect(message).toContain(CONTRACTS.join(", "));
    },
  );

  it("is no file of a profiler, which is to be imported first", async () => {
    writeFileSync(join(directory, "run.csv"), '"ID","Process ID","Kernel Name"\n"","",""\n');
    load(CONTRACT);
    expect(await importHint(runCompare, "report.json", "run.csv")).toBe(
      "deep-profile import run.csv -o DIR makes reports from it; then compare DIR",
    );
    expect(await importHint(runReport, "run.csv")).toBe(
      "deep-profile import run.csv -o DIR makes reports from it",
    );
  });

  it("is not looked for in a device, which may never end", () => {
    symlinkSync("/dev/zero", join(directory, "zero.json"));
    expect(() => loadReport("zero.json", directory, validator, "recorder")).toThrow(
      "zero.json: it is a device, not a file",
    );
  });

  it.skipIf(process.platform === "win32").each(["", "/recorder", "/recorder/regions"])(
    "is no pipe in a directory%s, to which nobody may ever write",
    (below) => {
      const folder = join(directory, "piped", "recorder", "regions");
      mkdirSync(folder, { recursive: true });
      rmSync(join(folder, "report.json"), { force: true });
      execFileSync("mkfifo", [join(folder, "report.json")]);
      expect(() => loadReport(`piped${below}`, directory, validator, "recorder")).toThrow(
        /: it is a pipe, not a file$/,
      );
    },
  );

  it("is found in the folder of a collector, and of its regions", () => {
    const folder = join(directory, "run", "recorder", "regions");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "report.json"), JSON.stringify(bundleOf([resnet])));
    for (const name of ["run", "run/recorder", "run/recorder/regions"]) {
      expect(collectorsOf(name, directory)).toEqual(name === "run" ? ["recorder"] : null);
      expect(loadReport(name, directory, validator, "recorder").bundle.reports).not.toEqual([]);
    }
  });

  it("brings the config of its run, where that is a file", () => {
    const folder = join(directory, "configured", "recorder", "regions");
    const config = join(directory, "configured", "config.yaml");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "report.json"), JSON.stringify(bundleOf([resnet])));
    const found = () => loadReport("configured", directory, validator, "recorder").configFile;
    writeFileSync(config, "a: 1\n");
    expect(found()).toBe(config);
    rmSync(config);
    mkdirSync(config);
    expect(found()).toBeNull();
  });

  it("is not looked for in the directory of a sweep, whose jobs are named", () => {
    mkdirSync(join(directory, "sweep", ".sweep"), { recursive: true });
    expect(() => collectorsOf("sweep", directory)).toThrow("it is a sweep directory");
  });

  it("is not looked for in a directory of runs, which are named", () => {
    for (const name of ["20260102-030405", "20260103-030405"]) {
      const folder = join(directory, "output", name, "recorder", "regions");
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "report.json"), JSON.stringify(bundleOf([resnet])));
    }
    mkdirSync(join(directory, "output", "other"));
    const look = (name: string) => {
      try {
        return collectorsOf(name, directory);
      } catch (error) {
        if (isCodedError(error)) return error;
        throw error;
      }
    };
    expect(look("output")).toMatchObject({
      message: "output: it holds runs, and is none itself",
      details: {
        available: ["output/20260102-030405", "output/20260103-030405"],
        hint: "name one of them: output/20260103-030405",
      },
    });
    expect(look("output/20260103-030405")).toEqual(["recorder"]);
    expect(look("output/other")).toMatchObject({
      message: "output/other: it holds no results of a run",
    });
  });

  it("is refused without a contract", () => {
    expect(refusal(undefined)).toContain("it is not a region report: it names no contract");
    expect(refusal(7)).toContain("/contract");
  });
});

describe("what cannot be read", () => {
  const problem = (name: string): string => {
    try {
      collectorsOf(name, directory);
      return loadReport(name, directory, validator, "recorder").name;
    } catch (error) {
      if (isCodedError(error)) return error.message;
      throw error;
    }
  };

  it("is said in the words of its cause", () => {
    writeFileSync(join(directory, "file"), "");
    symlinkSync("circle", join(directory, "circle"));
    expect(problem("absent")).toBe("absent: there is no such file or directory");
    expect(problem("file/run")).toBe("file/run: part of its path is a file, not a directory");
    expect(problem("circle")).toBe("circle: its symbolic links form a loop");
    expect(problem("x".repeat(300))).toMatch(/: the name is too long$/);
  });

  it("keeps the system's error as the cause", () => {
    expect(() => collectorsOf("absent", directory)).toThrow(
      expect.objectContaining({ cause: expect.objectContaining({ code: "ENOENT" }) }),
    );
  });

  it("is not missing where it may not be read", () => {
    if (process.getuid?.() === 0) {
      console.warn("SKIPPED unreadable runs: root may read everything");
      return;
    }
    mkdirSync(join(directory, "closed/recorder/regions"), { recursive: true });
    const report = join(directory, "closed/recorder/regions/report.json");
    writeFileSync(report, JSON.stringify(bundleOf([resnet])));
    chmodSync(report, 0);
    expect(problem("closed")).toMatch(/permission denied$/);
    chmodSync(join(directory, "closed/recorder"), 0);
    expect(problem("closed")).toMatch(/permission denied$/);
    expect(problem("closed/recorder/regions/report.json")).toMatch(/permission denied$/);
    chmodSync(join(directory, "closed/recorder"), 0o700);
  });
});
