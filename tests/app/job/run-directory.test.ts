import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import {
  claimRunDirectory,
  makeRunDirectory,
  makeSweepDirectory,
  nextFreeDirectory,
  setAside,
} from "../../../src/app/job/run-directory.ts";
import { isConfigError } from "../../../src/engine/values/errors.ts";
import { writeFileAtomicSync } from "../../../src/foundation/system/atomic-write.ts";
import { holderOf } from "../../../src/foundation/system/process-claim.ts";
import { thisProcess } from "../../../src/foundation/system/process-identity.ts";

describe("run directory", () => {
  test("what is put aside takes the place of what an attempt of the same number left there", () => {
    const path = mkdtempSync(join(tmpdir(), "hydraconf-run-"));
    for (const text of ["first", "second"]) {
      mkdirSync(join(path, "ncu"));
      writeFileSync(join(path, "ncu", text), text);
      setAside(path, ["ncu"], 1);
    }
    expect(readdirSync(join(path, ".attempts/1/ncu"))).toEqual(["second"]);
  });

  const fresh = () => mkdtempSync(join(tmpdir(), "hydraconf-run-"));

  const refusal = (path: string, results: readonly string[] = ["report.md", "ncu"]): string => {
    try {
      makeRunDirectory(path, results);
    } catch (error) {
      if (isConfigError(error) && error.code === "app.run_directory") return error.message;
      throw error;
    }
    throw new Error("accepted");
  };

  describe("makeRunDirectory", () => {
    test("makes the directory and those above it", () => {
      const path = join(fresh(), "a/b c/ü");
      makeRunDirectory(path, ["report.md"]);
      expect(existsSync(path)).toBe(true);
    });

    test("accepts a directory that holds only configuration or files of others", () => {
      const path = fresh();
      for (const name of ["config.yaml", "hydra.yaml", "run.log", "notes.txt"])
        writeFileSync(join(path, name), "");
      expect(() => makeRunDirectory(path, ["report.md", "ncu"])).not.toThrow();
    });

    test("refuses a directory with another run's results, by their names", () => {
      const path = fresh();
      mkdirSync(join(path, "ncu"));
      writeFileSync(join(path, "report.md"), "");
      expect(refusal(path)).toBe(
        `The run directory '${path}' holds the results of another run: report.md, ncu`,
      );
    });

    test("refuses a place where a file stands", () => {
      const path = join(fresh(), "file");
      writeFileSync(path, "");
      expect(refusal(path)).toBe(
        `Cannot use the run directory '${path}': a file of that name exists`,
      );
      const below = join(path, "below");
      expect(refusal(below)).toBe(
        `Cannot create the run directory '${below}': part of its path is a file, not a directory`,
      );
    });

    test.runIf(existsSync("/proc/self"))("says in one line where no directory can be made", () => {
      expect(refusal("/proc/x")).toBe(
        "Cannot create the run directory '/proc/x': there is no such file or directory",
      );
    });

    test("the same for a sweep, by its own key", () => {
      const file = join(fresh(), "file");
      writeFileSync(file, "");
      for (const path of [file, join(file, "below")])
        expect(() => makeSweepDirectory(path)).toThrow(
          expect.objectContaining({
            code: "app.run_directory",
            message: expect.stringMatching(/^Cannot (use|create) the sweep directory '.*': /),
            details: expect.objectContaining({ key: "hydra.sweep.dir" }),
          }),
        );
    });
  });

  describe("claimRunDirectory", () => {
    test("holds off others until it is given up", () => {
      const path = fresh();
      const release = claimRunDirectory(path);
      expect(() => claimRunDirectory(path)).toThrow(`is in use by process ${process.pid}`);
      release();
      expect(readdirSync(path)).toEqual([]);
      claimRunDirectory(path)();
    });

    test.each(["4194305", "", "null", "not a number", '{"host":"h'])(
      "a claim of %j, which names nobody, counts for nothing",
      (text) => {
        const path = fresh();
        writeFileSync(join(path, ".running"), text);
        const release = claimRunDirectory(path);
        expect(holderOf(join(path, ".running"))).toMatchObject({ pid: process.pid });
        release();
      },
    );

    test("honours a claim of another host, whose processes cannot be asked about, and says what to remove", () => {
      const path = fresh();
      const file = join(path, ".running");
      writeFileSync(file, JSON.stringify({ ...thisProcess(), host: "another-host" }));
      expect(() => claimRunDirectory(path)).toThrow(
        expect.objectContaining({
          message: expect.stringContaining(`in use by process ${process.pid} on another-host`),
          details: expect.objectContaining({ hint: expect.stringContaining(`remove ${file};`) }),
        }),
      );
    });

    test("takes over from a dead process of this host, also where another has its number", () => {
      const path = fresh();
      const [boot] = thisProcess().birth?.split(" ") ?? [];
      for (const dead of [{ pid: 4194305 }, { birth: boot === undefined ? "dead" : `${boot} 0` }]) {
        writeFileSync(join(path, ".running"), JSON.stringify({ ...thisProcess(), ...dead }));
        claimRunDirectory(path)();
        expect(readdirSync(path)).toEqual([]);
      }
    });
  });

  describe("writeFileAtomicSync", () => {
    test("replaces a file whole and leaves nothing else behind", () => {
      const path = join(fresh(), "sub/config.yaml");
      writeFileAtomicSync(path, "old: much longer than the new text\n");
      writeFileAtomicSync(path, "new: 1\n");
      expect(readFileSync(path, "utf8")).toBe("new: 1\n");
      expect(readdirSync(join(path, ".."))).toEqual(["config.yaml"]);
    });

    test("leaves nothing behind when it fails", () => {
      const directory = fresh();
      mkdirSync(join(directory, "taken/inside"), { recursive: true });
      expect(() => writeFileAtomicSync(join(directory, "taken"), "x")).toThrow();
      expect(readdirSync(directory)).toEqual(["taken"]);
    });
  });
});

describe("nextFreeDirectory", () => {
  it("steps aside for directories with results, or with a run in them", () => {
    const path = join(mkdtempSync(join(tmpdir(), "free-")), "run");
    const next = () => nextFreeDirectory(path, ["report.md"]);
    expect(next()).toBe(path);
    mkdirSync(path);
    expect(next()).toBe(path);
    writeFileSync(join(path, "report.md"), "");
    expect(next()).toBe(`${path}-2`);
    mkdirSync(`${path}-2`);
    writeFileSync(join(`${path}-2`, ".running"), "1");
    expect(next()).toBe(`${path}-3`);
  });
});
