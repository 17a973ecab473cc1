import { mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { draftBeside, removeDeadDrafts } from "../../src/system/drafts.ts";
import { thisProcess } from "../../src/system/process-identity.ts";
import { bundled } from "../bundled.ts";

const newFolder = () => mkdtempSync(join(tmpdir(), "hydraconf-drafts-"));

/** A draft that a process on this machine made, which is no more. */
async function deadDraft(file: string): Promise<string> {
  const program = bundled(new URL("draft/name.ts", import.meta.url), "name");
  const { stdout } = await execa(process.execPath, [program, file]);
  return stdout;
}

test("a draft is next to its file, and its name has the writer's host and process", () => {
  const draft = draftBeside("/some/where/config.yaml");
  expect(dirname(draft)).toBe("/some/where");
  expect(basename(draft)).toMatch(/^\.[^/]+\.tmp$/);
  expect(draft).toContain(`${encodeURIComponent(hostname())}+${process.pid}+`);
  expect(draftBeside("/some/where/config.yaml")).not.toBe(draft);
});

test("drafts of dead processes are removed, those of living ones and other files are kept", async () => {
  const folder = newFolder();
  const own = draftBeside(join(folder, "a"));
  const others = ["kept.tmp", ".5e0f1c1e-6d3b-4f3a-9d55-0d7a8c1c9b1e.tmp", ".a+b.tmp"];
  for (const name of others) writeFileSync(join(folder, name), "");
  writeFileSync(own, "");
  writeFileSync(await deadDraft(join(folder, "a")), "half");
  expect(readdirSync(folder)).toHaveLength(others.length + 2);
  removeDeadDrafts(folder);
  expect(readdirSync(folder).sort()).toEqual([...others, basename(own)].sort());
});

test("of another host nobody can tell", async () => {
  const folder = newFolder();
  const dead = basename(await deadDraft(join(folder, "a")));
  const fields = dead.slice(1, -".tmp".length).split("+");
  const variant = (at: number, field: string) =>
    `.${fields.map((one, index) => (index === at ? field : one)).join("+")}.tmp`;
  const elsewhere = [variant(0, "node7"), variant(0, "a%2Bb")];
  for (const name of [dead, ...elsewhere]) writeFileSync(join(folder, name), "");
  removeDeadDrafts(folder);
  expect(readdirSync(folder).sort()).toEqual([...elsewhere].sort());
});

test("a draft of another boot is kept: it may be from another machine of the same name", () => {
  const folder = newFolder();
  const { birth } = thisProcess();
  const [boot = ""] = birth?.split(" ") ?? [];
  const own = basename(draftBeside(join(folder, "a")));
  const other = own.replace(boot, "0c0ffee0-0000-4000-8000-000000000000");
  writeFileSync(join(folder, other), "");
  removeDeadDrafts(folder);
  expect(readdirSync(folder)).toEqual([other]);
});

test("links to other places, and loops of links, are not followed", async () => {
  const [folder, elsewhere] = [newFolder(), newFolder()];
  writeFileSync(await deadDraft(join(elsewhere, "a")), "");
  for (const [name, target] of Object.entries({ data: elsewhere, latest: ".", current: "." }))
    symlinkSync(target, join(folder, name));
  removeDeadDrafts(folder, { recursive: true });
  expect(readdirSync(elsewhere)).toHaveLength(1);
});

test("subdirectories are searched only on request; a missing directory has no drafts", async () => {
  const folder = newFolder();
  mkdirSync(join(folder, "deep/er"), { recursive: true });
  const below = join(folder, "deep/er/a");
  writeFileSync(await deadDraft(below), "");
  removeDeadDrafts(folder);
  expect(readdirSync(dirname(below))).toHaveLength(1);
  removeDeadDrafts(folder, { recursive: true });
  expect(readdirSync(dirname(below))).toHaveLength(0);
  removeDeadDrafts(join(folder, "nowhere"));
});
