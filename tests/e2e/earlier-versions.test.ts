// What earlier versions wrote is read, completed and upgraded: records of sweeps, settings, runs and their reports.
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CONTRACTS, createReportValidator, wholeBundle } from "../../src/report/index.ts";
import { rewriteSealed } from "../app/record/written.ts";
import { callCommand } from "../called-command.ts";
import { readBundle } from "./command.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const versions = join(root, "tests/fixtures/versions");
const recorded = readdirSync(versions, { withFileTypes: true }).flatMap((one) =>
  one.isDirectory() ? [one.name] : [],
);

it("the first version is among them", () => {
  expect(recorded).toContain("0.1.0");
});

describe.each(recorded)("version %s", (version) => {
  let project: string;

  beforeEach(() => {
    project = realpathSync(mkdtempSync(join(tmpdir(), "hydraconf-earlier-")));
    cpSync(join(versions, version), project, { recursive: true });
    for (const file of readdirSync(project, { recursive: true, withFileTypes: true }))
      if (file.isFile()) restore(join(file.parentPath, file.name));
  });

  afterEach(() => rmSync(project, { recursive: true, force: true }));

  /** Puts this machine's places where scripts/record-version.mjs left names; what has a checksum gets one that fits them. */
  function restore(file: string): void {
    const places = (text: string): string =>
      text
        .replaceAll("{{project}}", project)
        .replaceAll("{{package}}", root.replace(/\/$/, ""))
        .replaceAll("{{node}}", process.execPath);
    if (/\/\.sweep\/(?:.*\/)?[^/]+\.jsonl?$/.test(file)) {
      rewriteSealed(file, places);
      return;
    }
    const text = readFileSync(file, "latin1");
    const restored = places(text);
    if (restored !== text) writeFileSync(file, restored, "latin1");
  }

  const env = { HYDRACONF_TRUST: "1" };
  const hydraconf = (...args: readonly string[]) =>
    callCommand("hydraconf", args, { cwd: project, env });
  const profile = (...args: readonly string[]) =>
    callCommand("deep-profile", args, { cwd: project, env });
  const counts = async () => {
    const { stdout } = await hydraconf("sweep", "status", "--json", "sweep");
    return JSON.parse(stdout).counts;
  };

  it("its record of a sweep is shown and completed, and what succeeded does not run again", async () => {
    expect(await counts()).toEqual({ completed: 1, failed: 1, missing: 1 });
    const first = readFileSync(join(project, "sweep/.sweep/jobs/0.json"), "utf8");
    const resumed = await hydraconf("run", "--resume", "sweep");
    expect(resumed.code, resumed.stderr).toBe(1);
    expect(await counts()).toEqual({ completed: 2, failed: 1 });
    writeFileSync(join(project, "repaired"), "");
    const retried = await hydraconf("run", "--retry-failed", "sweep");
    expect(retried.code, retried.stderr).toBe(0);
    expect(await counts()).toEqual({ completed: 3 });
    expect(readFileSync(join(project, "sweep/.sweep/jobs/0.json"), "utf8")).toBe(first);
  });

  it("its settings hold: plugins, resolvers and the environment", async () => {
    const composed = await hydraconf("--cfg", "job", "--resolve", "+db@other=plugged");
    expect(composed.stderr).toBe("");
    expect(composed.stdout.trim()).toBe(
      readFileSync(join(project, "composed.yaml"), "utf8").trim(),
    );
  });

  it("its reports are valid, and become those of this version", async () => {
    const files = ["run/recorder/regions/report.json", "comparison.json"];
    const checked = await callCommand("validate-regions", files, { cwd: project });
    expect(checked.code, checked.stdout + checked.stderr).toBe(0);
    const bundle = wholeBundle(readBundle(join(project, "run")));
    expect(CONTRACTS).toContain(bundle.contract);
    expect(createReportValidator().validate(bundle)).toEqual([]);
    const compared = await profile("compare", "run", "run");
    expect(compared.code, compared.stderr).toBe(0);
  });

  it("its run is reported again, with the same regions", async () => {
    const before = readBundle(join(project, "run"));
    rmSync(join(project, "run/recorder/regions"), { recursive: true });
    const again = await profile("report", "run");
    expect(again.code, again.stderr).toBe(0);
    const after = readBundle(join(project, "run"));
    const measured = ({ reports }: typeof before) =>
      reports.map(({ scope, regions }) => ({
        scope,
        regions: regions.map(({ path, kind, invocations, wall_ms, total_ms }) => ({
          ...{ path, kind, invocations, wall_ms, total_ms },
        })),
      }));
    expect(measured(after)).toEqual(measured(wholeBundle(before)));
    expect(existsSync(join(project, "run/report.md"))).toBe(true);
  });
});
