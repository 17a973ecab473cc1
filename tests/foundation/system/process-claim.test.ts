import fs, {
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { describe, expect, test, vi } from "vitest";
import { holderOf, tryClaim } from "../../../src/foundation/system/process-claim.ts";
import { identityOf, thisProcess } from "../../../src/foundation/system/process-identity.ts";
import { canMount, withFullDisk } from "../../app/cli/mounts.ts";
import { claimant, deadProcess, expectOneHolder } from "./claimant/start.ts";

const HOOK = fileURLToPath(new URL("kill-at/hook.cjs", import.meta.url));

const newFolder = () => mkdtempSync(join(tmpdir(), "hydraconf-claim-"));

describe("a claim", () => {
  test("is one process's until it gives it up", () => {
    const file = join(newFolder(), "deep/claim.json");
    expect(holderOf(file)).toBeUndefined();
    const first = tryClaim(file, { use: "a test" });
    if (first.kind === "held") throw new Error("held");
    expect(holderOf(file)).toMatchObject({ pid: process.pid, use: "a test" });
    expect(tryClaim(file)).toMatchObject({ kind: "held", alive: true });
    first.claim.release();
    expect(tryClaim(file).kind).toBe("taken");
  });

  test("that was handed over can be taken up only by the new holder", () => {
    const file = join(newFolder(), "claim.json");
    const first = tryClaim(file);
    if (first.kind === "held") throw new Error("held");
    first.claim.handOver(process.ppid, { awaited: true });
    expect(tryClaim(file)).toMatchObject({ kind: "held", holder: { pid: process.ppid } });
    // Not any more ours to give up.
    first.claim.release();
    expect(holderOf(file)).toMatchObject({ pid: process.ppid, awaited: true });
    const again = join(newFolder(), "claim.json");
    const second = tryClaim(again);
    if (second.kind === "held") throw new Error("held");
    second.claim.handOver(process.pid, { awaited: true });
    expect(tryClaim(again).kind).toBe("taken");
    expect(tryClaim(again).kind).toBe("held");
  });

  test("of a process on another machine stays", () => {
    const file = join(newFolder(), "claim.json");
    writeFileSync(file, JSON.stringify({ host: `not-${hostname()}`, pid: 1, birth: null }));
    expect(tryClaim(file)).toMatchObject({ kind: "held", alive: "elsewhere" });
  });

  test("is never held by two processes, however many find it abandoned", () => expectOneHolder(40));

  test("of a dead process can be taken over at once, whatever the clock says", async () => {
    const file = join(newFolder(), "claim.json");
    const dead = JSON.stringify(identityOf(await deadProcess()));
    for (const time of [0, Date.now() / 1000, 4e9]) {
      writeFileSync(file, dead);
      utimesSync(file, time, time);
      const attempt = tryClaim(file);
      expect(attempt.kind).toBe("taken");
      if (attempt.kind === "taken") attempt.claim.release();
    }
  });

  test("of a process of an earlier boot is free", () => {
    const file = join(newFolder(), "claim.json");
    const own = thisProcess();
    writeFileSync(file, JSON.stringify({ ...own, birth: "another-boot 1", pid_namespace: "x" }));
    expect(holderOf(file)).toBeUndefined();
    expect(tryClaim(file).kind).toBe("taken");
  });

  test("that was handed to the same number on another machine is not taken up", () => {
    const file = join(newFolder(), "claim.json");
    const there = { ...thisProcess(), host: `not-${hostname()}`, awaited: true };
    writeFileSync(file, JSON.stringify(there));
    expect(tryClaim(file)).toMatchObject({ kind: "held", alive: "elsewhere" });
  });

  test.skipIf(!canMount("claims on full disks"))("on a disk that is full names its file", () =>
    withFullDisk((disk) => {
      const file = join(disk, "claim");
      expect(() => tryClaim(file)).toThrow(`ENOSPC: no space left on device, write '${file}'`);
    }),
  );

  // What a crash of the machine leaves of a file that was never flushed.
  test.each([
    ["empty", ""],
    ["of NULs", "\0".repeat(200)],
    ["cut", '{"host": "h'],
    ["of another kind", "[]"],
  ])("that was left unreadable (%s) is free", (_, text) => {
    const file = join(newFolder(), "claim.json");
    writeFileSync(file, text);
    expect(holderOf(file)).toBeUndefined();
    expect(tryClaim(file).kind).toBe("taken");
    expect(holderOf(file)?.pid).toBe(process.pid);
  });

  test("that is damaged or removed is not whole, and one that another process has is left to it", () => {
    const file = join(newFolder(), "claim.json");
    const other = JSON.stringify({ ...thisProcess(), id: "another" });
    for (const text of ["", "\0", other]) {
      const attempt = tryClaim(file);
      if (attempt.kind === "held") throw new Error("held");
      const { claim } = attempt;
      expect(claim.isWhole()).toBe(true);
      writeFileSync(file, text);
      expect(claim.isWhole()).toBe(false);
      claim.release();
      expect(existsSync(file)).toBe(text === other);
    }
    rmSync(file);
    const attempt = tryClaim(file);
    if (attempt.kind === "held") throw new Error("held");
    rmSync(file);
    expect(attempt.claim.isWhole()).toBe(false);
  });

  test("is taken where files cannot be linked, too", async () => {
    const file = join(newFolder(), "claim.json");
    const cannot = vi.spyOn(fs, "linkSync").mockImplementation(() => {
      throw Object.assign(new Error("EPERM: operation not permitted, link"), { code: "EPERM" });
    });
    syncBuiltinESMExports();
    try {
      writeFileSync(file, JSON.stringify(identityOf(await deadProcess())));
      const first = tryClaim(file);
      if (first.kind === "held") throw new Error("held");
      expect(tryClaim(file).kind).toBe("held");
      first.claim.release();
      expect(tryClaim(file).kind).toBe("taken");
      expect(holderOf(file)).toMatchObject({ pid: process.pid });
      expect(cannot).toHaveBeenCalled();
    } finally {
      cannot.mockRestore();
      syncBuiltinESMExports();
    }
  });

  test("has exactly one holder, wherever a process that takes it over is killed", async () => {
    const script = claimant();
    const dead = await deadProcess();
    const left = JSON.stringify(identityOf(dead));
    const run = (folder: string, at: number) =>
      execa(process.execPath, ["--require", HOOK, script, folder, "1", String(dead)], {
        reject: false,
        env: { KILL_AT: `launcher:${at}` },
      });
    let kills = 0;
    for (;;) {
      const folder = newFolder();
      const file = join(folder, "claim.json");
      writeFileSync(file, left);
      const { signal } = await run(folder, kills + 1);
      if (signal === undefined) break;
      kills++;
      fs.rmSync(join(folder, "witness"), { recursive: true, force: true });
      // A second one takes over from both.
      expect((await run(folder, 0)).exitCode, `killed at ${kills}`).toBe(0);
      expect(tryClaim(file).kind).toBe("taken");
      expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ pid: process.pid });
    }
    expect(kills).toBeGreaterThan(8);
  });
});
