import { randomUUID } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { makeDirectory } from "../../../make-directory.ts";
import { ConfigError } from "../../../values/errors.ts";
import { isRunning, type ProcessIdentity, thisProcess } from "../../worker/process-identity.ts";
import { launcherFile } from "./layout.ts";

/**
 * Makes this process the one that launches a sweep's jobs. A claim that a dead process left behind
 * counts for nothing.
 *
 * @returns gives it up
 * @throws ConfigError `app.sweep_record` while another process launches them
 */
export function claimSweep(folder: string): () => void {
  const file = launcherFile(folder);
  makeDirectory(folder);
  for (;;) {
    if (linked(file, JSON.stringify(thisProcess()))) return () => rmSync(file, { force: true });
    const text = read(file);
    if (text === undefined) continue;
    const holder = parsed(text);
    const alive = holder !== undefined && isRunning(holder);
    if (holder !== undefined && alive !== false) throw inUse(folder, holder, alive);
    removeStale(file, text);
  }
}

/** Who launches a sweep right now; undefined where nobody does. */
export function launcherOf(folder: string): ProcessIdentity | undefined {
  const text = read(launcherFile(folder));
  const holder = text === undefined ? undefined : parsed(text);
  return holder !== undefined && isRunning(holder) !== false ? holder : undefined;
}

/** Linked into place with its content: nobody ever reads a claim that is half written. */
function linked(file: string, text: string): boolean {
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, text);
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Somebody else may have replaced the stale claim meanwhile: then that one is put back. */
function removeStale(file: string, stale: string): void {
  const aside = `${file}.${randomUUID()}`;
  try {
    renameSync(file, aside);
    if (readFileSync(aside, "utf8") !== stale) linkSync(aside, file);
  } catch (error) {
    if (codeOf(error) !== "ENOENT" && codeOf(error) !== "EEXIST") throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

function parsed(text: string): ProcessIdentity | undefined {
  try {
    return JSON.parse(text) as ProcessIdentity;
  } catch {
    return undefined;
  }
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && "code" in error ? error.code : undefined;

const inUse = (
  folder: string,
  { host, pid }: ProcessIdentity,
  alive: boolean | "elsewhere",
): ConfigError =>
  new ConfigError({
    code: "app.sweep_record",
    message: `The sweep in '${folder}' is being run by process ${pid} on ${host}`,
    key: "hydra.sweep.dir",
    hint:
      alive === "elsewhere"
        ? `if that process is no more, remove ${launcherFile(folder)}`
        : "wait for it, or give this sweep another directory with hydra.sweep.dir=DIR",
  });
