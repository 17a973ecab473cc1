import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { runSweepCommand } from "../../../src/app/cli/sweep-command.ts";
import {
  begun,
  lookAtJob,
  readJobState,
  writeJobStart,
} from "../../../src/app/record/job-state.ts";
import {
  jobFile,
  jobListFile,
  manifestFile,
  startedFile,
  sweepFolder,
} from "../../../src/app/record/layout.ts";
import { readListName, readManifest, readManifestJob } from "../../../src/app/record/manifest.ts";
import { NO_ACTIVITY, sweepRows } from "../../../src/app/sweep/job-status.ts";
import { isConfigError } from "../../../src/engine/values/errors.ts";
import { capturedConsole } from "../../captured-console.ts";
import { runs } from "../../runs.ts";
import { program } from "../cli/program.ts";
import { forgetJob, writeSealed } from "./written.ts";

const CONFIG = "x: 1\nhydra: {sweep: {dir: s, subdir: '${hydra:job.num}'}}\n";
const JOBS = 6;

/** A sweep of six jobs in three batches: all are completed. */
async function recorded() {
  const made = program({ "conf/config.yaml": CONFIG });
  const argv = ["-m", `x=range(0,${JOBS})`, "hydra.sweeper.max_batch_size=2"];
  expect((await made.run(argv, (config) => ({ x: config.get("x") }))).exitCode).toBe(0);
  const directory = join(made.cwd, "s");
  return { ...made, directory, folder: sweepFolder(directory) };
}

const numbers = Array.from({ length: JOBS }, (_, number) => number);

/** What happens to one file. */
type Mutation =
  | { readonly kind: "cut"; readonly share: number }
  | { readonly kind: "cut at a line"; readonly share: number }
  | { readonly kind: "zeros"; readonly share: number; readonly length: number }
  | { readonly kind: "bit"; readonly share: number; readonly bit: number }
  | { readonly kind: "line left out" | "line twice"; readonly share: number }
  | { readonly kind: "twice" | "emptied" | "deleted" | "swapped" | "another's" };

const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const MUTATION: fc.Arbitrary<Mutation> = fc.oneof(
  fc.record({ kind: fc.constantFrom("cut" as const, "cut at a line" as const), share }),
  fc.record({
    kind: fc.constant("zeros" as const),
    share,
    length: fc.integer({ min: 1, max: 5000 }),
  }),
  fc.record({ kind: fc.constant("bit" as const), share, bit: fc.integer({ min: 0, max: 7 }) }),
  fc.record({ kind: fc.constantFrom("line left out" as const, "line twice" as const), share }),
  fc.record({
    kind: fc.constantFrom(
      "twice" as const,
      "emptied" as const,
      "deleted" as const,
      "swapped" as const,
      "another's" as const,
    ),
  }),
);

/** The content after a mutation; undefined for a deleted file. */
function mutated(bytes: Buffer, other: Buffer, mutation: Mutation): Buffer | undefined {
  const lines = bytes.toString("latin1").split(/(?<=\n)/);
  switch (mutation.kind) {
    case "cut":
      return bytes.subarray(0, Math.floor(mutation.share * bytes.length));
    case "cut at a line":
      return Buffer.from(
        lines.slice(0, Math.floor(mutation.share * lines.length)).join(""),
        "latin1",
      );
    case "zeros": {
      const changed = Buffer.from(bytes);
      const at = Math.floor(mutation.share * bytes.length);
      return changed.fill(0, at, Math.min(bytes.length, at + mutation.length));
    }
    case "bit": {
      const changed = Buffer.from(bytes);
      const at = Math.floor(mutation.share * bytes.length);
      changed[at] = (changed[at] ?? 0) ^ (1 << mutation.bit);
      return changed;
    }
    case "line left out":
      return Buffer.from(
        lines.toSpliced(Math.floor(mutation.share * lines.length), 1).join(""),
        "latin1",
      );
    case "line twice": {
      const at = Math.floor(mutation.share * lines.length);
      return Buffer.from(lines.toSpliced(at, 0, lines[at] ?? "").join(""), "latin1");
    }
    case "twice":
      return Buffer.concat([bytes, bytes]);
    case "emptied":
      return Buffer.alloc(0);
    case "deleted":
      return undefined;
    case "swapped":
    case "another's":
      return other;
  }
}

/** All that commands conclude from a record. */
const readingOf = (directory: string) => ({
  manifest: readManifest(sweepFolder(directory)),
  jobs: numbers.map((number) => readManifestJob(sweepFolder(directory), number)),
  rows: sweepRows(directory, NO_ACTIVITY),
});

