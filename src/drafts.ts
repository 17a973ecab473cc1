import { createHash, randomUUID } from "node:crypto";
import { type Dirent, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { isOfThisBoot, isRunning, type ProcessIdentity, thisProcess } from "./process-identity.ts";

/**
 * The name of a file until it is whole, beside the file. It names its writer as a claim does, so that whoever comes by later knows
 * what no process will finish:
 *
 *     .HOST+PID+BOOT+START+NAMESPACE+CONTAINER+RANDOM.tmp
 *
 * Not built from the file's own name, which may be as long as the file system allows.
 */
export const draftBeside = (file: string): string =>
  join(dirname(file), `.${ownFields()}${SEPARATOR}${randomPart()}${SUFFIX}`);

let ownWords: string | undefined;

/** A fact that never changes, put in words once: a job of a sweep writes many files. */
function ownFields(): string {
  ownWords ??= fieldsOf(thisProcess()).join(SEPARATOR);
  return ownWords;
}

const SUFFIX = ".tmp";
/** No field has it: what might is escaped. */
const SEPARATOR = "+";
const randomPart = (): string => randomUUID().slice(-12);

/**
 * Removes the drafts in a directory whose writers are certainly dead. One of another host or container, which cannot be asked,
 * stays, and one of another boot: two machines may have one name, and to take a living writer's draft is worse than to leave a dead
 * one's. So does what cannot be removed: it only lies about.
 *
 * @param options.recursive whether those in the directories below it, too
 */
export function removeDeadDrafts(
  directory: string,
  { recursive = false }: { readonly recursive?: boolean } = {},
): void {
  for (const entry of entriesOf(directory)) {
    const path = join(directory, entry.name);
    const writer = writerOf(entry.name);
    if (writer !== undefined && isDead(writer)) removeIfAllowed(path);
    // Not `readdir`'s own recursion, which follows links: out of the directory, or round in circles.
    else if (recursive && entry.isDirectory()) removeDeadDrafts(path, { recursive });
  }
}

const isDead = (writer: ProcessIdentity): boolean =>
  isRunning(writer) === false && (writer.birth === null || isOfThisBoot(writer));

/** None of a directory that is missing or cannot be read. */
function entriesOf(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}

function removeIfAllowed(file: string): void {
  try {
    rmSync(file, { force: true, recursive: true });
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error)) throw error;
  }
}

/** What the kernel does not tell is `-`. */
function fieldsOf({ birth, container, host, pid, pid_namespace }: ProcessIdentity): string[] {
  const [boot = NOT_TOLD, start = NOT_TOLD] = birth?.split(" ") ?? [];
  const namespace = /\d+/.exec(pid_namespace ?? "")?.[0] ?? NOT_TOLD;
  return [hostField(host), String(pid), boot, start, namespace, containerField(container)];
}

const NOT_TOLD = "-";

/** As it is, for who finds such a file; in short, where that would be too long for a part of a name. */
function hostField(host: string): string {
  const escaped = encodeURIComponent(host);
  return escaped.length <= 64 ? escaped : shortOf(host);
}

/** A path, of which a name only has to be told from others. */
const containerField = (container: string | undefined): string =>
  container === undefined ? NOT_TOLD : shortOf(container);

const shortOf = (text: string): string =>
  createHash("sha256").update(text).digest("hex").slice(0, 16);

const DRAFT =
  /^\.(?<host>[^+]+)\+(?<pid>\d+)\+(?<boot>[^+]+)\+(?<start>\d+|-)\+(?<namespace>\d+|-)\+(?<container>[^+]+)\+[^+]+\.tmp$/;

/** Who writes, or wrote, a draft; undefined for any other file. */
function writerOf(name: string): ProcessIdentity | undefined {
  const fields = DRAFT.exec(name)?.groups;
  if (fields === undefined) return undefined;
  const { boot, container = "", host = "", namespace, pid, start } = fields;
  const own = thisProcess();
  return {
    // Where a field says what ours does, the host or container is ours; of another one only that is known.
    host: host === hostField(own.host) ? own.host : host,
    pid: Number(pid),
    birth: boot === NOT_TOLD ? null : `${boot} ${start}`,
    pid_namespace: namespace === NOT_TOLD ? null : `pid:[${namespace}]`,
    ...(container !== NOT_TOLD && {
      container:
        container === containerField(own.container) ? (own.container ?? container) : container,
    }),
  };
}
