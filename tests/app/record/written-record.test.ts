import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { jobListFile, manifestFile, sweepFolder } from "../../../src/app/record/layout.ts";
import {
  type ManifestJob,
  readFacts,
  readListName,
  readManifest,
} from "../../../src/app/record/manifest.ts";
import {
  createWrittenRecord,
  type WritingRequest,
} from "../../../src/app/record/written-record.ts";
import { factsIn, jobOf } from "./written.ts";

/** A record without jobs, whose texts hide what `secrets` has at the time. */
function writing(request: Partial<WritingRequest> = {}) {
  const directory = mkdtempSync(join(tmpdir(), "hydraconf-written-"));
  const folder = sweepFolder(directory);
  mkdirSync(folder);
  const secrets: string[] = [];
  const sweep = factsIn(directory, {
    overrides: ["token=sesame-open"],
    program: { name: "prog", command: ["node"], argv: ["-m", "token=sesame-open"] },
  });
  const written = createWrittenRecord({
    folder,
    sweep,
    leftOver: () => [],
    redact: (text) => secrets.reduce((shown, secret) => shown.replaceAll(secret, "***"), text),
    secretsKnown: () => secrets.length,
    ...request,
  });
  return { folder, secrets, sweep, written };
}

const numbered = (...numbers: readonly number[]): readonly ManifestJob[] =>
  numbers.map((number) => jobOf(number));

/** What the folder's files say, whichever there are. */
const textsIn = (folder: string): string =>
  readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("\n");

describe("a written record", () => {
  test("is nothing before jobs are admitted, and has then all of them, in one list", () => {
    const { folder, sweep, written } = writing();
    expect(written.conclude(true)).toEqual([]);
    written.tolerateFailures();
    expect(readdirSync(folder)).toEqual([]);
    written.admit(numbered(0, 1), true);
    const list = readListName(folder);
    const facts = { ...sweep, tolerates_failures: true, holds_secrets: false };
    expect(readManifest(folder)).toEqual({ ...facts, more_to_come: true, jobs: numbered(0, 1) });
    written.admit(numbered(2), true);
    written.admit(numbered(3), false);
    expect(readListName(folder)).toBe(list);
    expect(readManifest(folder)).toEqual({
      ...facts,
      more_to_come: false,
      jobs: numbered(0, 1, 2, 3),
    });
    expect(written.facts()).toEqual({ ...facts, more_to_come: false });
    expect(written.admitted()).toEqual(numbered(0, 1, 2, 3));
  });

  test("is not written anew for each batch", () => {
    const { folder, written } = writing();
    written.admit(numbered(0), true);
    const { ino } = statSync(manifestFile(folder));
    written.admit(numbered(1), true);
    written.conclude(false);
    expect(statSync(manifestFile(folder)).ino).toBe(ino);
    written.conclude(true);
    expect(readFacts(folder).more_to_come).toBe(false);
  });

  test("keeps jobs of an earlier record behind its own, until they are known to be left out", () => {
    let earlier = numbered(0, 1, 2);
    const { folder, written } = writing({ leftOver: () => earlier });
    const order = () => readManifest(folder).jobs.map(({ number }) => number);
    earlier = numbered(0, 2);
    written.admit(numbered(1), true);
    expect(order()).toEqual([1, 0, 2]);
    earlier = numbered(2);
    written.admit(numbered(0), true);
    expect(order()).toEqual([1, 0, 2]);
    expect(written.conclude(false)).toEqual([]);
    expect(readManifest(folder).jobs.filter((job) => job.left_out)).toEqual([]);
    expect(written.conclude(true)).toEqual(numbered(2));
    expect(readManifest(folder)).toMatchObject({
      more_to_come: false,
      jobs: [{ number: 1 }, { number: 0 }, { number: 2, left_out: true }],
    });
  });

  test("holds no secret, and says that it hides some", () => {
    const { folder, secrets, written } = writing();
    secrets.push("sesame-open");
    written.admit([jobOf(0, { overrides: ["token=sesame-open", "x=1"] })], true);
    expect(textsIn(folder)).not.toContain("sesame-open");
    expect(readManifest(folder)).toMatchObject({
      holds_secrets: true,
      overrides: ["token=***"],
      program: { name: "prog", command: ["node"], argv: ["-m", "token=***"] },
      jobs: [{ overrides: ["token=***", "x=1"], task_overrides: ["x=0"] }],
    });
    expect(written.facts().holds_secrets).toBe(true);
  });

  test.each(["overrides", "task_overrides"] as const)("holds no secret of a job's %s", (key) => {
    const { folder, secrets, written } = writing();
    written.admit(numbered(0), true);
    secrets.push("sesame-more");
    written.admit([jobOf(1, { [key]: ["key=sesame-more"] })], true);
    expect(textsIn(folder)).not.toContain("sesame-more");
    expect(readManifest(folder)).toMatchObject({
      holds_secrets: true,
      jobs: [{ number: 0 }, { number: 1, [key]: ["key=***"] }],
    });
    // More jobs with secrets change nothing but the list.
    const list = readListName(folder);
    written.admit([jobOf(2, { [key]: ["other=sesame-more"] })], true);
    expect([readListName(folder), textsIn(folder).includes("sesame-more")]).toEqual([list, false]);
  });

  test.each(["the next batch", "the end"])(
    "masks what has become a secret, by %s, in every file",
    (when) => {
      const { folder, secrets, written } = writing();
      written.admit([jobOf(0, { overrides: ["token=sesame-later"] })], true);
      const list = readListName(folder);
      expect(textsIn(folder)).toContain("sesame-later");
      secrets.push("sesame-later");
      if (when === "the end") written.conclude(true);
      else written.admit(numbered(1), true);
      expect(textsIn(folder)).not.toContain("sesame-later");
      expect(readListName(folder)).not.toBe(list);
      expect(() => statSync(jobListFile(folder, list))).toThrow("ENOENT");
      expect(readManifest(folder)).toMatchObject({
        holds_secrets: true,
        more_to_come: when !== "the end",
        jobs: [{ number: 0, overrides: ["token=***"] }, ...(when === "the end" ? [] : [{}])],
      });
    },
  );

  test("masks the sweep's own words once they are secret", () => {
    const { folder, secrets, written } = writing();
    written.admit(numbered(0), true);
    secrets.push("sesame-open");
    written.conclude(false);
    expect(textsIn(folder)).not.toContain("sesame-open");
    expect(readFacts(folder)).toMatchObject({ holds_secrets: true, more_to_come: true });
  });

  test("masks jobs of an earlier record, also those that are left out", () => {
    const earlier = [jobOf(0, { overrides: ["token=sesame-old"] })];
    const { folder, secrets, written } = writing({ leftOver: () => earlier });
    secrets.push("sesame-old");
    written.admit(numbered(1), true);
    expect(readFacts(folder).holds_secrets).toBe(true);
    written.conclude(true);
    expect(textsIn(folder)).not.toContain("sesame-old");
    expect(readManifest(folder).jobs).toMatchObject([
      { number: 1 },
      { number: 0, left_out: true, overrides: ["token=***"] },
    ]);
  });
});
