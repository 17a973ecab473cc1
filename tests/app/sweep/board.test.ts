import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { failedJob, type JobResult } from "../../../src/app/job/job.ts";
import type { SweepJob } from "../../../src/app/job/plan-job.ts";
import { type BoardKind, openBoard } from "../../../src/app/sweep/board.ts";
import { failureTable } from "../../../src/app/sweep/foreground.ts";
import { durationText, roughDuration } from "../../../src/app/sweep/tally.ts";
import { textWidth } from "../../../src/foundation/text/text-width.ts";
import { openScreen } from "./screen.ts";

const job = (number: number, ...overrides: readonly string[]): SweepJob =>
  ({ number, overrides, outputDir: `/w/s/${number}` }) as unknown as SweepJob;

const STOP = { by: "launcher", signal: "SIGINT" } as const;

const done = (one: SweepJob, exitCode = 0): JobResult => ({
  status: "completed",
  number: one.number,
  outputDir: one.outputDir,
  overrides: one.overrides,
  returnValue: undefined,
  error: undefined,
  exitCode,
});

const jobs = (count: number) =>
  Array.from({ length: count }, (_, number) => job(number, `x=${number}`, "fixed=1"));

/** A board on a terminal of this size, or none. */
function board(kind: BoardKind, size?: { readonly columns: number; readonly rows: number }) {
  const screen = openScreen(size?.columns ?? 1000, size?.rows ?? 1000);
  const opened = openBoard({
    stdout: screen.write,
    stderr: screen.write,
    ...(size !== undefined && { terminal: screen }),
  });
  opened.start(kind);
  return { ...opened, screen };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("on a terminal", () => {
  test("a row per job and the totals, written again in place", () => {
    const [a, b, c] = jobs(3) as [SweepJob, SweepJob, SweepJob];
    const { batch, close, event, screen } = board("jobs", { columns: 80, rows: 24 });
    screen.write("before\n");
    batch([{ job: a }, { job: b }, { job: c }]);
    event({ kind: "started", job: a });
    event({ kind: "started", job: b });
    vi.advanceTimersByTime(2000);
    expect(screen.lines()).toEqual([
      "before",
      "#0  running            2 s  x=0",
      "#1  running            2 s  x=1",
      "#2  queued                  x=2",
      "0 of 3 jobs completed, 2 running, 1 queued; 2 s",
      "",
    ]);
    event({ kind: "ended", job: a, result: done(a) });
    event({ kind: "ended", job: b, result: failedJob(b, new Error("boom\nmore")) });
    event({ kind: "started", job: c });
    vi.advanceTimersByTime(500);
    expect(screen.lines().slice(1, 5)).toEqual([
      "#0  completed        2.0 s  x=0",
      "#1  failed           2.0 s  x=1  boom",
      "#2  running            1 s  x=2",
      "1 of 3 jobs completed, 1 failed, 1 running; 3 s, about 1 s left (1.0 jobs/s)",
    ]);
    event({ kind: "ended", job: c, result: done(c) });
    close();
    expect(screen.lines().slice(3)).toEqual([
      "#2  completed        0.5 s  x=2",
      "2 of 3 jobs completed, 1 failed; 3 s",
      "",
    ]);
  });

  test("nothing is left of a sweep that was stopped, whatever has not started", () => {
    const [a, b] = jobs(2) as [SweepJob, SweepJob];
    for (const size of [{ columns: 80, rows: 24 }, undefined]) {
      const { batch, close, event, screen } = board("jobs", size);
      batch([{ job: a }, { job: b }]);
      event({ kind: "started", job: a });
      vi.advanceTimersByTime(2000);
      event({ kind: "ended", job: a, result: { ...done(a, 1), endedBy: STOP } });
      event({ kind: "stopped", signal: "SIGINT" });
      close();
      expect(screen.lines()).toContain("0 of 2 jobs completed, 1 stopped, 1 missing; 2 s");
    }
  });

  test("what holds a job is told in full, and stands in its row until it begins", () => {
    const [a, b] = jobs(2) as [SweepJob, SweepJob];
    const { batch, event, screen } = board("jobs", { columns: 60, rows: 24 });
    batch([{ job: a }, { job: b }]);
    const pendingReason = "it is held (JobHeldUser): 'scontrol release 7_[0-1]' lets it go";
    event({ kind: "held", jobs: [a, b], pendingReason });
    vi.advanceTimersByTime(1000);
    // As the terminal wraps it.
    expect(screen.lines().slice(0, 2).join("")).toBe(
      `#0 x=0 (and 1 more): waits: ${pendingReason}`,
    );
    expect(screen.lines().slice(2)).toEqual([
      "#0  queued                  x=0  it is held (JobHeldUser):…",
      "#1  queued                  x=1  it is held (JobHeldUser):…",
      "0 of 2 jobs completed, 2 queued; 0 s",
      "",
    ]);
    event({ kind: "held", jobs: [b], pendingReason: null });
    event({ kind: "started", job: a });
    vi.advanceTimersByTime(1000);
    expect(screen.lines().slice(2)).toEqual([
      "#0  running            1 s  x=0",
      "#1  queued                  x=1",
      "0 of 2 jobs completed, 1 running, 1 queued; 1 s",
      "",
    ]);
  });

  test("a job that was let go and runs stays running once Slurm says that nothing holds it", () => {
    const [a, b] = jobs(2) as [SweepJob, SweepJob];
    const { batch, event, screen } = board("jobs", { columns: 60, rows: 24 });
    batch([{ job: a }, { job: b }]);
    event({ kind: "held", jobs: [a, b], pendingReason: "it is held" });
    event({ kind: "started", job: a });
    event({ kind: "held", jobs: [a, b], pendingReason: null });
    vi.advanceTimersByTime(1000);
    expect(screen.lines().slice(1)).toEqual([
      "#0  running            1 s  x=0",
      "#1  queued                  x=1",
      "0 of 2 jobs completed, 1 running, 1 queued; 1 s",
      "",
    ]);
  });

  test("characters that are two columns wide count as two", () => {
    const wide = job(0, "name=日本語日本語日本語");
    const { batch, close, event, screen } = board("jobs", { columns: 80, rows: 24 });
    batch([{ job: wide }, { job: job(1, "name=中国語") }]);
    event({ kind: "started", job: wide });
    event({ kind: "ended", job: wide, result: failedJob(wide, new Error("boom ".repeat(40))) });
    close();
    const [first = ""] = screen.lines();
    expect(first).toContain("日本語  boom");
    expect(textWidth(first)).toBeLessThan(80);
  });

  test("what others write stands above it, whole", () => {
    const [a] = jobs(1) as [SweepJob];
    const { batch, close, console, event, screen } = board("jobs", { columns: 60, rows: 24 });
    batch([{ job: a }]);
    event({ kind: "started", job: a });
    vi.advanceTimersByTime(1000);
    console.stdout("one\n");
    console.stdout("two");
    vi.advanceTimersByTime(1000);
    expect(screen.lines()).toEqual(["one", "two"]);
    console.stderr(" three\n");
    vi.advanceTimersByTime(1000);
    event({ kind: "ended", job: a, result: done(a) });
    close();
    console.stdout("after\n");
    expect(screen.lines()).toEqual([
      "one",
      "two three",
      "#0  completed        3.0 s  x=0 fixed=1",
      "1 of 1 job completed; 3 s",
      "after",
      "",
    ]);
  });

  test("a terminal that a shell has taken back is left alone until it is ours again", () => {
    const [a, b] = jobs(2) as [SweepJob, SweepJob];
    const screen = openScreen(80, 24);
    let isOthers = false;
    const { batch, close, event, start } = openBoard({
      stdout: screen.write,
      stderr: screen.write,
      terminal: {
        columns: 80,
        rows: 24,
        get isOthers() {
          return isOthers;
        },
      },
    });
    start("jobs");
    batch([{ job: a }, { job: b }]);
    event({ kind: "started", job: a });
    vi.advanceTimersByTime(2000);
    isOthers = true;
    vi.advanceTimersByTime(200);
    screen.write("$ ls\n");
    event({ kind: "ended", job: a, result: done(a) });
    vi.advanceTimersByTime(3000);
    expect(screen.lines().slice(2)).toEqual([
      "0 of 2 jobs completed, 1 running, 1 queued; 2 s",
      "$ ls",
      "",
    ]);
    isOthers = false;
    vi.advanceTimersByTime(200);
    expect(screen.lines().slice(3, 6)).toEqual([
      "$ ls",
      "#0  completed        2.2 s  x=0",
      "#1  queued                  x=1",
    ]);
    isOthers = true;
    event({ kind: "ended", job: b, result: done(b) });
    screen.write("$ date\n");
    close();
    expect(screen.lines().slice(-3)).toEqual([
      expect.stringContaining("#1"),
      expect.stringContaining("2 of 2 jobs completed"),
      "",
    ]);
  });

  test("redraws at most ten times a second, and only what has changed", () => {
    const all = jobs(200);
    let writes = 0;
    const opened = openBoard({
      stdout: () => {},
      stderr: () => void writes++,
      terminal: { columns: 80, rows: 24 },
    });
    opened.start("jobs");
    opened.batch(all.map((one) => ({ job: one })));
    for (const one of all) {
      opened.event({ kind: "started", job: one });
      opened.event({ kind: "ended", job: one, result: done(one) });
      vi.advanceTimersByTime(10);
    }
    expect(writes).toBeGreaterThan(10);
    expect(writes).toBeLessThanOrEqual(20);
    const before = writes;
    vi.advanceTimersByTime(800);
    expect(writes - before).toBeLessThanOrEqual(2);
    opened.close();
  });

  test("never taller or wider than the terminal: what happens and what failed comes first", () => {
    const all = jobs(50);
    const { batch, close, event, screen } = board("jobs", { columns: 40, rows: 8 });
    batch(all.map((one) => ({ job: one })));
    for (const one of all.slice(0, 30)) {
      event({ kind: "started", job: one });
      const result = one.number === 3 ? failedJob(one, new Error("b".repeat(200))) : done(one);
      event({ kind: "ended", job: one, result });
    }
    for (const one of all.slice(30, 33)) event({ kind: "started", job: one });
    vi.advanceTimersByTime(100);
    expect(screen.lines()).toHaveLength(8);
    for (const line of screen.lines()) expect(line.length).toBeLessThan(40);
    const numbers = screen.lines().flatMap((line) => /^# *(\d+)/.exec(line)?.[1] ?? []);
    expect(numbers).toEqual(expect.arrayContaining(["3", "30", "31", "32"]));
    close();
  });

  test("of those that have ended, the last ones are shown", () => {
    const all = jobs(20);
    const { batch, close, event, screen } = board("jobs", { columns: 60, rows: 8 });
    batch(all.map((one) => ({ job: one })));
    for (const one of all.slice(0, 12)) {
      event({ kind: "started", job: one });
      vi.advanceTimersByTime(10);
      event({ kind: "ended", job: one, result: done(one) });
    }
    vi.advanceTimersByTime(200);
    const numbers = screen.lines().flatMap((line) => /^# *(\d+) .*completed/.exec(line)?.[1] ?? []);
    expect(numbers.at(-1)).toBe("11");
    expect(numbers).not.toContain("0");
    close();
  });

  test.each([15, 23, 39, 79, 120])("survives a change of its width to %i", (columns) => {
    const all = jobs(3);
    const { batch, close, event, screen } = board("jobs", { columns: 60, rows: 30 });
    screen.write("before\n");
    batch(all.map((one) => ({ job: one })));
    for (const one of all) event({ kind: "started", job: one });
    vi.advanceTimersByTime(1000);
    screen.resize(columns);
    vi.advanceTimersByTime(1000);
    for (const one of all) event({ kind: "ended", job: one, result: done(one) });
    close();
    expect(screen.lines()[0]).toBe("before");
    expect(screen.lines().filter((line) => line.includes("of 3 jobs"))).toHaveLength(1);
    expect(screen.lines().length).toBeLessThanOrEqual(6);
    expect(screen.lines().at(-1)).toBe("");
  });

  test("names from configs cannot drive the terminal", () => {
    const one = job(0, "x=\u001b[2Ja\nb", "y=1");
    const { batch, close, screen } = board("jobs", { columns: 80, rows: 24 });
    batch([{ job: one }]);
    close();
    expect(screen.lines()[0]).toContain("x=\\u{1b}[2Ja\\nb");
  });

  test("is no taller than the totals on a terminal of two lines", () => {
    const { batch, close, screen } = board("jobs", { columns: 80, rows: 2 });
    batch(jobs(5).map((one) => ({ job: one })));
    close();
    expect(screen.lines()).toEqual(["0 of 5 jobs completed, 5 missing; 0 s", ""]);
  });
});

describe("elsewhere", () => {
  test("a line per event", () => {
    const [a, b] = jobs(2) as [SweepJob, SweepJob];
    const { batch, close, event, screen } = board("jobs");
    batch([{ job: a }, { job: b }]);
    event({ kind: "held", jobs: [a], pendingReason: "it is held" });
    event({ kind: "held", jobs: [a], pendingReason: null });
    event({ kind: "started", job: a });
    vi.advanceTimersByTime(1250);
    event({ kind: "retried", job: a, reason: "lost", status: "timed_out" });
    event({ kind: "started", job: a });
    event({ kind: "started", job: b });
    vi.advanceTimersByTime(65_000);
    event({ kind: "ended", job: a, result: done(a) });
    event({ kind: "ended", job: b, result: done(b, 3), took: 2500 });
    close();
    expect(screen.lines()).toEqual([
      "#0 x=0: waits: it is held",
      "#0 x=0: started",
      "#0 x=0: timed_out, starts again: lost",
      "#0 x=0: started",
      "#1 x=1: started",
      "#0 x=0: completed in 1 min 5 s (1 of 2, about 1 min 6 s left)",
      "#1 x=1: failed after 2.5 s (2 of 2): exit code 3",
      "1 of 2 jobs completed, 1 failed; 1 min 6 s",
      "",
    ]);
  });

  test("jobs that are done count, and a signal is told", () => {
    const [a, b] = jobs(2) as [SweepJob, SweepJob];
    const { batch, close, event, screen } = board("ends");
    batch([{ job: a, result: done(a) }, { job: b }]);
    event({ kind: "started", job: b });
    event({ kind: "ended", job: b, result: { ...done(b, 130), endedBy: STOP } });
    close();
    expect(screen.lines()).toEqual([
      "#1 x=1: stopped after 0.0 s (2 of 2): exit code 130",
      "1 of 2 jobs completed, 1 stopped; 0 s",
      "",
    ]);
  });

  test("jobs that a scheduler goes on with are as they were", () => {
    const [a, b] = jobs(2) as [SweepJob, SweepJob];
    const { batch, close, event, screen } = board("jobs");
    batch([{ job: a }, { job: b }]);
    event({ kind: "started", job: a });
    event({ kind: "stopped", signal: "SIGINT", goesOn: true });
    close();
    expect(screen.lines()).toContain("0 of 2 jobs completed, 1 running, 1 queued; 0 s");
  });

  test.each([
    ["timed_out", { by: "time_limit", limit_ms: 3000 }],
    ["stopped", { by: "signal", signal: "SIGKILL" }],
    ["failed", { by: "out_of_memory" }],
    ["failed", { by: "itself" }],
  ] as const)("the word for a job is that of its state: %s by %o", (status, endedBy) => {
    const [a] = jobs(1) as [SweepJob];
    const { batch, close, event, screen } = board("ends");
    batch([{ job: a }]);
    event({ kind: "ended", job: a, result: { ...done(a, 143), endedBy } });
    close();
    expect(screen.lines()).toEqual([
      `#0 x=0 fixed=1: ${status} (1 of 1): exit code 143`,
      `0 of 1 job completed, 1 ${status}; 0 s`,
      "",
    ]);
  });

  test("nothing if only Hydra is to log, or before there is a job", () => {
    const [a] = jobs(1) as [SweepJob];
    const plain = board("none");
    plain.batch([{ job: a }]);
    plain.event({ kind: "ended", job: a, result: failedJob(a, new Error("boom")) });
    plain.close();
    const empty = board("jobs");
    empty.close();
    expect([plain.screen.lines(), empty.screen.lines()]).toEqual([[""], [""]]);
  });
});

describe("the table of failures", () => {
  test("masks secrets before it cuts", () => {
    const error = new Error(`${"e".repeat(190)} ${"hunter2".repeat(4)}`);
    const redact = (text: string) => text.replaceAll("hunter2".repeat(4), "******");
    const secret = job(0, `password=${"hunter2".repeat(4)}`);
    const table = failureTable([failedJob(secret, error)], { cwd: "/w", redact });
    expect(table).toContain("eee ******  s/0");
    expect(table).toContain("\nJob  Overrides        Error");
    expect(table).not.toContain("hunter");
  });

  const [a, b, c] = jobs(3) as [SweepJob, SweepJob, SweepJob];

  test("number, overrides, first line of the error, and where the job logged", () => {
    const results = [
      done(a),
      { ...failedJob(b, new TypeError("boom\nmore")), log: "/w/s/.sweep/jobs/1.log" },
      done(c, 4),
    ];
    expect(failureTable(results, { cwd: "/w" })).toBe(
      [
        "2 of 3 jobs failed:",
        "Job  Overrides    Error            Log",
        "#1   x=1 fixed=1  TypeError: boom  s/.sweep/jobs/1.log",
        "#2   x=2 fixed=1  exit code 4      s/2",
        "",
      ].join("\n"),
    );
    expect(failureTable([done(a)], { cwd: "/w" })).toBe("");
  });

  test("what a scheduler ended has not failed, and is told with why", () => {
    const undone = {
      ...failedJob(a, new Error("it was cancelled")),
      endedBy: { by: "scheduler", cause: "cancelled" },
    } as const;
    const failed = failedJob(b, new Error("boom"));
    expect(failureTable([undone, done(b)], { cwd: "/w" })).toBe(
      [
        "1 of 2 jobs stopped:",
        "Job  Overrides    Error             Log",
        "#0   x=0 fixed=1  it was cancelled  s/0",
        "",
      ].join("\n"),
    );
    expect(failureTable([undone, failed], { cwd: "/w" })).toMatch(
      /^1 of 2 jobs failed, 1 stopped:\n/,
    );
  });

  test("keys are shown by their last names where there is little room", () => {
    const long = job(3, "model.optimizer.lr=0.1", "hydra.sweep.dir=s", "data.batch_size=x");
    const results = [failedJob(long, new Error("boom"))];
    const at = (columns: number) => failureTable(results, { cwd: "/w", columns }).split("\n")[2];
    expect(at(80)).toBe("#3   model.optimizer.lr=0.1 data.batch_size=x  boom   s/3");
    expect(at(50)).toBe("#3   lr=0.1 batch_size=x  boom   s/3");
    const same = job(3, "model.optimizer.lr=0.1", "model.scheduler.lr=0.01");
    const table = failureTable([failedJob(same, new Error("boom"))], { cwd: "/w", columns: 50 });
    expect(table).toContain("model.optimizer.lr=0.1 model.s");
  });

  test("errors give way to the width, long lists to a count", () => {
    const wide = failureTable([failedJob(a, new Error("e".repeat(300)))], {
      cwd: "/w",
      columns: 70,
    });
    for (const line of wide.split("\n")) expect(line.length).toBeLessThanOrEqual(70);
    expect(wide).toContain("s/0");
    const long = job(7, ...Array.from({ length: 9 }, (_, at) => `section.parameter${at}=${at}`));
    const log = `/w/${"outputs/".repeat(9)}7.log`;
    for (const columns of [40, 60, 80, 120, 300]) {
      const table = failureTable(
        [{ ...failedJob(long, new Error("e".repeat(300))), log }, failedJob(a, "boom")],
        { cwd: "/w", columns },
      );
      const lines = table.split("\n");
      const path = log.slice("/w/".length);
      expect(table).toContain(path);
      for (const line of lines)
        if (line.trim() !== path) expect(line.length).toBeLessThanOrEqual(columns);
      expect(lines.filter((line) => line.startsWith("#"))).toHaveLength(2);
    }
    const many = failureTable(
      jobs(120).map((one) => failedJob(one, "x")),
      { cwd: "/w" },
    );
    expect(many.split("\n")).toHaveLength(54);
    expect(many).toContain("\nand 70 more\n");
  });
});

test("rows of a narrow terminal have the last names of keys", () => {
  const swept = [32, 64].map((size) =>
    job(size, "model.optimizer.lr=0.1", `data.loader.batch_size=${size}`, `+db/kind=k${size}`),
  );
  const rows = (columns: number) => {
    const { batch, close, event, screen } = board("jobs", { columns, rows: 24 });
    batch(swept.map((one) => ({ job: one })));
    for (const one of swept) event({ kind: "started", job: one });
    vi.advanceTimersByTime(1000);
    const shown = screen.lines().slice(0, 2);
    close();
    return shown.map((line) => line.split("  ").at(-1));
  };
  expect(rows(80)).toEqual([
    "data.loader.batch_size=32 +db/kind=k32",
    "data.loader.batch_size=64 +db/kind=k64",
  ]);
  expect(rows(60)).toEqual(["batch_size=32 +kind=k32", "batch_size=64 +kind=k64"]);
});

test("spans of time", () => {
  expect([0, 440, 9949, 34_400, 125_000, 3_725_000].map(durationText)).toEqual([
    "0.0 s",
    "0.4 s",
    "9.9 s",
    "34 s",
    "2 min 5 s",
    "1 h 2 min",
  ]);
  expect(roughDuration(59_700)).toBe("1 min 0 s");
});