describe("1,000 mutations of the files of a record", () => {
  let place: Awaited<ReturnType<typeof recorded>>;
  let truth: ReturnType<typeof readingOf>;
  beforeAll(async () => {
    place = await recorded();
    truth = readingOf(place.directory);
  });

  test("none is believed: what is read is what was written, or an error, or `damaged`", () => {
    const counts: Record<string, number> = {};
    const { folder } = place;
    const list = jobListFile(folder, readListName(folder));
    const jobs = numbers.map((number) => jobFile(folder, number));
    /** Without these nothing is missed; they prove that others are. */
    const traces = [`${list}.${JOBS}`, ...numbers.map((number) => startedFile(folder, number))];
    const files = [...jobs, ...jobs, ...traces, ...Array.from({ length: 6 }, () => list)];
    for (let times = 0; times < 4; times++) files.push(manifestFile(folder));
    const check = (file: string, next: number, mutation: Mutation) => {
      const others = files.filter((one) => one !== file);
      const other = others[next % others.length] ?? "";
      const [bytes, content] = [readFileSync(file), readFileSync(other)];
      const after = mutated(bytes, content, mutation);
      fc.pre(after === undefined || !after.equals(bytes));
      if (after === undefined) rmSync(file);
      else writeFileSync(file, after);
      if (mutation.kind === "swapped") writeFileSync(other, bytes);
      try {
        const outcome = told(place.directory, truth);
        counts[`${mutation.kind}: ${outcome}`] = (counts[`${mutation.kind}: ${outcome}`] ?? 0) + 1;
        expect(outcome).not.toBe("BELIEVED");
      } finally {
        writeFileSync(file, bytes);
        writeFileSync(other, content);
      }
    };
    fc.assert(fc.property(fc.constantFrom(...files), fc.nat(), MUTATION, check), {
      numRuns: runs(1000),
    });
    console.log(`${runs(1000)} mutations`, counts);
    expect(readingOf(place.directory)).toEqual(truth);
  });
});

/** What a reader is told of a record that may be damaged. */
function told(
  directory: string,
  truth: ReturnType<typeof readingOf>,
): "as written" | "refused" | "damaged" | "BELIEVED" {
  try {
    const reading = readingOf(directory);
    const isList =
      fc.stringify([reading.manifest, reading.jobs]) === fc.stringify([truth.manifest, truth.jobs]);
    if (!isList) return "BELIEVED";
    const wrong = reading.rows.filter(
      (row, at) => fc.stringify(row) !== fc.stringify(truth.rows[at]),
    );
    if (wrong.length === 0) return "as written";
    return wrong.every(({ status }) => status === "damaged") ? "damaged" : "BELIEVED";
  } catch (error) {
    if (isConfigError(error) && ["app.sweep_damaged", "app.sweep_record"].includes(error.code))
      return "refused";
    throw error;
  }
}

async function sweepCommand(cwd: string, ...args: readonly string[]) {
  const { console, out } = capturedConsole();
  const given = { argv: [], env: {}, cwd, now: new Date(), console };
  const code = await runSweepCommand(args, given).catch((error: unknown) => String(error));
  return { code, stdout: out.stdout };
}

