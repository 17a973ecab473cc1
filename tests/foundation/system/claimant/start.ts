import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { expect } from "vitest";
import { bundled } from "../../../bundled.ts";
import { runs } from "../../../runs.ts";

/** A program that takes a claim again and again. */
export const claimant = () => bundled(new URL("main.ts", import.meta.url), "claimant");

/** The number of a process that has ended. */
export async function deadProcess(): Promise<number> {
  const child = execa("true");
  const { pid = 0 } = child;
  await child;
  return pid;
}

/** Four processes take what a dead one left, so many times; each says where it was not alone. */
export async function expectOneHolder(times: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-claim-"));
  const script = claimant();
  const dead = await deadProcess();
  const claimants = Array.from({ length: 4 }, () =>
    execa(process.execPath, [script, folder, String(runs(times)), String(dead)], { reject: false }),
  );
  for (const { exitCode, stderr } of await Promise.all(claimants))
    expect([exitCode, stderr]).toEqual([0, ""]);
  expect(readdirSync(folder)).toEqual([]);
}
