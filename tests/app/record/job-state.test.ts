import fs, {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterAll, afterEach, describe, expect, it, test, vi } from "vitest";
import { endLine } from "../../../src/app/cli/sweep-command.ts";
import type { SweepRow } from "../../../src/app/job/options.ts";
import { createRedaction } from "../../../src/app/job/redaction.ts";
import {
  type Attempt,
  begun,
  ended,
  forgetMissingFiles,
  lookAtJob,
  MAX_STORED_DEPTH,
  readJobState,
  storedValue,
  tookMs,
  writeJobStart,
  writeJobState,
} from "../../../src/app/record/job-state.ts";
import { jobFile, jobsFolder } from "../../../src/app/record/layout.ts";
import { firstLine } from "../../../src/app/record/recorded-job.ts";
import { NO_ACTIVITY, sweepRows } from "../../../src/app/sweep/job-status.ts";
import { writeSweepTables } from "../../../src/app/sweep/sweep-tables.ts";
import { shellQuote } from "../../../src/foundation/text/shell-words.ts";
import { runs } from "../../runs.ts";
import { program } from "../cli/program.ts";
import { writeSealed } from "./written.ts";

describe("job state", () => {
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-state-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("takes a return value that no sweep writes for a damaged file: showing it would exhaust the stack", () => {
    const file = jobFile(folder, 0);
    mkdirSync(dirname(file), { recursive: true });
    const state = ended(begun(0, undefined), {
      endedBy: { by: "itself" },
      exitCode: 0,
      returnValue: "HERE",
    });
    writeJobState(folder, state);
    expect(readJobState(folder, 0)).toEqual(state);
    const deep = `${"[".repeat(2_000)}${"]".repeat(2_000)}`;
    writeSealed(file, { ...state, return_value: JSON.parse(deep) });
    expect(() => readJobState(folder, 0)).toThrow("it is no state of a job");
  });

  const attempt: Attempt = {
    id: "a",
    started: "2026-01-02T03:04:05.000Z",
    ended: "2026-01-02T03:04:06.000Z",
    uptime_ms: 1,
    took_ms: 1000,
    ended_by: { by: "itself" },
    exit_code: 0,
    error: null,
    details: { slot: "0" },
    host: "here",
    pid: 7,
    birth: "boot 1",
    pid_namespace: "pid:[1]",
    container: "c",
  };
  const whole = { number: 0, status: "completed", attempts: [attempt], return_value: null };

  /** Whether a record is taken for one that a sweep has written. */
  function isBelieved(state: object): boolean {
    const file = jobFile(folder, 0);
    mkdirSync(dirname(file), { recursive: true });
    writeSealed(file, state);
    const found = lookAtJob(folder, 0);
    if (found?.status === "damaged") expect(found.problem).toBe("it is no state of a job");
    else expect(found).toEqual(state);
    return found?.status !== "damaged";
  }
  const withAttempt = (more: object) => ({ ...whole, attempts: [{ ...attempt, ...more }] });
  const without = (object: object, key: string) =>
    Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));

  /** What an attempt of an early version or another system lacks. */
  const OPTIONAL = [
    "id",
    "uptime_ms",
    "took_ms",
    "ended_by",
    "details",
    "pid_namespace",
    "container",
  ];
  const NULLABLE = ["ended", "exit_code", "error", "birth", "pid_namespace"];

  it("is believed with each field that it has, and with no other value of one", () => {
    expect(isBelieved(whole)).toBe(true);
    for (const key of Object.keys(whole)) {
      expect(isBelieved(without(whole, key)), key).toBe(key === "return_value");
      expect(isBelieved({ ...whole, [key]: true }), key).toBe(key === "return_value");
    }
    for (const key of Object.keys(attempt)) {
      const rest = { ...whole, attempts: [without(attempt, key)] };
      expect(isBelieved(rest), key).toBe(OPTIONAL.includes(key));
      expect(isBelieved(withAttempt({ [key]: true })), key).toBe(false);
      expect(isBelieved(withAttempt({ [key]: null })), key).toBe(NULLABLE.includes(key));
    }
  });

  it.each([
    ["queued", "running", "completed", "pruned", "failed", "stopped", "timed_out"].map(
      (status) =>
        [
          { ...whole, status },
          { ...whole, status: `${status}!` },
        ] as const,
    ),
    [
      [
        { ...whole, number: 0 },
        { ...whole, number: 0.5 },
      ],
      [withAttempt({ pid: 1 }), withAttempt({ pid: -1 })],
      [withAttempt({ took_ms: 0.5 }), withAttempt({ took_ms: "0.5" })],
      [withAttempt({ exit_code: -1 }), withAttempt({ exit_code: 0.5 })],
      [withAttempt({ details: {} }), withAttempt({ details: { slot: 0 } })],
      [withAttempt({ started: attempt.ended }), withAttempt({ started: "yesterday" })],
      [
        { ...whole, attempts: [] },
        { ...whole, attempts: [attempt, "again"] },
      ],
    ] as const,
    [
      [{ by: "itself" }, { by: "itself!" }],
      [{ by: "time_limit", limit_ms: 0 }, { by: "time_limit" }],
      [
        { by: "pruner", step: 3 },
        { by: "pruner", step: "3" },
      ],
      [{ by: "cancel" }, { by: null }],
      [{ by: "launcher", signal: "SIGTERM" }, { by: "launcher" }],
      [
        { by: "signal", signal: "SIGHUP" },
        { by: "signal", signal: "SIGNOTHING" },
      ],
      [
        { by: "scheduler", cause: "preempted" },
        { by: "scheduler", cause: "bored" },
      ],
      [{ by: "scheduler", cause: "unknown" }, { by: "scheduler" }],
      [{ by: "out_of_memory" }, {}],
      [{ by: "unknown" }, "unknown"],
    ].map(([right, wrong]) => [withAttempt({ ended_by: right }), withAttempt({ ended_by: wrong })]),
  ])("is believed as it may be, and not beside that", (...pairs) => {
    for (const [right, wrong] of pairs)
      expect([isBelieved(right), isBelieved(wrong)], JSON.stringify(wrong)).toEqual([true, false]);
  });
});

