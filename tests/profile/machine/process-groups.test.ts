import { spawn } from "node:child_process";
import { describe, expect, it } from "vitest";
import { groupsBelow } from "../../../src/profile/machine/process-groups.ts";
import { eventually } from "../../wait.ts";

describe("the process groups below a process", () => {
  it("are those that its descendants lead, however deep, and not its own", async () => {
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
