import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  noteSubmissions,
  readSubmissions,
  type Submission,
  slurmFolder,
} from "../../../src/plugins/slurm/submissions.ts";

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
    expect(text()).toBe(`${before}${JSON.stringify(submission(number))}\n`);
  }
});

test("the list of earlier versions is read, and what comes is noted beside it", () => {
  const { folder } = emptyFolder();
  const file = join(slurmFolder(folder), "submissions.json");
  const text = JSON.stringify([submission(0, "7"), submission(1), submission(2)]);
  writeFileSync(file, text);
  expect(readSubmissions(folder)).toEqual([submission(0, "7"), submission(1), submission(2)]);
  noteSubmissions(folder, [
    { script: "/s/1.sh", array: "8" },
    { script: "/s/2.sh", given_up: true },
    submission(3),
  ]);
  expect(readSubmissions(folder)).toEqual([submission(0, "7"), submission(1, "8"), submission(3)]);
  expect(readFileSync(file, "utf8")).toBe(text);
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

test.each(["submissions.jsonl", "submissions.json"])(
  "what cannot be read of %s is told with the sweep and what to do",
  (name) => {
    const { folder } = emptyFolder();
    writeFileSync(join(slurmFolder(folder), name), "what?\n");
    expect(() => readSubmissions(folder)).toThrow(
      expect.objectContaining({
        code: "app.sweep_record",
        message: expect.stringContaining(join(slurmFolder(folder), name)),
        details: expect.objectContaining({ hint: expect.stringContaining("squeue --me") }),
      }),
    );
  },
);

test.each([
  ["submissions.jsonl", "null\n"],
  ["submissions.jsonl", "{}\n"],
  ["submissions.jsonl", '{"script":"/s/0.sh","array":"7","jobs":3}\n'],
  ["submissions.json", "3\n"],
  ["submissions.json", "[null]\n"],
])("what is JSON and no submission is told, too: %s %j", (name, text) => {
  const { folder } = emptyFolder();
  writeFileSync(join(slurmFolder(folder), name), text);
  expect(() => readSubmissions(folder)).toThrow(
    expect.objectContaining({ code: "app.sweep_record" }),
  );
});
