import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import {
  openSlots,
  type SlotAttempt,
  slotVariables,
} from "../../../../src/app/launchers/local/slots.ts";

const newFolder = () => mkdtempSync(join(tmpdir(), "hydraconf-slots-"));

const taken = (attempt: SlotAttempt) => {
  if (attempt.kind === "none") throw new Error(`${attempt.slot} is taken`);
  return attempt.held;
};

const slots = (attempt: SlotAttempt) => [...taken(attempt).slots.values()];

describe("slots", () => {
  test("are one job's at a time, whoever shares out the folder", () => {
    const folder = newFolder();
    const resources = new Map([["gpu", ["0", "1"]]]);
    const [one, other] = [openSlots(resources, folder), openSlots(resources, folder)];
    const first = taken(one.take("a"));
    expect([...first.slots]).toEqual([["gpu", "0"]]);
    expect(slots(other.take("b"))).toEqual(["1"]);
    expect(one.take("c")).toMatchObject({
      kind: "none",
      resource: "gpu",
      slot: "0",
      holder: { pid: process.pid, use: "a" },
    });
    first.giveBack();
    expect(slots(other.take("c"))).toEqual(["0"]);
  });

  test("a job gets one of each resource or nothing", () => {
    const folder = newFolder();
    const pool = openSlots(
      new Map([
        ["gpu", ["0", "1"]],
        ["port", ["a/b"]],
      ]),
      folder,
    );
    const first = taken(pool.take("a"));
    expect(slotVariables(first.slots)).toEqual({
      CUDA_VISIBLE_DEVICES: "0",
      HYDRACONF_SLOT_PORT: "a/b",
    });
    expect(pool.take("b")).toMatchObject({ kind: "none", resource: "port", slot: "a/b" });
    // Not even for a moment does it keep the gpu that it cannot use.
    expect(readdirSync(folder)).toHaveLength(2);
    first.giveBack();
    expect(readdirSync(folder)).toEqual([]);
  });

  test("belong to the job's process, and are free once it is gone", async () => {
    const folder = newFolder();
    const resources = new Map([["gpu", ["0"]]]);
    const job = execa("sleep", ["60"], { reject: false });
    const held = taken(openSlots(resources, folder).take("a"));
    held.handTo(job.pid ?? 0);
    expect(openSlots(resources, folder).take("b")).toMatchObject({ holder: { pid: job.pid } });
    job.kill("SIGKILL");
    await job;
    const next = taken(openSlots(resources, folder).take("b"));
    // Who had it before does not take it away from who has it now.
    held.giveBack();
    expect(openSlots(resources, folder).take("c").kind).toBe("none");
    next.giveBack();
    expect(readdirSync(folder)).toEqual([]);
  });

  test("a process that has the number of a dead one is not taken for it", () => {
    const folder = newFolder();
    const resources = new Map([["gpu", ["0"]]]);
    taken(openSlots(resources, folder).take("a"));
    const [name = ""] = readdirSync(folder);
    const other = { host: hostname(), pid: process.pid, birth: "another-boot 1" };
    writeFileSync(join(folder, name), JSON.stringify(other));
    expect(openSlots(resources, folder).take("b").kind).toBe("taken");
  });
});
