import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { program } from "./program.ts";

describe("plugins in a program", () => {
  test("hydra/job_logging=colorlog: plain text where nobody sees colours, and a log file", async () => {
    const app = program({ "conf/config.yaml": "x: 1" });
    const { exitCode, stdout, stderr } = await app.run(
      ["hydra/job_logging=colorlog"],
      (_config, { log }) => {
        log.info("hello");
        return 0;
      },
    );
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatch(/^\[[-\d]+ [:\d]+,\d{3}\]\[prog\]\[INFO\] - hello\n$/);
    // As in the plugin itself: below the working directory, whatever the run directory is.
    expect(readFileSync(join(app.cwd, "prog.log"), "utf8")).toBe(stdout);
  });

  test("show their configs, and what does not exist is told with theirs", async () => {
    const app = program({ "conf/config.yaml": "x: 1" });
    const shown = await app.run([
      "hydra/launcher=joblib",
      "--cfg",
      "hydra",
      "-p",
      "hydra.launcher",
    ]);
    expect(shown.stdout).toContain("JoblibLauncher\nn_jobs: -1\n");
    const wrong = await app.run(["hydra/sweeper=optun"]);
    expect(wrong.exitCode).toBe(1);
    expect(wrong.stderr).toContain("\tax\n\tbasic\n\tnevergrad\n\toptuna\n");
  });

  test("are off on demand", async () => {
    const app = program({ "conf/config.yaml": "x: 1" }, { plugins: [] });
    const { exitCode, stderr } = await app.run(["hydra/launcher=joblib", "--cfg", "job"]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("Could not find 'hydra/launcher/joblib'");
  });

  test("a sweep is refused with what to use instead of a class that is Python's", async () => {
    const app = program({ "conf/config.yaml": "hydra: {mode: MULTIRUN}" });
    const run = (choice: string) => app.run([choice]);
    for (const python of ["hydra/sweeper=ax", "hydra/sweeper=nevergrad"]) {
      const others = (await run(python)).stderr.match(/hydra\/sweeper=\w+/g) ?? [];
      expect(others).toContain("hydra/sweeper=random");
      // Refused in its turn, it would only lead from one refusal to the next.
      for (const other of others) expect((await run(other)).stderr).not.toContain("instead");
    }
    expect((await run("hydra/launcher=rq")).stderr).toContain("hydra/launcher=joblib");
    const ours = await run("hydra/launcher=joblib");
    expect(ours.exitCode).toBe(1);
    expect(ours.stderr).not.toContain("instead");
  });
});
