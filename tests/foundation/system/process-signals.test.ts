import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, it, onTestFinished, test, vi } from "vitest";
import {
  groupsBelow,
  hearSignals,
  resumeGroups,
  signalGroup,
  suspendGroups,
} from "../../../src/foundation/system/process-signals.ts";
import { eventually, until } from "../../wait.ts";

describe("the process groups below a process", () => {
  it("are those of its descendants, however deep, and not its own", async () => {
    // A shell whose child, in a session of its own, has a grandchild in another.
    const script = "setsid sh -c 'setsid sleep 600 & wait' & wait";
    const shell = spawn("sh", ["-c", script], { stdio: "ignore" });
    const groups = () => groupsBelow(shell.pid ?? 0);
    try {
      await eventually(() => expect(groups()).toHaveLength(2));
      expect(groups()).not.toContain(shell.pid);
    } finally {
      for (const group of groups()) process.kill(-group, "SIGKILL");
      shell.kill("SIGKILL");
    }
  });

  it("are none for a process that is not there", () => {
    expect(groupsBelow(2 ** 30)).toEqual([]);
  });
});

/** Of a process, as the kernel tells it: `T` for one that was stopped. */
const stateOf = (pid: number): string | undefined =>
  /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1];

/** As a job that profiles a program: that leads a session of its own. */
async function leaderAndOther(): Promise<readonly [number, number]> {
  const leader = spawn("sh", ["-c", "setsid sleep 1000 & echo $!; wait"], {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  let said = "";
  leader.stdout.on("data", (text) => {
    said += text;
  });
  await until(() => said.includes("\n"));
  const pids = [leader.pid ?? 0, Number(said)] as const;
  onTestFinished(() => {
    for (const one of pids) signalGroup(one, "SIGKILL");
  });
  // `setsid` has begun the session.
  await until(() => readFileSync(`/proc/${pids[1]}/comm`, "utf8") === "sleep\n");
  return pids;
}

const onLinux = test.skipIf(process.platform !== "linux");

onLinux(
  "what a process has started stops with it, in whatever group, and goes on with it",
  async () => {
    const pids = await leaderAndOther();
    const goOn = suspendGroups(pids[0]);
    await until(() => pids.every((pid) => stateOf(pid) === "T"));
    goOn();
    await until(() => pids.every((pid) => stateOf(pid) === "S"));
  },
);

onLinux("who comes by later lets it go on, too", async () => {
  const pids = await leaderAndOther();
  suspendGroups(pids[0]);
  await until(() => pids.every((pid) => stateOf(pid) === "T"));
  resumeGroups(pids[0]);
  await until(() => pids.every((pid) => stateOf(pid) === "S"));
});

test("processes of other users, and those that have ended, are left alone", () => {
  const kill = vi.spyOn(process, "kill");
  onTestFinished(() => kill.mockRestore());
  for (const code of ["EPERM", "ESRCH"]) {
    kill.mockImplementation(() => {
      throw Object.assign(new Error(code), { code });
    });
    expect(() => suspendGroups(2 ** 30)()).not.toThrow();
    expect(() => resumeGroups(2 ** 30)).not.toThrow();
  }
});

describe("signals that other code handles", () => {
  const listeners = () => process.listenerCount("SIGHUP");

  test("are heard, whether their listener came before or comes later", () => {
    for (const isEarly of [true, false]) {
      const onSignal = () => {};
      if (isEarly) process.on("SIGHUP", onSignal);
      const heard = hearSignals(["SIGHUP"]);
      if (!isEarly) process.on("SIGHUP", onSignal);
      expect(heard.first()).toBeUndefined();
      process.emit("SIGHUP", "SIGHUP");
      expect(heard.first()).toBe("SIGHUP");
      process.off("SIGHUP", onSignal);
      heard.release();
      expect(listeners()).toBe(0);
    }
  });

  test("have no other listener than theirs: neither without them nor while they run", () => {
    const heard = hearSignals(["SIGHUP"]);
    expect(listeners()).toBe(0);
    let seen = 0;
    const onSignal = () => {
      seen = listeners();
    };
    process.on("SIGHUP", onSignal);
    process.emit("SIGHUP", "SIGHUP");
    expect(seen).toBe(1);
    process.off("SIGHUP", onSignal);
    expect(listeners()).toBe(0);
    heard.release();
  });

  test("end the process again once nobody handles them any more", () => {
    const heard = hearSignals(["SIGHUP"]);
    const onSignal = () => {};
    process.on("SIGHUP", onSignal);
    process.off("SIGHUP", onSignal);
    expect(listeners()).toBe(0);
    process.once("SIGHUP", onSignal);
    process.emit("SIGHUP", "SIGHUP");
    expect([heard.first(), listeners()]).toEqual(["SIGHUP", 0]);
    heard.release();
  });
});
