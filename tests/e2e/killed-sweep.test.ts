import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { expect, it, onTestFinished } from "vitest";
import { readJobState } from "../../src/app/record/job-state.ts";
import { statOf } from "../../src/foundation/system/process-identity.ts";
import { until } from "../wait.ts";
import { commandPath, temporaryDirectory } from "./command.ts";

/** Notes when it begins and ends, and if it finds that it runs already. Signals that can be ignored do not end it. */
const PROGRAM = `
trap '' HUP INT TERM PIPE
# A dead process whose parent has not looked at it yet has the state Z.
[ -e running ] && case "$(cat "/proc/$(cat running)/stat" 2>/dev/null)" in "" | *") Z "*) ;; *) echo twice >>ran ;; esac
echo $$ >running
echo begin >>ran
until [ -e go ]; do sleep 0.02; done
echo end >>ran
`;

const isAlive = (pid: number): boolean => statOf(String(pid))?.isDead === false;

it.each([["basic"], ["local"]])(
  "a profiled job of a killed sweep (%s) never runs beside itself",
  async (launcher) => {
    const { path: cwd, remove } = temporaryDirectory();
    onTestFinished(remove);
    writeFileSync(join(cwd, "prog.sh"), PROGRAM);
    const profile = (...args: readonly string[]) => {
      const command = [commandPath("deep-profile"), ...args];
      const child = execa(process.execPath, command, { cwd, reject: false, stdin: "ignore" });
      onTestFinished(() => void child.kill("SIGKILL"));
      return child;
    };
    const lines = () =>
      existsSync(join(cwd, "ran")) ? readFileSync(join(cwd, "ran"), "utf8").trim().split("\n") : [];
    const running = () => Number(readFileSync(join(cwd, "running"), "utf8"));

    const first = profile(
      ...["-m", "hydra.sweep.dir=s", `hydra/launcher=${launcher}`],
      ...["--", "sh", join(cwd, "prog.sh")],
    );
    await until(() => lines().length === 1);
    const program = running();
    onTestFinished(() => {
      if (isAlive(program)) process.kill(program, "SIGKILL");
    });
    first.kill("SIGKILL");
    // With basic, the job's process is that of the launcher.
    const worker = readJobState(join(cwd, "s/.sweep"), 0)?.attempts.at(-1)?.pid ?? 0;
    if (worker !== first.pid) process.kill(worker, "SIGKILL");
    const second = profile("--resume", "s");
    await until(() => running() !== program);
    writeFileSync(join(cwd, "go"), "");
    const { exitCode, stderr } = await second;
    expect(lines()).toEqual(["begin", "begin", "end"]);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(isAlive(program)).toBe(false);
    expect(readJobState(join(cwd, "s/.sweep"), 0)?.status).toBe("completed");
  },
);
