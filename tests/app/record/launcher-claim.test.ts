import fs, {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import {
  awaitOrder,
  claimSweep,
  claimToOrder,
  clearCancellation,
  isCancelled,
  launcherOf,
  noteCancellation,
  refuseIfLost,
  refuseIfRun,
} from "../../../src/app/record/launcher-claim.ts";
import { cancelledFile, launcherFile, sweepFolder } from "../../../src/app/record/layout.ts";
import { thisProcess } from "../../../src/foundation/system/process-identity.ts";

function newFolder(): string {
  const folder = sweepFolder(mkdtempSync(join(tmpdir(), "hydraconf-claim-")));
  mkdirSync(folder);
  chmodSync(folder, 0o750);
  return folder;
}

/** A claim of a process of another machine, which may live. */
function claimElsewhere(folder: string): void {
  const holder = { ...thisProcess(), host: `not-${hostname()}`, pid: 77 };
  writeFileSync(launcherFile(folder), JSON.stringify(holder));
}

const runBy = (pid: number, hint: string) =>
  expect.objectContaining({
    code: "app.sweep_record",
    message: expect.stringContaining(`is being run by process ${pid} on `),
    details: expect.objectContaining({
      key: "hydra.sweep.dir",
      hint: expect.stringContaining(hint),
    }),
  });

describe("the launcher of a sweep", () => {
  test("is one process at a time, whose claim has the record's rights", () => {
    const folder = newFolder();
    expect(launcherOf(folder)).toBeUndefined();
    refuseIfRun(folder);
    const claim = claimSweep(folder);
    expect(launcherOf(folder)?.pid).toBe(process.pid);
    expect(statSync(launcherFile(folder)).mode & 0o777).toBe(0o640);
    const refused = runBy(process.pid, `sweep wait ${join(folder, "..")}' waits for it`);
    expect(() => refuseIfRun(folder)).toThrow(refused);
    expect(() => claimSweep(folder)).toThrow(refused);
    expect(claimToOrder(folder)).toBeUndefined();
    claim.release();
    refuseIfRun(folder);
    claimSweep(folder).release();
  });

  test("of another machine is known by its claim alone, which a user may remove", () => {
    const folder = newFolder();
    claimElsewhere(folder);
    expect(() => claimSweep(folder)).toThrow(runBy(77, `remove ${launcherFile(folder)}`));
  });

  test("whose claim is damaged, replaced or removed, starts no job any more", () => {
    const folder = newFolder();
    const claim = claimSweep(folder);
    refuseIfLost(folder, claim);
    const lost = expect.objectContaining({
      code: "app.sweep_record",
      details: expect.objectContaining({ hint: expect.stringContaining("--resume") }),
    });
    for (const damage of [
      () => writeFileSync(launcherFile(folder), ""),
      () => claimElsewhere(folder),
      () => rmSync(launcherFile(folder)),
    ]) {
      damage();
      expect(() => refuseIfLost(folder, claim)).toThrow(lost);
    }
  });

  test("is told that its sweep is cancelled, until that is taken back", () => {
    const folder = newFolder();
    expect(isCancelled(folder)).toBe(false);
    clearCancellation(folder);
    noteCancellation(folder);
    expect(isCancelled(folder)).toBe(true);
    expect(statSync(cancelledFile(folder)).mode & 0o777).toBe(0o640);
    clearCancellation(folder);
    expect(isCancelled(folder)).toBe(false);
  });
});

describe("a process that repairs the record of a sweep", () => {
  test("is not its launcher, and keeps others from repairing", () => {
    const folder = newFolder();
    const claim = claimToOrder(folder);
    expect([existsSync(launcherFile(folder)), launcherOf(folder)]).toEqual([true, undefined]);
    expect(statSync(launcherFile(folder)).mode & 0o777).toBe(0o640);
    refuseIfRun(folder);
    expect(claimToOrder(folder)).toBeUndefined();
    claim?.release();
    expect(existsSync(launcherFile(folder))).toBe(false);
  });

  test("is waited for by a launcher that blocks meanwhile", () => {
    const folder = newFolder();
    const claim = claimToOrder(folder);
    const read = fs.readFileSync;
    let looks = 0;
    vi.spyOn(fs, "readFileSync").mockImplementation(((path: string, ...rest: [BufferEncoding]) => {
      const text = read(path, ...rest);
      if (path === launcherFile(folder) && ++looks === 3) claim?.release();
      return text;
    }) as typeof fs.readFileSync);
    syncBuiltinESMExports();
    try {
      claimSweep(folder).release();
    } finally {
      vi.restoreAllMocks();
      syncBuiltinESMExports();
    }
    expect(looks).toBeGreaterThanOrEqual(3);
  });

  test("is waited for until it is done", async () => {
    const folder = newFolder();
    await awaitOrder(folder, () => undefined);
    const claim = claimToOrder(folder);
    let isOver = false;
    const waiting = awaitOrder(folder, () => undefined).then(() => {
      isOver = true;
    });
    await new Promise(setImmediate);
    expect(isOver).toBe(false);
    claim?.release();
    await waiting;
  });

  test("is not waited for if a launcher has come meanwhile", async () => {
    const folder = newFolder();
    const claim = claimSweep(folder);
    await awaitOrder(folder, () => undefined);
    claim.release();
  });
});