describe("a record that is being written", () => {
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-torn-"));
  afterEach(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
  const file = jobFile(folder, 0);
  const state = ended(begun(0, undefined), { endedBy: { by: "itself" }, exitCode: 0 });

  /** Half of a record, whose other half is there after so many reads of it. */
  function tornUntil(reads: number): void {
    writeJobStart(folder, state, {});
    writeFileSync(file, "{");
    const read = fs.readFileSync;
    let count = 0;
    vi.spyOn(fs, "readFileSync").mockImplementation(((path: string, ...rest: [BufferEncoding]) => {
      const text = read(path, ...rest);
      if (path === file && ++count === reads) writeJobState(folder, state);
      return text;
    }) as typeof fs.readFileSync);
    syncBuiltinESMExports();
  }

  it.each([1, 2, 3, 4, 5])("is read again, and is whole after %i reads", (reads) => {
    tornUntil(reads);
    expect(lookAtJob(folder, 0)).toEqual(state);
  });

  it("is damaged where it stays as it is", () => {
    tornUntil(6);
    expect(lookAtJob(folder, 0)).toMatchObject({
      status: "damaged",
      file,
      started: state,
      problem: "its checksum does not fit its content",
    });
  });

  it("is looked for anew if it is missing though the job has started, as NFS may hide it", () => {
    writeJobStart(folder, state, {});
    const [before, names] = [new Date(0), readdirSync(jobsFolder(folder))];
    utimesSync(jobsFolder(folder), before, before);
    expect(lookAtJob(folder, 0)).toEqual(state);
    expect(statSync(jobsFolder(folder)).mtimeMs).toBe(0);
    rmSync(file);
    utimesSync(jobsFolder(folder), before, before);
    expect(lookAtJob(folder, 0)).toMatchObject({
      status: "damaged",
      problem: "it is missing although the job has started",
      started: state,
    });
    expect(statSync(jobsFolder(folder)).mtimeMs).toBeGreaterThan(0);
    expect(readdirSync(jobsFolder(folder))).toEqual(names.filter((name) => name !== "0.json"));
    expect(() => forgetMissingFiles("/nowhere")).not.toThrow();
  });
});

describe("attempt time", () => {
  const HOUR = 3_600_000;

  afterEach(() => void vi.useRealTimers());

  /** As NTP or a user does, now. */
  function setClock(by: number): void {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + by });
  }

  describe.each([
    ["backwards", -HOUR],
    ["forwards", HOUR],
  ])("a clock that is set %s while a job runs", (_, by) => {
    test("does not change how long it took", async () => {
      const { cwd, run } = program({ "conf/config.yaml": "x: 1\nhydra: {sweep: {dir: s}}\n" });
      await run(["-m", "x=1"], () => setClock(by));
      const directory = join(cwd, "s");
      const [row] = sweepRows(directory, NO_ACTIVITY);
      expect(row?.seconds).toBeLessThan(600);
      const state = readJobState(join(directory, ".sweep"), 0);
      const [attempt] = state?.attempts ?? [];
      expect(attempt?.took_ms).toBeGreaterThanOrEqual(0);
      if (state !== undefined) expect(endLine("x=1", state)).toMatch(/completed in [\d.]+ m?s$/);
    });

    test("does not change how long it has taken so far", () => {
      const [attempt] = begun(0, undefined).attempts;
      setClock(by);
      expect(attempt && tookMs(attempt)).toBeLessThan(HOUR / 2);
    });
  });

  describe("what this machine has no clock for is told by the times of day", () => {
    const day = (attempt: Partial<Attempt>): Attempt => {
      const [first] = begun(0, undefined).attempts;
      if (first === undefined) throw new Error("a job that began has an attempt");
      return { ...first, started: "2026-01-02T03:04:05.000Z", ...attempt };
    };
    const other = day({ host: "elsewhere" });

    test.each([
      ["of another machine", other],
      ["of an earlier boot", day({ birth: "another-boot 1" })],
    ])("an attempt %s", (_, attempt) => {
      vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-01-02T03:04:07.000Z") });
      expect(tookMs(attempt)).toBe(2_000);
      const state = {
        number: 0,
        status: "running",
        attempts: [attempt],
        return_value: null,
      } as const;
      const [after] = ended(state, { endedBy: { by: "itself" }, exitCode: 1 }).attempts;
      expect(after?.took_ms).toBe(2_000);
    });

    test("an attempt that an early version recorded, whose machine was ahead of another", () => {
      const { took_ms: _took, uptime_ms: _uptime, ...early } = other;
      expect(tookMs({ ...early, ended: "2026-01-02T03:04:06.500Z" })).toBe(1_500);
      expect(tookMs({ ...early, ended: "2026-01-02T03:04:04.500Z" })).toBe(0);
    });
  });
});

