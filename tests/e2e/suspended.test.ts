import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { expect, test } from "vitest";
import { until } from "../wait.ts";
import { commandPath } from "./command.ts";

const JOB_CONTROL = fileURLToPath(new URL("../fixtures/programs/job_control.py", import.meta.url));

/**
 * Says its number, and goes on until it is told to end. In a file, since a command line is shown before it begins; it starts no
 * process then, whose `vfork` it would wait for, also while it is to stand still.
 */
const PROGRAM = "#!/bin/sh\nmkfifo held; echo $$ > pid; echo begun; read line < held; exit 0";

/** Of a process, as the kernel tells it: `T` for one that was stopped. */
const stateOf = (pid: string): string | undefined =>
  /^State:\s+(\w)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];

test.skipIf(process.platform !== "linux").each([
  ["a run", ["hydra.run.dir=run"], "run"],
  ["a sweep", ["-m", "hydra.sweep.dir=sweep"], "sweep/0"],
])(
  "Ctrl-Z stops the program of %s with the profiler, and fg lets it go on",
  async (_, ours, folder) => {
    const cwd = mkdtempSync(join(tmpdir(), "hydraconf-suspended-"));
    const profile = [process.execPath, commandPath("deep-profile"), ...ours];
    writeFileSync(join(cwd, "prog"), PROGRAM, { mode: 0o755 });
    const running = execa("python3", [JOB_CONTROL, "begun", ...profile, "--", "./prog"], {
      cwd,
      env: { TERM: "xterm", CI: "" },
      reject: false,
    });
    await until(() => existsSync(join(cwd, "stopped")));
    const pid = readFileSync(join(cwd, "pid"), "utf8").trim();
    expect(stateOf(pid)).toBe("T");
    writeFileSync(join(cwd, "go"), "");
    await writeFile(join(cwd, "held"), "\n");
    const { exitCode, stdout } = await running;
    expect([exitCode, stdout]).toEqual([0, expect.any(String)]);
    const report = readFileSync(join(cwd, folder, "report.md"), "utf8");
    expect(report).toContain("was suspended (Ctrl-Z) for");
  },
);
