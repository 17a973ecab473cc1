/**
 * The user's consent to what a project's settings file runs. What was seen and trusted is recorded with a fingerprint in
 * the user's folder of configs, so that whatever has changed since must be trusted again.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { ConfigError } from "../../engine/values/errors.ts";
import type { FileOrigin } from "../../engine/values/origin.ts";
import { writeFileDurableSync } from "../../foundation/system/atomic-write.ts";
import {
  fileProblem,
  isBelow,
  readablePath,
  readText,
  realPlace,
  requireFile,
} from "../../foundation/system/files.ts";
import { requireIn } from "../../foundation/system/require-in.ts";
import { userFolder } from "../../foundation/system/user-folder.ts";
import { firstFew } from "../../foundation/text/plural.ts";
import { printable } from "../../foundation/text/printable.ts";
import { shellQuote } from "../../foundation/text/shell-words.ts";
import { TRUST_VARIABLE } from "../job/process/invocation.ts";
import { isPathOfModule, type Settings } from "./load-settings.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** A project's settings file, and what it says by itself. */
export interface ProjectSettings {
  readonly file: string;
  readonly settings: Settings;
}

/** One setting that runs code. */
export interface CodeSetting {
  /** `plugins`, `resolvers.double`, `python`, `sync`. */
  readonly setting: string;
  /** As it stands in the file. */
  readonly text: string;
  readonly origin: FileOrigin;
  /** The files that it names, by absolute path; they need not exist. */
  readonly files: readonly string[];
}

/** The content of the files that a project's settings name, by their paths relative to the settings file. */
type Hashes = Readonly<Record<string, string>>;

/** What a project runs now. */
export interface ProjectCode {
  /** The settings file, in its real directory. */
  readonly file: string;
  readonly code: readonly CodeSetting[];
  readonly hashes: Hashes;
  /** SHA-256 of the hashes, the same wherever the project lies. */
  readonly fingerprint: string;
}

/** What was trusted; keys are those of the file. */
export interface TrustRecord {
  readonly version: 1;
  /** The settings file, in its real directory. */
  readonly file: string;
  readonly fingerprint: string;
  /** When, as ISO 8601. */
  readonly trusted: string;
  readonly code: readonly { readonly setting: string; readonly text: string }[];
  readonly hashes: Hashes;
}

/** The answer to whether a project's code may run. */
export type Consent =
  /** `passed`: the value of `HYDRACONF_TRUST` for other processes that run the same project. */
  | { readonly isGiven: true; readonly passed?: string }
  | { readonly isGiven: false; readonly refusal: ConfigError };

/**
 * Whether a project's settings may run code. Reads files, and runs nothing.
 *
 * @param command what records the consent: `hydraconf trust`
 */
export function consentTo(
  project: ProjectSettings,
  {
    cwd,
    env,
    command,
  }: { readonly cwd: string; readonly env: Environment; readonly command: string },
): Consent {
  const code = codeSettings(project.settings, cwd);
  const [first] = code;
  if (first === undefined) return { isGiven: true };
  const trust = env[TRUST_VARIABLE];
  if (trust === "1") return { isGiven: true, passed: trust };
  const record = recordOf(project.file, env);
  if (record === undefined && !trust?.startsWith(PREFIX))
    return { isGiven: false, refusal: refusalOf(project, { code, command, why: NEVER }) };
  const now = projectCode(project, cwd);
  if ([trust, record?.fingerprint].includes(now.fingerprint))
    return { isGiven: true, passed: now.fingerprint };
  const why =
    record === undefined
      ? `is not what ${TRUST_VARIABLE} trusts`
      : `is not as it was when it was trusted (${changes(record, now)})`;
  return { isGiven: false, refusal: refusalOf(project, { code, command, why }) };
}

const NEVER = "is not trusted yet";
const PREFIX = "sha256-";

function refusalOf(
  { file }: ProjectSettings,
  {
    code,
    command,
    why,
  }: { readonly code: readonly CodeSetting[]; readonly command: string; readonly why: string },
): ConfigError {
  return new ConfigError({
    code: "plugin.untrusted",
    message: `The settings file '${printable(file)}' ${why}, and runs code: ${firstFew(code.map(shownCode), 8)}`,
    origin: code[0]?.origin,
    hint: `look at what it names, then: ${command} ${shellQuote(dirname(file))}; in CI set ${TRUST_VARIABLE}=1`,
  });
}

