import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { withLock } from "../../../native/building/lock.mjs";

const folder = mkdtempSync(join(tmpdir(), "hydraconf-lock-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("lets one after the other in, tells who waits, and leaves nothing", async () => {
  const path = join(folder, "held");
  // A process that is alive: this one's parent.
  writeFileSync(path, String(process.ppid));
  const told: string[] = [];
  const onWait = () => {
    told.push("waits");
    rmSync(path);
  };
  await withLock(path, onWait, async () => {
    told.push(existsSync(path) ? "holds it" : "holds none");
  });
  expect(told).toEqual(["waits", "holds it"]);
  expect(readdirSync(folder)).toEqual([]);
});

it.runIf(existsSync("/proc/self/stat"))(
  "takes over from a process whose number another one has got since",
  async () => {
    const path = join(folder, "reused");
    writeFileSync(path, `${process.pid} some-boot 1`);
    expect(
      await withLock(
        path,
        () => {},
        async () => "in",
      ),
    ).toBe("in");
    expect(readdirSync(folder)).toEqual([]);
  },
);
