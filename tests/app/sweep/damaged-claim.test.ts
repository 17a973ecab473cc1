import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { launcherOf } from "../../../src/app/record/launcher-claim.ts";
import { launcherFile } from "../../../src/app/record/layout.ts";
import { commandPath } from "../../e2e/command.ts";
import { until } from "../../wait.ts";

const PROGRAM = `
echo "begin $1" >>ran
until [ -e go ]; do sleep 0.02; done
echo "end $1" >>ran
`;

test.each(["basic", "local"])(
  "a sweep (%s) whose claim was damaged is taken over, and its former launcher starts nothing more",
  async (launcher) => {
    const cwd = mkdtempSync(join(tmpdir(), "hydraconf-damaged-claim-"));
    writeFileSync(join(cwd, "prog.sh"), PROGRAM);
    const run = (...argv: readonly string[]) =>
      execa(process.execPath, [commandPath("hydraconf"), "run", ...argv], {
        ...{ cwd, reject: false, stdin: "ignore" },
      });
    const folder = join(cwd, "s/.sweep");
    const ran = () =>
      existsSync(join(cwd, "ran")) ? readFileSync(join(cwd, "ran"), "utf8").split("\n") : [];
    const first = run(
      ...["-m", "x=range(0,3)", "hydra.sweep.dir=s", `hydra/launcher=${launcher}`],
      ...(launcher === "local" ? ["hydra.launcher.n_jobs=1"] : []),
      ...["--", "sh", "./prog.sh", "${x}"],
    );
    await until(() => ran().includes("begin 0"));
    writeFileSync(launcherFile(folder), "");
    const second = run("--resume", "s");
    await until(() => launcherOf(folder)?.pid === second.pid);
    writeFileSync(join(cwd, "go"), "");
    const [former, successor] = await Promise.all([first, second]);
    expect(former.exitCode).toBe(1);
    expect(former.stderr).toContain("This process has lost its claim to the sweep in");
    expect(former.stderr).toContain("if none does, --resume ");
    expect({ code: successor.exitCode, told: successor.stderr }).toMatchObject({ code: 0 });
    expect(
      ran()
        .filter((line) => line !== "")
        .toSorted(),
    ).toEqual(["begin", "end"].flatMap((word) => [0, 1, 2].map((number) => `${word} ${number}`)));
    expect(existsSync(launcherFile(folder))).toBe(false);
  },
);