/** `resolvers.double: python:own.double` */
export const shownCode = ({ setting, text }: Pick<CodeSetting, "setting" | "text">): string =>
  `${printable(setting)}: ${printable(text)}`;

/** What differs from what was trusted. */
export function changes({ hashes }: TrustRecord, now: ProjectCode): string {
  const [previous, current] = [Object.keys(hashes), Object.keys(now.hashes)];
  const kinds: readonly (readonly [readonly string[], string])[] = [
    [
      current.filter((name) => Object.hasOwn(hashes, name) && hashes[name] !== now.hashes[name]),
      "changed",
    ],
    [current.filter((name) => !Object.hasOwn(hashes, name)), "named for the first time"],
    [previous.filter((name) => !Object.hasOwn(now.hashes, name)), "named no longer"],
  ];
  return kinds
    .flatMap(([names, what]) =>
      names.length === 0 ? [] : [`${firstFew(names.map(printable), 5)} ${what}`],
    )
    .join("; ");
}

/** The settings of a project that run code: everything else in the file is only read. */
export function codeSettings(
  { plugins = [], python, resolvers = {}, sync }: Settings,
  cwd: string,
): readonly CodeSetting[] {
  return [
    ...plugins.map(({ folder, module, origin }) => ({
      setting: "plugins",
      text: module,
      origin,
      files: moduleFiles(module, folder),
    })),
    ...Object.entries(resolvers).flatMap(([name, { folder, from, origin }]) =>
      from === "ready"
        ? []
        : [
            {
              setting: `resolvers.${name}`,
              text: from,
              origin,
              files: from.startsWith("python:")
                ? pythonFiles(from.slice("python:".length), [folder, cwd])
                : [resolve(folder, from.split("#")[0] ?? "")],
            },
          ],
    ),
    ...(python === undefined
      ? []
      : [
          {
            setting: "python",
            text: readablePath(python.text, python.folder),
            origin: python.origin,
            files: ownProgram(python),
          },
        ]),
    ...(sync?.text === "renew"
      ? [{ setting: "sync", text: sync.text, origin: sync.origin, files: [] }]
      : []),
  ];
}

/** Of a package, its module and its package.json, which changes with its version. */
function moduleFiles(module: string, folder: string): readonly string[] {
  if (isPathOfModule(module)) return [resolve(folder, module)];
  try {
    const file = requireIn(folder).resolve(module);
    if (!isAbsolute(file)) return [];
    const above = [dirname(file)];
    for (
      let directory = dirname(file);
      directory !== dirname(directory);
      directory = dirname(directory)
    )
      above.push(dirname(directory));
    const root = above.find((directory) => existsSync(join(directory, "package.json")));
    return [file, ...(root === undefined ? [] : [join(root, "package.json")])];
  } catch {
    // Not installed yet: when it is, there is more to trust.
    return [];
  }
}

/** The sources in which Python would look for `my_project.resolvers.double`: of the module, and of its packages. */
function pythonFiles(path: string, folders: readonly string[]): readonly string[] {
  const parts = path.split(".");
  return [...new Set(folders)].flatMap((folder) =>
    parts.flatMap((_, index) => {
      const module = join(folder, ...parts.slice(0, index + 1));
      return [`${module}.py`, join(module, "__init__.py")].filter((file) => existsSync(file));
    }),
  );
}

/** The interpreter, unless it is a link to one outside of the project, as in most virtual environments. */
function ownProgram({ folder, text }: { readonly folder: string; readonly text: string }) {
  if (!isAbsolute(text)) return [];
  return isBelow(realPlace(text), realPlace(folder)) ? [text] : [];
}

/** What a project's settings run, with the content of the files. */
export function projectCode({ file, settings }: ProjectSettings, cwd: string): ProjectCode {
  const code = codeSettings(settings, cwd);
  const real = realFile(file);
  const folder = dirname(real);
  const text = code[0]?.origin.source.text ?? "";
  const files = [...new Set(code.flatMap((setting) => setting.files))];
  const hashes = Object.fromEntries([
    [basename(real), digest(text)],
    ...files.map((path) => [relative(folder, realFile(path)), contentOf(path, folder)] as const),
  ]);
  const whole = JSON.stringify(Object.entries(hashes).sort(([a], [b]) => (a < b ? -1 : 1)));
  return { file: real, code, hashes, fingerprint: PREFIX + digest(whole) };
}

