/** Cases of tests/ui: files that hold command lines and a small tree, run as a user's terminal would show them. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { hydraMain } from "../../src/app/cli/hydra-main.ts";
import type { Task } from "../../src/app/job/job.ts";
import type { Invocation } from "../../src/app/job/process/invocation.ts";
import { CodedError } from "../../src/engine/values/errors.ts";
import { packageInfo } from "../../src/engine/values/package-info.ts";
import * as hydraconfModule from "../../src/index.ts";
import { COMMANDS, inSurroundings, restart } from "../called-command.ts";
import { capturedConsole } from "../captured-console.ts";

/**
 * A case: what it is about (`# ...`), its command lines (`$ ...`, of a command of ours, or of `sh` to prepare something), and the
 * files of its tree (`--- PATH`, then their lines).
 */
export interface Case {
  readonly commands: readonly string[];
  readonly files: Readonly<Record<string, string>>;
}

export function readCase(text: string): Case {
  const [head = "", ...sections] = text.split(/^--- /m);
  const files = sections.map((section) => {
    const end = section.indexOf("\n");
    return [section.slice(0, end).trim(), section.slice(end + 1)] as const;
  });
  const lines = head.split("\n").filter((line) => line !== "");
  const commands = lines.flatMap((line) => (line.startsWith("$ ") ? [line.slice(2)] : []));
  const others = lines.filter((line) => !line.startsWith("$ ") && !line.startsWith("# "));
  if (others.length > 0 || commands.length === 0)
    throw new Error(`a case consists of '# ', '$ ' and '--- ' lines: ${others[0] ?? "no command"}`);
  return { commands, files: Object.fromEntries(files) };
}

/** What running a case shows. */
export interface Shown {
  /** What a terminal would show, without what differs between machines, runs and versions. */
  readonly text: string;
  /** The codes of the errors in it. */
  readonly codes: readonly string[];
}

/**
 * Tables are as wide as the paths in them: the folder of a case has a path of the same length, whether temporary files lie in
 * `/tmp/hc-123456` or in `/dev/shm/hc-123456`.
 */
function folderPrefix(parent: string): string {
  const prefix = join(parent, "hydraconf-ui-");
  return prefix.slice(0, Math.max(28, parent.length + 2));
}

export async function runCase({ commands, files }: Case): Promise<Shown> {
  const folder = realpathSync(mkdtempSync(folderPrefix(tmpdir())));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
    if (text.startsWith("#!")) chmodSync(join(folder, name), 0o755);
  }
  const shown: string[] = [];
  const codes = new Set<string>();
  for (const line of commands) {
    const { found, text } = await runLine(line, folder);
    shown.push(`$ ${line}\n${text}`);
    for (const code of found) codes.add(code);
  }
  return { text: neutral(shown.join("\n"), folder), codes: [...codes] };
}

async function runLine(line: string, folder: string) {
  const words = wordsOf(line);
  const at = words.findIndex((word) => !/^[A-Z_]+=/.test(word));
  const env = Object.fromEntries(words.slice(0, at).map((word) => word.split(/=(.*)/s)));
  const [name = "", ...argv] = words.slice(at);
  const run = PROGRAMS[name];
  if (run === undefined) throw new Error(`no such command: ${name}`);
  const { console, out } = capturedConsole();
  const { PATH, TMPDIR } = process.env;
  const invocation: Invocation = {
    argv,
    env: {
      PATH: `${join(folder, "bin")}:${PATH}`,
      HOME: join(folder, "home"),
      ...(TMPDIR !== undefined && { TMPDIR }),
      ...env,
    },
    cwd: folder,
    console,
    command: restart(name),
    now: new Date(2026, 0, 2, 3, 4, 5),
  };
  const raised = new Map<string, string>();
  const exitCode = await inSurroundings(invocation, () =>
    whileErrorsAreRead(raised, () => run(invocation)),
  );
  const isShown = (message: string) =>
    out.stderr.includes(message) || out.stdout.includes(JSON.stringify(message));
  const found = new Set([...raised].flatMap(([message, code]) => (isShown(message) ? [code] : [])));
  const end = [`exit code ${exitCode}`, ...found].join(", ");
  const text = [
    ...(out.stdout === "" ? [] : [out.stdout]),
    ...(out.stderr === "" ? [] : [`[stderr]\n${out.stderr}`]),
    `[${end}]\n`,
  ].join("");
  return { found, text };
}

/** A task cannot import the package from its folder, so it is given what that exports. */
type TaskOfCase = (...args: readonly [...Parameters<Task>, typeof hydraconfModule]) => unknown;

type Program = (invocation: Invocation) => Promise<number>;

const PROGRAMS: Readonly<Record<string, Program>> = {
  ...COMMANDS,
  /** Prepares something. */
  sh: async ({ argv, cwd, env }) =>
    spawnSync("sh", ["-c", ...argv], {
      cwd,
      env: { ...env, PACKAGE: packageInfo().root },
      stdio: "ignore",
    }).status ?? 1,
  /** A program of its own: `task.mjs`, whose default export is the task. */
  prog: async (invocation) => {
    const { default: task, ...options } = await import(
      /* @vite-ignore */ pathToFileURL(join(invocation.cwd, "task.mjs")).href
    );
    return hydraMain(
      { name: "prog", version: "1.2.3", base: invocation.cwd, configPath: "conf", ...options },
      (config, job) => (task as TaskOfCase)(config, job, hydraconfModule),
      invocation,
    );
  },
};

/** An error is shown by what its details say, so whoever shows it reads them. */
async function whileErrorsAreRead<Result>(
  raised: Map<string, string>,
  action: () => Promise<Result>,
): Promise<Result> {
  const details = Object.getOwnPropertyDescriptor(CodedError.prototype, "details");
  if (details?.get === undefined) throw new Error("details are no getter any more");
  const read = details.get;
  Object.defineProperty(CodedError.prototype, "details", {
    ...details,
    get(this: CodedError) {
      const found = read.call(this);
      raised.set(found.message, found.code);
      return found;
    },
  });
  try {
    return await action();
  } finally {
    Object.defineProperty(CodedError.prototype, "details", details);
  }
}

/** The words of a line, without the quotes around them. */
const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) =>
    word.replaceAll(/'([^']*)'|"([^"]*)"/g, "$1$2"),
  );

/** Without what differs between machines, runs and versions. */
const neutral = (text: string, folder: string): string =>
  text
    .replaceAll(folder, "DIR")
    .replaceAll(/\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[,.]\d{3}Z?/g, "TIME")
    // Seconds that a job took, in a table.
    .replaceAll(/(?<=\| )\d\.\d(?= +\|)/g, "SEC")
    .replaceAll(/\b\d+(\.\d+)? s\b/g, "SECONDS s")
    .replaceAll(packageInfo().root, "PACKAGE")
    .replaceAll(packageInfo().version, "VERSION")
    .replaceAll(process.version, "NODE")
    .replaceAll(process.execPath, "node");
