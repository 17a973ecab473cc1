import { createHash, randomUUID } from "node:crypto";
import { type Dirent, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { isOfThisBoot, isRunning, type ProcessIdentity, thisProcess } from "./process-identity.ts";

/**
 * A temporary name beside a file, used until the file is complete. It identifies the writing process as a claim does, so that others
 * can tell later which drafts nobody will ever finish:
 *
 *     .HOST+PID+BOOT+START+NAMESPACE+CONTAINER+RANDOM.tmp
 *
 * The file's own name is not part of it: that may already be as long as the file system allows.
 */
export const draftBeside = (file: string): string =>
  join(dirname(file), `.${ownFields()}${SEPARATOR}${randomPart()}${SUFFIX}`);

let ownWords: string | undefined;

/** Built once, since it never changes and a job of a sweep writes many files. */
function ownFields(): string {
  ownWords ??= fieldsOf(thisProcess()).join(SEPARATOR);
  return ownWords;
}

const SUFFIX = ".tmp";
/** Occurs in no field: those that might contain it are escaped. */
const SEPARATOR = "+";
const randomPart = (): string => randomUUID().slice(-12);

/**
 * Removes the drafts in a directory whose writers are certainly dead. Drafts from another host, container or boot stay: such a writer
 * cannot be checked, two machines may have the same name, and removing a living writer's draft is worse than leaving a dead one's.
 * Drafts that cannot be removed stay, too; they do no harm.
 *
 * @param options.recursive also look in the directories below
 */
export function removeDeadDrafts(
  directory: string,
  { recursive = false }: { readonly recursive?: boolean } = {},
): void {
  for (const entry of entriesOf(directory)) {
    const path = join(directory, entry.name);
    const writer = writerOf(entry.name);
    if (writer !== undefined && isDead(writer)) removeIfAllowed(path);
    // `readdir`'s own recursion would follow links: out of the directory, or in circles.
    else if (recursive && entry.isDirectory()) removeDeadDrafts(path, { recursive });
  }
}

const isDead = (writer: ProcessIdentity): boolean =>
  isRunning(writer) === false && (writer.birth === null || isOfThisBoot(writer));

/** Empty if the directory is missing or cannot be read. */
function entriesOf(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Removes what does no harm where it stays. */
export function removeIfAllowed(file: string): void {
  try {
    rmSync(file, { force: true, recursive: true });
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error)) throw error;
  }
}

/** `-` stands for what the kernel does not tell. */
function fieldsOf({ birth, container, host, pid, pid_namespace }: ProcessIdentity): string[] {
  const [boot = NOT_TOLD, start = NOT_TOLD] = birth?.split(" ") ?? [];
  const namespace = /\d+/.exec(pid_namespace ?? "")?.[0] ?? NOT_TOLD;
  return [hostField(host), String(pid), boot, start, namespace, containerField(container)];
}

const NOT_TOLD = "-";

/** Readable for whoever finds such a file; a hash if the host's name is too long for part of a file name. */
function hostField(host: string): string {
  const escaped = encodeURIComponent(host);
  return escaped.length <= 64 ? escaped : shortOf(host);
}

/** A container is known by a path; here it only has to differ from others. */
const containerField = (container: string | undefined): string =>
  container === undefined ? NOT_TOLD : shortOf(container);

const shortOf = (text: string): string =>
  createHash("sha256").update(text).digest("hex").slice(0, 16);

const DRAFT =
  /^\.(?<host>[^+]+)\+(?<pid>\d+)\+(?<boot>[^+]+)\+(?<start>\d+|-)\+(?<namespace>\d+|-)\+(?<container>[^+]+)\+[^+]+\.tmp$/;

/** The process that wrote a draft; undefined for any other file. */
function writerOf(name: string): ProcessIdentity | undefined {
  const fields = DRAFT.exec(name)?.groups;
  if (fields === undefined) return undefined;
  const { boot, container = "", host = "", namespace, pid, start } = fields;
  const own = thisProcess();
  return {
    // Equal fields mean our own host or container; of any other, only the field is known.
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
