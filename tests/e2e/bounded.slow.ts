import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { importApart, recordManyRanges } from "../../bench/bounded.ts";
import type { RegionReportBundle } from "../../src/report/model/document.ts";

const scratch = mkdtempSync(join(tmpdir(), "bounded-"));
const recordings: string[] = [];
afterAll(() => {
  for (const directory of [scratch, ...recordings])
    rmSync(directory, { recursive: true, force: true });
});

function recorded(ranges: number, labelOf: (range: number) => string): string {
  const directory = recordManyRanges({ ranges, labelOf });
  recordings.push(directory);
  return directory;
}

const own = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const COMMAND = ["--import", own("scripts/typescript-loader.mjs"), own("src/bin/deep-profile.ts")];

interface Ended {
  readonly code: number | null;
  readonly stderr: string;
  readonly afterMs: number;
}

/** Runs the command; a signal comes once it says that it reads. */
function run(
  args: readonly string[],
  {
    signal,
    nodeOptions = "",
    cwd = scratch,
  }: {
    readonly signal?: NodeJS.Signals;
    readonly nodeOptions?: string;
    readonly cwd?: string;
  },
): Promise<Ended> {
  const child = spawn(process.execPath, [...COMMAND, ...args], {
    cwd,
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, NODE_OPTIONS: nodeOptions },
  });
  let stderr = "";
  let sent = 0;
  child.stderr.on("data", (data: Buffer) => {
    stderr += data.toString();
    if (signal === undefined || sent > 0 || !stderr.includes("reading ")) return;
    sent = performance.now();
    child.kill(signal);
  });
  return new Promise((resolve) => {
    child.on("close", (code) => resolve({ code, stderr, afterMs: performance.now() - sent }));
  });
}

describe("reports of very many ranges", () => {
  it("take no more memory for three times the calls, and have as many files", () => {
    const some = importApart(recorded(1_000_000, () => "step"));
    const more = importApart(recorded(3_000_000, () => "step"));
    expect(more.peakMb).toBeLessThan(1.3 * some.peakMb);
    expect(more.peakMb).toBeLessThan(700);
    expect(more.files).toBe(some.files);
  });

  it("of many distinct labels stay small", () => {
    const { mb, peakMb } = importApart(
      recorded(
        60_000,
        (range) =>
          `label ${[...String(range)].map((digit) => "abcdefghij"[Number(digit)]).join("")}`,
      ),
    );
    expect(mb).toBeLessThan(100);
    expect(peakMb).toBeLessThan(1_200);
  });
});

const reportIn = (directory: string): RegionReportBundle =>
  JSON.parse(readFileSync(join(directory, "recorder", "regions", "report.json"), "utf8"));

describe("a run whose recording is large", () => {
  const copying = (directory: string) => [
    "--",
    "sh",
    "-c",
    `cp ${directory}/*.nvtxrec $HYDRACONF_RECORDER_DIR/`,
  ];

  it.each([
    { signal: "SIGTERM", code: 143, count: 6_000_000, repeats: 1 },
    { signal: "SIGINT", code: 130, count: 6_000_000, repeats: 1 },
    { signal: "SIGTERM", code: 143, count: 2_000_000, repeats: 2 },
  ] as const)(
    "ends by $signal while it is read, and keeps what was measured: repeats=$repeats",
    async ({ signal, code, count, repeats }) => {
      const directory = join(scratch, `${signal}-${repeats}`);
      const large = recorded(count, () => "step");
      const ended = await run(
        [`hydra.run.dir=${directory}`, `repeats=${repeats}`, ...copying(large)],
        { signal },
      );
      expect(ended.code).toBe(code);
      expect(ended.stderr).toContain(`stopped by ${signal}`);
      // What there was time for, which says so.
      const [partial] = reportIn(directory).reports;
      expect(partial?.failure).toMatch(
        new RegExp(
          `^stopped by ${signal} while reports were made: this report has only the first `,
        ),
      );
      const first = partial?.regions.find(({ name }) => name === "step")?.invocations ?? 0;
      expect(first).toBeGreaterThan(1_000);
      expect(first).toBeLessThan(100_000);
      expect(existsSync(join(directory, "run.json"))).toBe(true);
      const files = readdirSync(join(directory, "recorder"), { recursive: true }).map(String);
      expect(files.filter((name) => name.endsWith(".nvtxrec"))).toHaveLength(repeats);
      // Where it has no reports, those that are stopped are of what there was time for.
      const before = readFileSync(join(directory, "recorder", "regions", "report.json"), "utf8");
      rmSync(join(directory, "recorder", "regions"), { recursive: true });
      const stopped = await run(["report", directory], { signal });
      expect(stopped.code).toBe(code);
      expect(stopped.stderr).toContain(`stopped by ${signal}; reports have the first `);
      expect(reportIn(directory).reports[0]?.failure).toBe(partial?.failure);
      const again = await run(["report", directory], {});
      expect(again.code).toBe(0);
      const whole = readFileSync(join(directory, "recorder", "regions", "report.json"), "utf8");
      expect(whole).not.toBe(before);
      const [all] = reportIn(directory).reports;
      expect(all?.failure).toBeUndefined();
      expect(all?.regions.find(({ name }) => name === "step")?.invocations).toBe(count);
      // Reports of all stay.
      const names = readdirSync(directory);
      const last = await run(["report", directory], { signal });
      expect(last.code).toBe(code);
      expect(last.stderr).toMatch(/; the reports in .* are as they were: 'deep-profile report /);
      expect(readFileSync(join(directory, "recorder", "regions", "report.json"), "utf8")).toBe(
        whole,
      );
      expect(readdirSync(directory)).toEqual(names);
    },
  );

  it.each([
    { signal: "SIGTERM", code: 143, output: ["-o", "made"], left: [] },
    { signal: "SIGINT", code: 130, output: ["-o", "there"], left: ["there"] },
    { signal: "SIGHUP", code: 129, output: [], left: [] },
  ] as const)("leaves nothing of an import that $signal ends: $output", async (stop) => {
    const { signal, code, output, left } = stop;
    const cwd = join(scratch, `import-${signal}`);
    for (const name of ["", ...left]) mkdirSync(join(cwd, name), { recursive: true });
    const large = recorded(4_000_000, () => "step");
    const ended = await run(["import", large, ...output], { signal, cwd });
    expect(ended.code).toBe(code);
    expect(ended.stderr).toContain(
      `stopped by ${signal}; no reports were written: the same command makes them\n`,
    );
    expect(readdirSync(cwd, { recursive: true })).toEqual(left);
  });

  it("says that memory is not enough, and what helps", async () => {
    const large = recorded(
      300_000,
      (range) => `label ${[...String(range)].map((digit) => "abcdefghij"[Number(digit)]).join("")}`,
    );
    const { code, stderr } = await run(["import", large, "--output", join(scratch, "full")], {
      nodeOptions: "--max-old-space-size=60",
    });
    expect(code).toBe(1);
    expect(stderr).toContain("out of memory while reports were made");
    expect(stderr).toContain("--max-old-space-size");
    expect(stderr).not.toContain("Last few GCs");
  });
});
