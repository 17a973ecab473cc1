import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { groupsBelow } from "../../../src/profile/machine/process-groups.ts";

describe("the process groups below a process", () => {
  it("are those that its descendants lead, however deep, and not its own", async () => {
    // A shell whose child, in a session of its own, has a grandchild in another.
    const script = "setsid sh -c 'setsid sleep 60 & echo ready; wait' & wait";
    const shell = spawn("sh", ["-c", script], { stdio: ["ignore", "pipe", "ignore"] });
    try {
      await once(shell.stdout, "data");
      const deadline = performance.now() + 10_000;
      let groups = groupsBelow(shell.pid ?? 0);
      // The grandchild makes its group a moment after it is there.
      while (groups.length < 2 && performance.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        groups = groupsBelow(shell.pid ?? 0);
      }
      expect(groups).toHaveLength(2);
      expect(groups).not.toContain(shell.pid);
      for (const group of groups) process.kill(-group, "SIGKILL");
    } finally {
      shell.kill("SIGKILL");
    }
  });

  it("are none for a process that is not there", () => {
    expect(groupsBelow(2 ** 30)).toEqual([]);
  });
});