describe("a damaged state of a job", () => {
  const damages: Readonly<Record<string, (file: string) => void>> = {
    "is missing": (file) => rmSync(file),
    "is empty": (file) => writeFileSync(file, ""),
    "holds nothing but zeros": (file) => writeFileSync(file, Buffer.alloc(512)),
    "checksum does not fit": (file) =>
      writeFileSync(file, readFileSync(file, "utf8").replace("completed", "completes")),
    "is that of job #2": (file) => {
      const state = readJobState(dirname(dirname(file)), 2);
      if (state !== undefined) writeSealed(file, state);
    },
    "illegal operation on a directory": (file) => {
      rmSync(file);
      mkdirSync(file);
    },
  };

  test.each(Object.keys(damages).slice(0, 5))(
    "that %s: the sweep says so, runs nothing, and goes on once told to",
    async (problem) => {
      const { cwd, directory, folder, run } = await recorded();
      const file = jobFile(folder, 1);
      damages[problem]?.(file);
      const status = await sweepCommand(cwd, "status", "s");
      expect([status.code, status.stdout]).toEqual([1, expect.stringContaining("1 damaged")]);
      expect(status.stdout).toContain(file);
      const json = JSON.parse(
        (await sweepCommand(cwd, "status", "s", "--json", "--only", "damaged")).stdout,
      );
      expect(json).toMatchObject({ exit_code: 1, counts: { completed: 5, damaged: 1 } });
      expect(json.jobs).toMatchObject([
        { number: 1, status: "damaged", seconds: null, exit_code: null },
      ]);
      expect((await sweepCommand(cwd, "wait", "s")).code).toBe(1);
      expect((await sweepCommand(cwd, "collect", "s")).code).toBe(0);
      expect(readFileSync(join(directory, "sweep.csv"), "utf8")).toMatch(/^1,1,damaged,/m);

      const ran: unknown[] = [];
      const task = (config: { get(key: string): unknown }) => {
        ran.push(config.get("x"));
        return { x: config.get("x") };
      };
      for (const flag of ["--resume", "--retry-failed"]) {
        const refused = await run([flag, "s"], task);
        expect([refused.exitCode, ran]).toEqual([1, []]);
        expect(refused.stderr).toContain(file);
        expect(refused.stderr).toContain(problem);
        expect(refused.stderr).toContain("job #1 may have ended: it began at ");
        expect(refused.stderr).toContain("--accept-damaged 1");
      }
      const wrong = await run(["--resume", "s", "--accept-damaged", "2"], task);
      expect([wrong.exitCode, wrong.stderr]).toEqual([
        2,
        expect.stringContaining("the record of job #2 is not damaged"),
      ]);
      const accepted = await run(["--resume", "s", "--accept-damaged", "1"], task);
      expect([accepted.exitCode, accepted.stderr, ran]).toEqual([0, "", [1]]);
      expect(readJobState(folder, 1)).toMatchObject({
        status: "completed",
        attempts: [{ error: expect.stringContaining("its record was damaged") }, { exit_code: 0 }],
      });
    },
  );

  test("is no record that cannot be read: that is the system's error", async () => {
    const { folder } = await recorded();
    damages["illegal operation on a directory"]?.(jobFile(folder, 1));
    expect(() => readJobState(folder, 1)).toThrow("EISDIR");
  });

  test("whose process runs is not accepted: it would run twice", async () => {
    const { cwd, folder, run } = await recorded();
    const start = begun(1, readJobState(folder, 1), { id: "of a worker" });
    writeJobStart(folder, start, {});
    rmSync(jobFile(folder, 1));
    const refused = await run(["--resume", "s", "--accept-damaged", "1"]);
    expect([refused.exitCode, refused.stderr]).toEqual([
      1,
      expect.stringContaining(`still runs as process ${process.pid} on `),
    ]);
    expect((await sweepCommand(cwd, "status", "s")).stdout).toContain("1 damaged");
  });

  test("is not a job that has not started", async () => {
    const { cwd, folder, run } = await recorded();
    forgetJob(folder, 1);
    expect(lookAtJob(folder, 1)).toBeUndefined();
    expect((await sweepCommand(cwd, "status", "s")).stdout).toContain("1 missing");
    expect((await run(["--resume", "s"])).exitCode).toBe(0);
  });

  test("does not cost its row in tables that were whole", async () => {
    const { cwd, directory, folder } = await recorded();
    expect((await sweepCommand(cwd, "collect", "s")).code).toBe(0);
    const whole = readFileSync(join(directory, "sweep.json"), "utf8");
    rmSync(jobFile(folder, 1));
    expect((await sweepCommand(cwd, "collect", "s")).code).toContain("has job #1 as completed");
    expect(readFileSync(join(directory, "sweep.json"), "utf8")).toBe(whole);
  });
});

describe("a damaged list of jobs", () => {
  const cut = (text: string) => text.slice(0, text.indexOf("\n", 10) + 1);

  test.each([
    ["cut at the end of a line", cut],
    ["emptied", () => ""],
    ["cut within a line", (text: string) => text.slice(0, -30)],
  ])("that was %s: every command says so, and tables stay", async (_, damage) => {
    const { cwd, directory, folder, run } = await recorded();
    expect((await sweepCommand(cwd, "collect", "s")).code).toBe(0);
    const whole = readFileSync(join(directory, "sweep.csv"), "utf8");
    const list = jobListFile(folder, readListName(folder));
    writeFileSync(list, damage(readFileSync(list, "utf8")));
    for (const action of ["status", "wait", "cancel", "collect"])
      expect((await sweepCommand(cwd, action, "s")).code).toContain(list);
    const resumed = await run(["--resume", "s"]);
    expect([resumed.exitCode, resumed.stderr]).toEqual([1, expect.stringContaining(list)]);
    expect(readFileSync(join(directory, "sweep.csv"), "utf8")).toBe(whole);
  });

  test("is not one with half a line behind those that were counted", async () => {
    const { cwd, folder, run } = await recorded();
    const list = jobListFile(folder, readListName(folder));
    appendFileSync(list, '{"number":6,"overr');
    expect((await sweepCommand(cwd, "status", "s")).code).toBe(0);
    expect((await run(["--resume", "s"])).exitCode).toBe(0);
  });

  test("a missing manifest is damage where jobs have started", async () => {
    const { cwd, folder } = await recorded();
    rmSync(manifestFile(folder));
    expect((await sweepCommand(cwd, "status", "s")).code).toContain(
      `is damaged: ${manifestFile(folder)}: it is missing although jobs have started`,
    );
  });
});