describe("stored value", () => {
  const nested = (levels: number): unknown =>
    Array.from({ length: levels }).reduce<unknown>((inner) => [inner], 1);

  it("keeps what a task returned as JSON, unless it is nested too deeply", () => {
    const bearable = nested(MAX_STORED_DEPTH);
    expect(storedValue(bearable)).toEqual(bearable);
    expect(storedValue(nested(MAX_STORED_DEPTH + 1))).toBe(
      `${"[".repeat(MAX_STORED_DEPTH + 1)}1${"]".repeat(MAX_STORED_DEPTH + 1)}`,
    );
  });

  it("bears any depth", () => {
    expect(storedValue(nested(100_000))).toBe("a value that cannot be shown");
  });

  describe("without secrets", () => {
    const redactor = (...secrets: readonly string[]) => {
      const redaction = createRedaction();
      redaction.learn(secrets);
      return redaction.apply;
    };

    it("masks the form in which a shell quotes them", () => {
      const secret = "it's secret";
      const redact = redactor(secret);
      const returned = { command: shellQuote(secret), [shellQuote(secret)]: [secret] };
      expect(storedValue(returned, redact)).toEqual({ command: "'***'", "'***'": ["***"] });
      expect(JSON.stringify(storedValue(`a ${shellQuote(secret)}`, redact))).toBe(`"a '***'"`);
    });

    it("masks numbers, and leaves what is beside them", () => {
      const redact = redactor("123456");
      expect(storedValue({ loss: 0.5, pin: 123456, next: 1234567 }, redact)).toEqual({
        loss: 0.5,
        pin: "***",
        next: "***7",
      });
    });

    it("keeps fields apart whose names are the same mask", () => {
      expect(storedValue({ hunter2: 1, hunter3: 2 }, redactor("hunter2", "hunter3"))).toEqual({
        "***": 1,
        "*** (2)": 2,
      });
    });

    it("masks a list whose text is a secret", () => {
      expect(storedValue(["a", "b"], redactor('["a","b"]'))).toBe("***");
    });

    it("holds none in any file that is made of it", () => {
      const pieces = fc.constantFrom(
        "'",
        '"',
        "\\",
        "|",
        ",",
        "\n",
        " ",
        "$",
        "é",
        "k",
        "q",
        "z",
        "=",
      );
      const aSecret = fc
        .array(pieces, { minLength: 6, maxLength: 20 })
        .map((all) => all.join("").trim())
        .filter((text) => text.length >= 6 && /[kqz]/.test(text));
      const encoders = [
        (text: string) => text,
        shellQuote,
        (text: string) => JSON.stringify(text),
        (text: string) => `"${text.replaceAll('"', '""')}"`,
        encodeURIComponent,
        (text: string) => Buffer.from(text).toString("base64"),
      ];
      const place = mkdtempSync(join(tmpdir(), "hydraconf-stored-"));
      try {
        fc.assert(
          fc.property(aSecret, fc.constantFrom(...encoders), (secret, encode) => {
            const text = `<${encode(secret)}>`;
            const result = storedValue({ text, list: [text], [text]: 1 }, redactor(secret));
            const row: SweepRow = {
              ...{
                number: 0,
                swept: {},
                status: "completed",
                attempts: 1,
                started: null,
                seconds: 1,
              },
              ...{ exit_code: 0, ended_by: null, error: null, result, output_dir: "0" },
              ...{ continues: null, left_out: false },
            };
            const written = [
              JSON.stringify(result),
              ...writeSweepTables(place, [row]).map((name) =>
                readFileSync(join(place, name), "utf8"),
              ),
            ];
            for (const file of written) {
              expect(file).toContain("***");
              // In whatever form each file writes the text.
              for (const form of [
                text,
                inner(text),
                text.replaceAll('"', '""'),
                inner(inner(text)),
              ])
                expect(file.includes(form.slice(1, -1)), file).toBe(false);
            }
          }),
          { numRuns: runs(150) },
        );
      } finally {
        rmSync(place, { recursive: true, force: true });
      }
    });

    it("masks an error before it is cut to its first line", () => {
      expect(firstLine(new Error("no: one\ntwo!"), redactor("one\ntwo"))).toBe("no: ***!");
    });
  });
});

const inner = (text: string): string => JSON.stringify(text).slice(1, -1);
