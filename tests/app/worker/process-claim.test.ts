import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { holderOf, tryClaim } from "../../../src/app/worker/process-claim.ts";
import { runs } from "../../runs.ts";

const newFolder = () => mkdtempSync(join(tmpdir(), "hydraconf-claim-"));

/** The number of a process that has ended. */
async function deadProcess(): Promise<number> {
  const child = execa("true");
  const { pid = 0 } = child;
  await child;
  return pid;
}

describe("a claim", () => {
  test("is one process's until it gives it up", () => {
    const file = join(newFolder(), "deep/claim.json");
    expect(holderOf(file)).toBeUndefined();
    const first = tryClaim(file, "a test");
    if (first.kind === "held") throw new Error("held");
    expect(holderOf(file)).toMatchObject({ pid: process.pid, use: "a test" });
    expect(tryClaim(file)).toMatchObject({ kind: "held", alive: true });
    first.claim.release();
    expect(tryClaim(file).kind).toBe("taken");
  });

  test("that was handed over is the other's, who alone may take it up", () => {
    const file = join(newFolder(), "claim.json");
    const first = tryClaim(file);
    if (first.kind === "held") throw new Error("held");
    first.claim.handOver(process.ppid, true);
    expect(tryClaim(file)).toMatchObject({ kind: "held", holder: { pid: process.ppid } });
    // Not any more ours to give up.
    first.claim.release();
    expect(holderOf(file)).toMatchObject({ pid: process.ppid, awaited: true });
    const again = join(newFolder(), "claim.json");
    const second = tryClaim(again);
    if (second.kind === "held") throw new Error("held");
    second.claim.handOver(process.pid, true);
    expect(tryClaim(again).kind).toBe("taken");
    expect(tryClaim(again).kind).toBe("held");
  });

  test("of a process on another machine stays", () => {
    const file = join(newFolder(), "claim.json");
    writeFileSync(file, JSON.stringify({ host: `not-${hostname()}`, pid: 1, birth: null }));
    expect(tryClaim(file)).toMatchObject({ kind: "held", alive: "elsewhere" });
  });

  test("is never two processes', however many find it left behind", {
    timeout: 120_000,
  }, async () => {
    const folder = newFolder();
    const script = join(folder, "claimant.cjs");
    buildSync({
      entryPoints: [fileURLToPath(new URL("claimant/main.ts", import.meta.url))],
      outfile: script,
      bundle: true,
      platform: "node",
      format: "cjs",
      logLevel: "error",
    });
    const dead = await deadProcess();
    const claimants = Array.from({ length: 4 }, () =>
      execa(process.execPath, [script, folder, String(runs(200)), String(dead)], {
        reject: false,
      }),
    );
    for (const { exitCode, stderr } of await Promise.all(claimants))
      expect([exitCode, stderr]).toEqual([0, ""]);
    expect(readdirSync(folder).filter((name) => name.startsWith("claim.json."))).toEqual([]);
  });
});
