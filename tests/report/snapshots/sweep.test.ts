/** A sweep of real runs, in every form: the network with one, two and four images at a time. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { reportSweep, sweepJobs } from "../../../src/profiler/cli/report-sweep.ts";
import { importReal } from "./imported.ts";
import { expectSnapshot, NOW, RECORDINGS } from "./neutral.ts";

const directory = mkdtempSync(join(tmpdir(), "hydraconf-sweep-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** A job's directory as a sweep leaves it; `recording` null: it failed. */
async function makeJob(name: string, overrides: readonly string[], recording: string | null) {
  mkdirSync(join(directory, name));
  writeFileSync(
    join(directory, name, "overrides.yaml"),
    overrides.map((each) => `- ${each}\n`).join(""),
  );
  if (recording === null) return;
  const { directory: reports } = await importReal(recording, RECORDINGS, [recording]);
  cpSync(join(reports, "recorder"), join(directory, name, "recorder"), { recursive: true });
}

beforeAll(async () => {
  for (const [job, batch] of [1, 2, 4].entries())
    await makeJob(
      String(job),
      ["device=cpu", `infer.batch_size=${batch}`],
      `resnet-batch-${batch}`,
    );
  await makeJob("3", ["device=cpu", "infer.batch_size=8"], null);
  await reportSweep({
    directory,
    jobs: sweepJobs(directory),
    output: directory,
    collector: null,
    work: null,
    now: NOW,
  });
});

describe("a sweep of real runs", () => {
  it.each(["md", "json", "csv", "html"])("as sweep-report.%s", (extension) =>
    expectSnapshot(
      `sweep/sweep-report.${extension}`,
      readFileSync(join(directory, `sweep-report.${extension}`), "utf8"),
    ),
  );
});
