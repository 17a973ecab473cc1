import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { expect, test } from "vitest";
import { until } from "../../wait.ts";
import { workplace } from "./program/start.ts";
import { openScreen } from "./screen.ts";

const JOB_CONTROL = fileURLToPath(
  new URL("../../fixtures/programs/job_control.py", import.meta.url),
);

/** Of a process, as the kernel tells it: `T` for one that was stopped. */
const stateOf = (pid: number): string | undefined =>
  /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1];

test.skipIf(process.platform !== "linux")(
  "Ctrl-Z stops the jobs with their sweep, and fg lets all go on, with the table below what the shell said",
  async () => {
    const place = workplace();
    const local = ["hydra/launcher=local", "hydra.launcher.n_jobs=2"];
    const sweep = execa(
      "python3",
      [JOB_CONTROL, "2 running", ...place.command, "-m", "x=1,2", "do=hold", ...local],
      { cwd: place.cwd, env: { TERM: "xterm", CI: "" }, reject: false, stripFinalNewline: false },
    );
    await until(() => existsSync(join(place.cwd, "stopped")));
    const pids = [0, 1].map((number) => place.state(number)?.attempts.at(-1)?.pid ?? 0);
    // A stopped process that waits for a processor is still listed as running until it gets one.
    await until(() => pids.every((pid) => stateOf(pid) === "T"));
    place.release();
    writeFileSync(join(place.cwd, "go"), "");
    const { exitCode, stdout } = await sweep;
    expect(exitCode).toBe(0);
    expect(place.ran("end")).toHaveLength(2);
    const screen = openScreen(80, 24);
    screen.write(stdout);
    const lines = screen.lines();
    const said = lines.indexOf("the shell was here");
    // Above it stands the table as it was, below it the one that went on.
    expect(lines.slice(0, said).join("\n")).toContain("2 running");
    expect(lines.slice(said).join("\n")).toContain("2 of 2 jobs completed");
  },
);