/** The hash of a file, with the place where it is, from which Node resolves what it imports in turn. */
function contentOf(file: string, folder: string): string {
  const place = relative(folder, realPlace(file));
  try {
    requireFile(file);
    return `${digest(readFileSync(file))} ${place}`;
  } catch (error) {
    return `${fileProblem(error)} ${place}`;
  }
}

/** Its own name may be a link; the names of its directories are resolved. */
const realFile = (file: string): string => join(realPlace(dirname(file)), basename(file));

const digest = (data: string | Uint8Array): string =>
  createHash("sha256").update(data).digest("hex");

const recordsFolder = (env: Environment): string => join(userFolder(env), "trusted");

const recordFile = (file: string, env: Environment): string =>
  join(recordsFolder(env), `${digest(realFile(file)).slice(0, 32)}.json`);

/** The record of a settings file; undefined for one that is not trusted. */
export const recordOf = (file: string, env: Environment): TrustRecord | undefined => {
  const record = readRecord(recordFile(file, env));
  return record?.file === realFile(file) ? record : undefined;
};

const WRITABLE_BY_OTHERS = 0o022;

/** Undefined also for a file that another user has written or can change, and for one that is no record. */
function readRecord(path: string): TrustRecord | undefined {
  try {
    const { mode, uid } = statSync(path);
    const userId = process.getuid?.();
    if (userId !== undefined && (uid !== userId || (mode & WRITABLE_BY_OTHERS) !== 0))
      return undefined;
    const record = JSON.parse(readText(path)) as TrustRecord;
    return record.version === 1 && typeof record.file === "string" ? record : undefined;
  } catch {
    return undefined;
  }
}

/** All records, by their settings files. */
export function allRecords(env: Environment): readonly TrustRecord[] {
  const folder = recordsFolder(env);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names
    .filter((name) => name.endsWith(".json"))
    .flatMap((name) => readRecord(join(folder, name)) ?? [])
    .sort((a, b) => (a.file < b.file ? -1 : 1));
}

/** @throws ConfigError `app.system` if the record cannot be written */
export function recordTrust(
  { code, file, fingerprint, hashes }: ProjectCode,
  { env, now }: { readonly env: Environment; readonly now: Date },
): void {
  const record: TrustRecord = {
    version: 1,
    file,
    fingerprint,
    trusted: now.toISOString(),
    code: code.map(({ setting, text }) => ({ setting, text })),
    hashes,
  };
  const path = recordFile(file, env);
  changeRecord(path, () =>
    writeFileDurableSync(path, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 }),
  );
}

/** @throws ConfigError `app.system` if the record cannot be removed */
export function revokeTrust({ file }: Pick<TrustRecord, "file">, env: Environment): void {
  const path = recordFile(file, env);
  changeRecord(path, () => rmSync(path, { force: true }));
}

function changeRecord(path: string, change: () => void): void {
  try {
    change();
  } catch (cause) {
    throw new ConfigError({
      code: "app.system",
      message: `Cannot change '${path}': ${fileProblem(cause)}`,
      hint: "XDG_CONFIG_HOME names the folder of configs, else ~/.config",
      cause,
    });
  }
}

/**
 * Marks what a project's file says in merged settings, so that it is refused where it would run.
 *
 * @param file the project's, as in the origins
 */
export function withRefusal(settings: Settings, file: string, refusal: ConfigError): Settings {
  const marked = <T extends { readonly origin: FileOrigin }>(entry: T): T =>
    entry.origin.source.name === file ? { ...entry, refusal } : entry;
  const { plugins, python, resolvers, sync } = settings;
  return {
    ...settings,
    ...(plugins && { plugins: plugins.map(marked) }),
    ...(python && { python: marked(python) }),
    ...(sync && { sync: marked(sync) }),
    ...(resolvers && {
      resolvers: Object.fromEntries(
        Object.entries(resolvers).map(([name, entry]) => [
          name,
          entry.from === "ready" ? entry : marked(entry),
        ]),
      ),
    }),
  };
}

/** A file or directory of a project that another user owns, and so may change at any time. */
export function ownedByOthers({ code, file }: ProjectCode): readonly string[] {
  const userId = process.getuid?.();
  if (userId === undefined) return [];
  const isForeign = (path: string): boolean => {
    const status = statSync(path, { throwIfNoEntry: false });
    return status !== undefined && status.uid !== userId && status.uid !== 0;
  };
  return [dirname(file), file, ...code.flatMap((setting) => setting.files)].filter(isForeign);
}
