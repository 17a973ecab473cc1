import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  noteSubmissions,
  readSubmissions,
  type Submission,
  slurmFolder,
} from "../../../../src/app/plugins/slurm/submissions.ts";
import { sealedLinesText } from "../../../../src/foundation/system/sealed-json.ts";

function emptyFolder() {
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-submissions-"));
  mkdirSync(slurmFolder(folder));
  const text = () => readFileSync(join(slurmFolder(folder), "submissions.jsonl"), "utf8");
  return { folder, text };
}

const submission = (number: number, array: string | null = null): Submission => ({
  script: `/s/${number}.sh`,
  array,
  jobs: [{ number, attempts: 0 }],
});

test("what is noted of submissions adds up, in the order in which they were made", () => {
  const { folder } = emptyFolder();
  expect(readSubmissions(folder)).toEqual([]);
  noteSubmissions(folder, [submission(0), submission(1), submission(2)]);
  noteSubmissions(folder, [
    { script: "/s/0.sh", array: "7" },
    { script: "/s/1.sh", given_up: true },
  ]);
  expect(readSubmissions(folder)).toEqual([submission(0, "7"), submission(2)]);
});

test("a note costs as much whatever there is already: none is written again", () => {
  const { folder, text } = emptyFolder();
  noteSubmissions(folder, [submission(0)]);
  for (let number = 1; number < 100; number++) {
    const before = text();
    noteSubmissions(folder, [submission(number)]);
    expect(text().startsWith(`${before}${JSON.stringify(submission(number)).slice(0, -1)},`)).toBe(
      true,
    );
    expect(text().slice(before.length).split("\n")).toHaveLength(2);
  }
});

test("an incomplete note of a launcher that died does not count, and is replaced by the next", () => {
  const { folder } = emptyFolder();
  noteSubmissions(folder, [submission(0)]);
  appendFileSync(
    join(slurmFolder(folder), "submissions.jsonl"),
    JSON.stringify(submission(1)).slice(0, 20),
  );
  expect(readSubmissions(folder)).toEqual([submission(0)]);
  noteSubmissions(folder, [{ script: "/s/0.sh", array: "7" }]);
  expect(readSubmissions(folder)).toEqual([submission(0, "7")]);
});

test("what cannot be read is told with the sweep and what to do", () => {
  const { folder } = emptyFolder();
  const file = join(slurmFolder(folder), "submissions.jsonl");
  noteSubmissions(folder, [submission(0)]);
  const told = expect.objectContaining({
    code: "app.sweep_damaged",
    message: expect.stringContaining(file),
    details: expect.objectContaining({ hint: expect.stringContaining("squeue --me") }),
  });
  for (const text of ["what?\n", "null\n", "", JSON.stringify(submission(0))]) {
    writeFileSync(file, text);
    expect(() => readSubmissions(folder)).toThrow(told);
    expect(() => noteSubmissions(folder, [submission(1)])).toThrow(told);
  }
  rmSync(file);
  expect(() => readSubmissions(folder)).toThrow(told);
});

test.each([{ what: "?" }, { script: "/s/0.sh", array: "7", jobs: 3 }])(
  "what is whole and no submission is told, too: %j",
  (note) => {
    const { folder } = emptyFolder();
    const file = join(slurmFolder(folder), "submissions.jsonl");
    writeFileSync(file, sealedLinesText(file, [note]));
    expect(() => readSubmissions(folder)).toThrow(
      expect.objectContaining({ code: "app.sweep_damaged" }),
    );
  },
);
