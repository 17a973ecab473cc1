import { cpSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { importer } from "../run/import-files/importer.ts";

const RECORDING = fileURLToPath(new URL("../../fixtures/recordings/fork", import.meta.url));

const { cwd, importFiles, refusal } = importer();
const files = readdirSync(RECORDING).sort();

/** Of a folder of the recording's files each, as a sweep or a cluster leaves them. */
const places = files.map((file, index) => `jobs/${index}/${file}`);

beforeAll(() => {
  for (const [index, file] of files.entries()) {
    mkdirSync(join(cwd, "jobs", `${index}`), { recursive: true });
    cpSync(join(RECORDING, file), join(cwd, "jobs", `${index}`, file));
  }
  cpSync(RECORDING, join(cwd, "run[1]"), { recursive: true });
});

/** Names of what an import reads, in that order. */
async function readBy(name: string): Promise<readonly string[]> {
  const { code, stderr } = await importFiles([name, "--no-html"]);
  expect(code).toBe(0);
  return [...stderr.matchAll(/^reading (.*)$/gm)].map(([, read = ""]) => read);
}

test("a pattern names the files in the folders that it takes, in order of their numbers", async () => {
  expect(await readBy("jobs/**/*.nvtxrec")).toEqual(places);
});

test("a pattern that takes nothing is refused", async () => {
  expect(await refusal(["jobs/*.sqlite", "-o", "out"])).toMatchObject({
    code: "profile.input",
    message: "jobs/*.sqlite: no file has a name of this pattern",
  });
});

test("a name that is there is no pattern", async () => {
  expect(await readBy("run[1]")).toEqual(["run[1]"]);
});

test("a directory is the files that profilers left in it", async () => {
  mkdirSync(join(cwd, "mine"));
  for (const name of ["run 10.nsys-rep", "run 2.nsys-rep", "notes.txt"])
    writeFileSync(join(cwd, "mine", name), "");
  expect(await refusal(["mine", "-o", "out"])).toMatchObject({
    // With nsys: "nsys could not export ...", without: "... cannot be read".
    message: expect.stringMatching(/\bmine\/run 2\.nsys-rep\b/),
  });
  cpSync(RECORDING, join(cwd, "mine"), { recursive: true });
  // The export of a report is read instead of it; here it is no database.
  writeFileSync(join(cwd, "mine", "run 2.sqlite"), "no database");
  expect(await refusal(["mine", "-o", "out"])).toMatchObject({
    message: "mine/run 2.sqlite is not a file that can be imported",
  });
});
