/** System errors of the files that a command reads: in words, with the file and, where it is not clear, what to do. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { commandPath } from "../../e2e/command.ts";

const root = mkdtempSync(join(tmpdir(), "hydraconf-file-problems-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const IN_WORDS = {
  loop: [/its symbolic links form a loop/, /Hint: ls -l shows where each link leads/],
  broken: [
    /its disk or network file system failed \(input\/output error\)/,
    /Hint: dmesg may say why/,
  ],
  directory: [/it is a directory/],
} as const;

/** Puts something in the place of a file that cannot be read. */
function put(kind: keyof typeof IN_WORDS, path: string): void {
  rmSync(path, { force: true, recursive: true });
  if (kind === "loop") symlinkSync(path, path);
  // Linux fails to read what is not mapped at address 0.
  else if (kind === "broken") symlinkSync("/proc/self/mem", path);
  else mkdirSync(path);
}

const RAW = /\bE[A-Z]{3,}\b: |i\/o error, |illegal operation|too many symbolic links encountered/;

function run(command: string, args: readonly string[]) {
  const { status, stderr } = spawnSync(process.execPath, [commandPath(command), ...args], {
    cwd: root,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: root },
  });
  return { status, stderr };
}

/** A project in which everything can be read. */
function renew(): void {
  rmSync(join(root, "conf"), { force: true, recursive: true });
  mkdirSync(join(root, "conf/db"), { recursive: true });
  writeFileSync(join(root, "package.json"), "{}");
  writeFileSync(join(root, "hydraconf.yaml"), "app: null\n");
  writeFileSync(join(root, "conf/config.yaml"), "defaults: [db: x]\n");
  writeFileSync(join(root, "conf/db/x.yaml"), "a: 1\n");
}

describe.skipIf(process.platform !== "linux")("what cannot be read is told in words", () => {
  test.each([
    ["loop", "conf/config.yaml"],
    ["broken", "conf/config.yaml"],
    ["loop", "conf/db/x.yaml"],
    ["broken", "conf/db/x.yaml"],
    ["loop", "hydraconf.yaml"],
    ["broken", "hydraconf.yaml"],
    ["directory", "hydraconf.yaml"],
  ] as const)("%s: %s", (kind, file) => {
    renew();
    put(kind, join(root, file));
    const { status, stderr } = run("hydraconf", ["--cfg", "job"]);
    rmSync(join(root, "hydraconf.yaml"), { force: true, recursive: true });
    expect(status).toBe(1);
    expect(stderr).toContain(file);
    for (const words of IN_WORDS[kind]) expect(stderr).toMatch(words);
    expect(stderr).not.toMatch(RAW);
  });

  test.each([
    ["hydraconf", ["--settings", "it"], ["loop", "broken", "directory"]],
    ["hydraconf", ["--config-path", "it/below"], []],
    ["hydraconf", ["schema", "--types", "--from", "it"], []],
    ["deep-profile", ["import", "it"], ["loop"]],
    ["deep-profile", ["report", "it"], ["loop"]],
    ["deep-profile", ["compare", "it", "it"], []],
    ["deep-profile", ["query", "it"], ["loop"]],
    ["validate-regions", ["it"], []],
  ] as const)("%s %j", (command, args, worded) => {
    renew();
    for (const kind of ["loop", "broken", "directory"] as const) {
      put(kind, join(root, "it"));
      const { status, stderr } = run(command, args);
      expect(status).not.toBe(0);
      expect(stderr).not.toMatch(RAW);
      if ((worded as readonly string[]).includes(kind)) expect(stderr).toMatch(IN_WORDS[kind][0]);
    }
  });
});
