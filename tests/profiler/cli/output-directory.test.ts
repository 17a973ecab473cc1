import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import {
  draftDirectory,
  intoOutputDirectory,
  type OutputDraft,
} from "../../../src/profiler/cli/output-directory.ts";

describe("output directory", () => {
  const all = mkdtempSync(join(tmpdir(), "output-directory-"));
  afterAll(() => rmSync(all, { recursive: true, force: true }));
  let cwd = all;
  beforeEach(() => {
    cwd = mkdtempSync(join(all, "case-"));
  });

  const NOW = new Date(2026, 0, 2, 3, 4, 5);

  /** Writes a report, does `meanwhile` before it is whole, and says where it is then. */
  const into = (
    wanted: string | undefined,
    meanwhile: (output: OutputDraft) => unknown = () => {},
  ): Promise<string> =>
    intoOutputDirectory({ wanted, cwd, now: NOW }, async (output) => {
      writeFileSync(join(output.path, "report.md"), wanted ?? "");
      await meanwhile(output);
      return output.finish();
    });

  const unreached = () => expect.unreachable("it was to be refused before anything is read");

  it("of two that began in one second each has a name of its own", async () => {
    const names: string[] = [];
    const first = await into(undefined, async ({ directory }) => {
      names.push(directory, await into(undefined));
    });
    const place = join(cwd, "tmp/profile-output/20260102-030405");
    expect([...names, first]).toEqual([place, place, `${place}-2`]);
    expect(readdirSync(join(cwd, "tmp/profile-output")).sort()).toEqual([
      "20260102-030405",
      "20260102-030405-2",
    ]);
  });

  it("one that was named has that name and no other", async () => {
    const taken = into("out", () => {
      mkdirSync(join(cwd, "out"));
      writeFileSync(join(cwd, "out/other"), "");
    });
    await expect(taken).rejects.toThrow(
      `The directory '${join(cwd, "out")}' was created in the meantime and holds other files`,
    );
    expect(readdirSync(cwd)).toEqual(["out"]);
    expect(readdirSync(join(cwd, "out"))).toEqual(["other"]);
  });

  it("none is a collector's folder, whose files are what reports are made of", async () => {
    mkdirSync(join(cwd, "run", "recorder", "regions"), { recursive: true });
    await expect(into("run/recorder", unreached)).rejects.toThrow("holds other results: regions");
  });

  it("one that is there is filled by one at a time, and nothing is left of the claim", async () => {
    mkdirSync(join(cwd, "out"));
    await into("out", async () => {
      await expect(into("out", unreached)).rejects.toThrow(
        `The directory '${join(cwd, "out")}' is in use by process ${process.pid} on `,
      );
    });
    expect(readdirSync(join(cwd, "out"))).toEqual(["report.md"]);
    await expect(into("out", unreached)).rejects.toThrow("holds other results: report.md");
  });

  it("a command that fails leaves earlier files alone, and does not block the next one", async () => {
    mkdirSync(join(cwd, "out"));
    writeFileSync(join(cwd, "out/notes"), "mine");
    const failed = into("out", ({ path }) => {
      throw new Error(`no room for ${path}/report.html`);
    });
    await expect(failed).rejects.toThrow(`no room for ${join(cwd, "out")}/report.html`);
    expect(readdirSync(join(cwd, "out"))).toEqual(["notes"]);
    await into("out");
    expect(readdirSync(join(cwd, "out")).sort()).toEqual(["notes", "report.md"]);
  });

  describe("is refused before anything is read", () => {
    it("where a link stands that leads nowhere", async () => {
      symlinkSync("gone", join(cwd, "out"));
      await expect(into("out", unreached)).rejects.toThrow(
        `Cannot create the directory '${join(cwd, "out")}': it is a link to 'gone', which does not exist`,
      );
      expect(readdirSync(cwd)).toEqual(["out"]);
    });

    it("where the name is too long", async () => {
      await expect(into("o".repeat(300), unreached)).rejects.toThrow(": the name is too long");
      expect(readdirSync(cwd)).toEqual([]);
    });

    it("where a file stands", async () => {
      writeFileSync(join(cwd, "out"), "");
      await expect(into("out", unreached)).rejects.toThrow(": a file of that name exists");
    });
  });

  it("a link to a directory is that directory", async () => {
    mkdirSync(join(cwd, "there"));
    symlinkSync("there", join(cwd, "out"));
    await into("out");
    expect(existsSync(join(cwd, "there/report.md"))).toBe(true);
  });
});

describe("draft directory", () => {
  const all = mkdtempSync(join(tmpdir(), "draft-directory-"));
  afterAll(() => rmSync(all, { recursive: true, force: true }));
  let place = all;
  beforeEach(() => {
    place = mkdtempSync(join(all, "case-"));
  });

  const write = (path: string): void => {
    mkdirSync(join(path, "ncu"));
    writeFileSync(join(path, "ncu/raw.csv"), "table");
    writeFileSync(join(path, "report.md"), "report");
  };

  it("a directory that is new has its name once it is whole", () => {
    const directory = join(place, "a/b/out");
    const { path, finish } = draftDirectory(directory);
    write(path);
    expect(existsSync(directory)).toBe(false);
    finish();
    expect(readdirSync(join(place, "a/b"))).toEqual(["out"]);
    expect(readdirSync(directory).sort()).toEqual(["ncu", "report.md"]);
  });

  it("an abandoned one is removed, with the parent directories created for it", () => {
    mkdirSync(join(place, "a"));
    const { path, discard } = draftDirectory(join(place, "a/b/out"));
    write(path);
    discard();
    expect(readdirSync(join(place, "a"))).toEqual([]);
  });

  it("what others have written above it meanwhile stays", () => {
    const { path, discard } = draftDirectory(join(place, "a/b/out"));
    write(path);
    writeFileSync(join(place, "a/other"), "");
    discard();
    expect(readdirSync(join(place, "a"))).toEqual(["other"]);
  });

  it("one that is there keeps what it has, and gets all of the rest at once", () => {
    mkdirSync(join(place, "ncu"));
    writeFileSync(join(place, "ncu/notes"), "mine");
    const given = draftDirectory(place);
    write(given.path);
    expect(readdirSync(place).sort()).toEqual([basename(given.path), "ncu"]);
    given.discard();
    expect(readdirSync(place)).toEqual(["ncu"]);
    const { path, finish } = draftDirectory(place);
    write(path);
    finish();
    expect(readdirSync(place).sort()).toEqual(["ncu", "report.md"]);
    expect(readdirSync(join(place, "ncu")).sort()).toEqual(["notes", "raw.csv"]);
    expect(readFileSync(join(place, "ncu/notes"), "utf8")).toBe("mine");
  });

  it("one that is new may get another name, where its own was taken meanwhile", () => {
    const directory = join(place, "out");
    const { path, finish } = draftDirectory(directory);
    write(path);
    mkdirSync(directory);
    writeFileSync(join(directory, "other"), "");
    expect(() => finish()).toThrow("ENOTEMPTY");
    finish(`${directory}-2`);
    expect(readdirSync(place).sort()).toEqual(["out", "out-2"]);
    expect(readdirSync(directory)).toEqual(["other"]);
  });

  it("a dangling link is refused, and nothing is created", () => {
    symlinkSync("gone", join(place, "out"));
    expect(() => draftDirectory(join(place, "out"))).toThrow(
      "a link to 'gone', which does not exist",
    );
    expect(readdirSync(place)).toEqual(["out"]);
  });
});
