import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { execa } from "execa";
import * as fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import {
  mostSlots,
  openSlots,
  type Resource,
  type SlotAttempt,
  slotsOfMachine,
  slotVariables,
} from "../../../../src/app/launch/local/slots.ts";
import { runs } from "../../../runs.ts";
import { canMount, withFullDisk } from "../../cli/mounts.ts";

const SLOTS = fileURLToPath(new URL("../../../../src/app/launch/local/slots.ts", import.meta.url));

const newFolder = () => mkdtempSync(join(tmpdir(), "hydraconf-slots-"));

const taken = (attempt: SlotAttempt) => {
  if (attempt.kind === "none") throw new Error(`${attempt.slot} is taken`);
  return attempt.held;
};

/** A job has one of these slots to itself. */
const wholeSlots = (slots: readonly string[]): Resource => ({ slots, perJob: 1, perSlot: 1 });

const gpus = (...slots: readonly string[]) => new Map([["gpu", wholeSlots(slots)]]);

const slots = (attempt: SlotAttempt) => [...taken(attempt).slots.values()];

describe("slots", () => {
  test("are used by one job at a time, whichever process manages the folder", () => {
    const folder = newFolder();
    const resources = gpus("0", "1");
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
        ["gpu", wholeSlots(["0", "1"])],
        ["port", wholeSlots(["a/b"])],
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

  test("that have a device in common are never given out at the same time", () => {
    const folder = newFolder();
    const pairs = openSlots(gpus("0,1", "2,3"), folder);
    const single = openSlots(gpus("0", "2"), folder);
    const first = taken(pairs.take("a"));
    expect([...first.slots.values()]).toEqual(["0,1"]);
    expect(slots(single.take("b"))).toEqual(["2"]);
    expect(pairs.take("c")).toMatchObject({ kind: "none", slot: "0,1", holder: { use: "a" } });
    first.giveBack();
    expect(slots(single.take("d"))).toEqual(["0"]);
    expect(pairs.take("e").kind).toBe("none");
  });

  test.each([
    [["0", "1", "0,1"], 2],
    [["0, 1", "1"], 1],
    [["GPU-12,GPU-3", "GPU-3"], 1],
    [["MIG-1/2,GPU-3", "GPU-3"], 1],
    // Not all of these are devices: each is one slot with a comma in its name.
    [["0,a", "0"], 2],
    [["x0,1", "1"], 2],
    [["0x,1", "1"], 2],
    [["GPU-,1", "1"], 2],
  ])("%j: %i can be of one job", (names, most) => {
    expect(mostSlots(names)).toBe(most);
  });

  test("a device is not another one whose name begins so", () => {
    const folder = newFolder();
    expect(slots(openSlots(gpus("10"), folder).take("a"))).toEqual(["10"]);
    expect(slots(openSlots(gpus("1"), folder).take("b"))).toEqual(["1"]);
  });

  test("a job gets no second part of a device in place of another device", () => {
    const folder = newFolder();
    expect(openSlots(gpus("3"), folder).take("a").kind).toBe("taken");
    for (const names of [
      ["0", "3"],
      ["0,1", "1,2", "3"],
    ]) {
      const two = new Map([["gpu", { slots: names, perJob: 2, perSlot: 2 }]]);
      expect(openSlots(two, folder).take("b")).toMatchObject({ kind: "none", slot: "3" });
    }
  });

  test("who wants a device whole waits for the last of many that share it", () => {
    const folder = newFolder();
    const shared = openSlots(new Map([["gpu", { ...wholeSlots(["0"]), perSlot: 12 }]]), folder);
    const parts = Array.from({ length: 12 }, () => taken(shared.take("a")));
    const whole = openSlots(gpus("0"), folder);
    for (const { giveBack } of parts) {
      expect(whole.take("b").kind).toBe("none");
      giveBack();
    }
    expect(whole.take("b").kind).toBe("taken");
  });

  test("a job may have several of a set", () => {
    const folder = newFolder();
    const resources = new Map([["gpu", { ...wholeSlots(["0", "1", "2"]), perJob: 2 }]]);
    const pool = openSlots(resources, folder);
    const first = taken(pool.take("a"));
    expect(slotVariables(first.slots)).toEqual({ CUDA_VISIBLE_DEVICES: "0,1" });
    expect(pool.take("b")).toMatchObject({ kind: "none", slot: "0", holder: { use: "a" } });
    // It does not keep the third, which alone is not enough.
    expect(slots(openSlots(gpus("2"), folder).take("c"))).toEqual(["2"]);
    first.giveBack();
    expect(slots(pool.take("d"))).toEqual(["0,1"]);
  });

  test("several jobs may share one: they are spread, and whoever wants it whole waits", () => {
    const folder = newFolder();
    const shared = (perSlot: number) =>
      openSlots(new Map([["gpu", { ...wholeSlots(["0", "1"]), perSlot }]]), folder);
    const whole = openSlots(gpus("0", "1"), folder);
    const halves = shared(2);
    const first = taken(halves.take("a"));
    expect([...first.slots.values()]).toEqual(["0"]);
    const second = taken(halves.take("b"));
    expect([...second.slots.values()]).toEqual(["1"]);
    expect(whole.take("c").kind).toBe("none");
    // A half and two quarters.
    expect([1, 2, 3, 4].map(() => slots(shared(4).take("d"))[0]).sort()).toEqual([
      "0",
      "0",
      "1",
      "1",
    ]);
    expect(shared(4).take("e").kind).toBe("none");
    expect(halves.take("e").kind).toBe("none");
  });

  test("as many jobs share one as may, however the parts of a whole add up", () => {
    for (let perSlot = 1; perSlot <= 12; perSlot++) {
      const pool = openSlots(new Map([["gpu", { ...wholeSlots(["0"]), perSlot }]]), newFolder());
      const attempts = Array.from({ length: perSlot + 1 }, () => pool.take("a").kind);
      expect(attempts).toEqual([...Array<string>(perSlot).fill("taken"), "none"]);
    }
  });

  test("however jobs come and go, no device has more than it holds", () => {
    const kinds = [
      { slots: ["0", "1", "2"], perJob: 1, perSlot: 1 },
      { slots: ["0,1", "1,2"], perJob: 1, perSlot: 1 },
      { slots: ["0", "1", "2"], perJob: 2, perSlot: 1 },
      { slots: ["0", "1"], perJob: 1, perSlot: 2 },
      { slots: ["2", "1"], perJob: 2, perSlot: 3 },
    ];
    const step = fc.record({ kind: fc.nat(kinds.length - 1), leaves: fc.nat(9) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const folder = newFolder();
        const held: { slots: string; part: number; giveBack: () => void }[] = [];
        for (const { kind, leaves } of steps) {
          const resource = kinds[kind];
          if (resource === undefined) throw new Error("no such kind");
          const attempt = openSlots(new Map([["gpu", resource]]), folder).take("x");
          if (attempt.kind === "taken") {
            const { giveBack } = attempt.held;
            const own = attempt.held.slots.get("gpu") ?? "";
            held.push({ slots: own, part: 1 / resource.perSlot, giveBack });
          } else if (held.length === 0) throw new Error("free slots were refused");
          const load = new Map<string, number>();
          for (const { part, slots } of held)
            for (const device of slots.split(",")) load.set(device, (load.get(device) ?? 0) + part);
          expect(Math.max(0, ...load.values())).toBeLessThanOrEqual(1.000001);
          const leaver = held[leaves];
          if (leaver === undefined) continue;
          leaver.giveBack();
          held.splice(leaves, 1);
        }
        for (const { giveBack } of held) giveBack();
        expect(readdirSync(folder)).toEqual([]);
        rmSync(folder, { recursive: true });
      }),
      { numRuns: runs(60) },
    );
  });

  test("belong to the job's process, and are free once it is gone", async () => {
    const folder = newFolder();
    const resources = gpus("0");
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

  test("are free, without a trace, once a job is over whose process is gone", async () => {
    const folder = newFolder();
    const job = execa("sleep", ["60"], { reject: false });
    const held = taken(openSlots(gpus("0"), folder).take("a"));
    held.handTo(job.pid ?? 0);
    job.kill("SIGKILL");
    await job;
    held.giveBack();
    expect(readdirSync(folder)).toEqual([]);
  });

  test("a process that has the number of a dead one is not taken for it", () => {
    const folder = newFolder();
    const resources = gpus("0");
    taken(openSlots(resources, folder).take("a"));
    const [name = ""] = readdirSync(folder);
    const other = { host: hostname(), pid: process.pid, birth: "another-boot 1" };
    writeFileSync(join(folder, name), JSON.stringify(other));
    expect(openSlots(resources, folder).take("b").kind).toBe("taken");
  });
});

describe("the folder of a machine's slots", () => {
  const temporary = process.env["TMPDIR"];
  afterEach(() => {
    if (temporary === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = temporary;
  });
  const within = (folder: string) => {
    process.env["TMPDIR"] = folder;
  };
  const name = `hydraconf-slots-${process.getuid?.() ?? "own"}`;

  test("is its user's alone, also where it was there", () => {
    const folder = newFolder();
    within(folder);
    mkdirSync(join(folder, name), { mode: 0o777 });
    chmodSync(join(folder, name), 0o777);
    expect(slotsOfMachine()).toBe(join(folder, name));
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o700);
    expect(slotsOfMachine()).toBe(join(folder, name));
  });

  test("that cannot be is told with the place and what to do", () => {
    const folder = newFolder();
    within(folder);
    writeFileSync(join(folder, name), "");
    expect(slotsOfMachine).toThrow(
      `Cannot manage slots in '${join(folder, name)}': a file of that name exists`,
    );
    within(join(folder, name));
    expect(slotsOfMachine).toThrow("part of its path is a file, not a directory");
    try {
      slotsOfMachine();
    } catch (error) {
      expect(error).toMatchObject({
        code: "app.launcher",
        details: { hint: expect.stringMatching(/TMPDIR.*slot_scope=sweep/) },
      });
    }
  });

  test.skipIf(!canMount("slots of other users and on full disks"))(
    "of another user, where nothing may be written, or no space is left",
    () => {
      const folder = newFolder();
      within(folder);
      mkdirSync(join(folder, name));
      chownSync(join(folder, name), 65_534, 65_534);
      expect(slotsOfMachine).toThrow("it belongs to another user");
      withFullDisk((full) => {
        const pool = openSlots(gpus("0"), full);
        expect(() => pool.take("a")).toThrow(
          `Cannot manage slots in '${full}': no space is left on its disk`,
        );
      });
    },
  );

  test.skipIf(!canMount("slots of a user without a name"))(
    "needs no name of its user",
    async () => {
      const { outputFiles } = buildSync({
        stdin: {
          contents: `import { slotsOfMachine } from ${JSON.stringify(SLOTS)}; console.log(slotsOfMachine())`,
          resolveDir: newFolder(),
        },
        write: false,
        bundle: true,
        platform: "node",
        format: "cjs",
        logLevel: "error",
      });
      // Where such a user can go: the folders of tests are ours alone.
      const folder = mkdtempSync("/tmp/hydraconf-slots-");
      try {
        chmodSync(folder, 0o777);
        const { stderr, stdout } = await execa(
          "setpriv",
          ["--reuid=54321", "--regid=54321", "--clear-groups", process.execPath, "-"],
          { env: { TMPDIR: folder }, cwd: "/", input: outputFiles[0]?.text ?? "", reject: false },
        );
        expect([stdout, stderr]).toEqual([join(folder, "hydraconf-slots-54321"), ""]);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );
});
