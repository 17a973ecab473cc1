import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { signalGroup, suspendGroups } from "../../../src/app/worker/signal-group.ts";
import { until } from "../../wait.ts";

/** Of a process, as the kernel tells it: `T` for one that was stopped. */
const stateOf = (pid: number): string | undefined =>
  /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1];

test.skipIf(process.platform !== "linux")(
  "what a process has started stops with it, in whatever group, and goes on with it",
  async () => {
    // As a job that profiles a program: that leads a session of its own.
    const leader = spawn("sh", ["-c", "setsid sleep 1000 & echo $!; wait"], {
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const pid = leader.pid ?? 0;
    let said = "";
    leader.stdout.on("data", (text) => {
      said += text;
    });
    await until(() => said.includes("\n"));
    const other = Number(said);
    onTestFinished(() => {
      for (const one of [pid, other]) signalGroup(one, "SIGKILL");
    });
    // `setsid` has begun the session.
    await until(() => readFileSync(`/proc/${other}/comm`, "utf8") === "sleep\n");
    const goOn = suspendGroups(pid);
    await until(() => stateOf(pid) === "T" && stateOf(other) === "T");
    goOn();
    await until(() => stateOf(pid) === "S" && stateOf(other) === "S");
    expect(signalGroup(other, "SIGTERM")).toBeUndefined();
  },
);
