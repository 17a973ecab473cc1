import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { withLock } from "../../../native/building/lock.mjs";
import { ownFile } from "../../../native/building/take-lock.mjs";
import { eventually } from "../../wait.ts";

const folder = mkdtempSync(join(tmpdir(), "hydraconf-lock-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const isLinux = existsSync("/proc/self/stat");
const namespace = isLinux ? readlinkSync("/proc/self/ns/pid") : null;

/** A lock file of somebody else's. */
function heldBy(name: string, holder: Readonly<Record<string, unknown>>): string {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify({ host: hostname(), since: null, namespace, ...holder }));
  return path;
}

const unexpected = (): never => {
  throw new Error("nobody holds it");
};

it("lets one after the other in, tells who waits, and leaves nothing", async () => {
  // A process that is alive: this one's parent.
  const path = heldBy("held", { pid: process.ppid });
  const told: unknown[] = [];
  const onWait = (host: string | null) => {
    told.push("waits", host);
    rmSync(path);
  };
  await withLock(path, onWait, async () => {
    told.push(existsSync(path) ? "holds it" : "holds none");
  });
  expect(told).toEqual(["waits", null, "holds it"]);
  expect(readdirSync(folder)).toEqual([]);
});

it("lets calls of one process in one after the other, too", async () => {
  const path = join(folder, "twice");
  let inside = 0;
  const enter = () =>
    withLock(
      path,
      () => {},
      async () => {
        inside++;
        await setImmediate();
        return inside--;
      },
    );
  expect(await Promise.all([enter(), enter(), enter()])).toEqual([1, 1, 1]);
  expect(readdirSync(folder)).toEqual([]);
});

it("leaves a lock that another process has taken over meanwhile", async () => {
  const path = join(folder, "lost");
  await withLock(path, unexpected, async () => {
    rmSync(path);
    heldBy("lost", { host: "another" });
  });
  expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ host: "another" });
  rmSync(path);
  expect(readdirSync(folder)).toEqual([]);
});

it("takes everything away that a killed process has left", async () => {
  const path = heldBy("killed", { pid: 4_194_305, id: "dead" });
  linkSync(path, ownFile(path, readFileSync(path, "utf8")));
  expect(await withLock(path, unexpected, async () => "in")).toBe("in");
  expect(readdirSync(folder)).toEqual([]);
});

it("takes over a lock file in which nothing stands, in time", async () => {
  const path = join(folder, "empty");
  writeFileSync(path, "");
  const told: unknown[] = [];
  await withLock(
    path,
    (host) => told.push(host),
    async () => {},
    { silentLooks: 1 },
  );
  expect(told).toEqual(["unknown"]);
  expect(readdirSync(folder)).toEqual([]);
});

it("takes no file away that a lock file only speaks of", async () => {
  const path = heldBy("speaking", { pid: 4_194_305, id: "/../other" });
  mkdirSync(`${path}.`);
  writeFileSync(join(folder, "other"), "intact");
  await withLock(path, unexpected, async () => {});
  expect(readFileSync(join(folder, "other"), "utf8")).toBe("intact");
  for (const name of ["other", "speaking."]) rmSync(join(folder, name), { recursive: true });
});

it.runIf(isLinux)(
  "takes over from a process whose number another one has got since, and from one before a start of the machine",
  async () => {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    for (const since of [
      { boot, ticks: "1" },
      { boot: "an earlier one", ticks: "1" },
    ]) {
      const path = heldBy("reused", { pid: process.pid, since });
      expect(await withLock(path, unexpected, async () => "in")).toBe("in");
      expect(readdirSync(folder)).toEqual([]);
    }
  },
);

describe.each([
  ["on another machine", { host: "another-host", pid: 4_194_305 }, "another-host"],
  ["in another container", { pid: 4_194_305, namespace: "pid:[1]" }, null],
])("a holder %s", (_, holder, host) => {
  it("is waited for while it renews the lock, and its lock is taken over when it does no more", async () => {
    const path = heldBy("elsewhere", holder);
    let beats = 0;
    const told: unknown[] = [];
    const entered = await withLock(
      path,
      (of) => {
        told.push(of);
        const timer = setInterval(() => {
          if (++beats > 20) clearInterval(timer);
          else utimesSync(path, beats, beats);
        }, 50);
      },
      async () => beats,
      { silentLooks: 4 },
    );
    expect(entered).toBeGreaterThan(20);
    expect(told).toEqual([host]);
    expect(readdirSync(folder)).toEqual([]);
  });
});

it("renews its own lock while the process does nothing but wait for a program", async () => {
  const path = join(folder, "busy");
  await withLock(path, unexpected, async () => {
    utimesSync(path, 1, 1);
    const blocked = new Int32Array(new SharedArrayBuffer(4));
    // The thread that renews it needs no turn of this one.
    await eventually(() => {
      Atomics.wait(blocked, 0, 0, 500);
      expect(statSync(path).mtimeMs).toBeGreaterThan(1_000);
    });
  });
  expect(readdirSync(folder)).toEqual([]);
});
