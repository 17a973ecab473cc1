/** The machine as the probes see it. Nothing here throws or blocks for long, whatever is broken. */
import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
} from "node:fs";
import { join, relative } from "node:path";
import { askProgram } from "../../../foundation/system/ask-program.ts";
import { chosenFolderNote, findNsightTool, type NsightTool } from "../find-tools.ts";

/** The machine as `doctor` sees it. */
export interface Machine {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Node's name: `linux`. */
  readonly platform: string;
  /** Node's name: `arm64`. */
  readonly arch: string;
  /** Whether this process runs as root, to which limits of other users do not apply. */
  readonly isRoot: boolean;
  /** Content of a file; null if it cannot be read. */
  read(path: string): string | null;
  /** Whether an existing file can be opened in the way of programs that share it; null if it does not exist. */
  opens(path: string): boolean | null;
  /** Names in a directory; empty if it cannot be read. */
  list(path: string): readonly string[];
  /** A path with its links resolved; the path itself if it does not exist. */
  real(path: string): string;
  /** Standard output of a program; null if it fails or takes too long. */
  run(argv: readonly string[]): Promise<string | null>;
  /** The root of the machine's file systems. */
  readonly root: string;
}

const PROBE_TIMEOUT_MS = 30_000;

export function thisMachine(env: Machine["env"], root = "/"): Machine {
  return {
    env,
    root,
    platform: process.platform,
    arch: process.arch,
    isRoot: process.getuid?.() === 0,
    read: (path) => orNull(() => readFileSync(join(root, path), "utf8")),
    opens: (path) => opensShared(join(root, path)),
    list: (path) => orNull(() => readdirSync(join(root, path))) ?? [],
    real: (path) => {
      const found = orNull(() => realpathSync(join(root, path)));
      return found === null ? path : `/${relative(realpathSync(root), found)}`;
    },
    async run(argv) {
      // Standard error has only warnings, such as those of a wrapper of python3.
      const { failed, stdout } = await askProgram({ argv, limitMs: PROBE_TIMEOUT_MS });
      return failed ? null : stdout;
    },
  };
}

/** The kernel refuses O_CREAT on files of others in sticky folders, even to root (fs.protected_regular). */
function opensShared(path: string): boolean | null {
  if (!existsSync(path)) return null;
  try {
    closeSync(openSync(path, constants.O_RDWR | constants.O_CREAT));
    return true;
  } catch {
    return false;
  }
}

function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

/** The result of `deep-profile doctor` as data. */
export interface Findings {
  /** The version of this package. */
  readonly version: string;
  readonly checks: readonly Check[];
  readonly collectors: readonly Verdict[];
}

/** A check of something that may be installed or configured. */
export interface Check {
  readonly name: string;
  /** `missing` is not a failure: hardly anybody needs everything. */
  readonly state: "ok" | "warning" | "missing";
  readonly detail: string;
  /** How to fix it. */
  readonly hint?: string;
}

/** An obstacle for a check that would be ok otherwise. */
export type Problem = Required<Pick<Check, "detail" | "hint">>;

/** Whether a profiling method works on this machine. */
export interface Verdict {
  /** The tool, or a way to use it, e.g. `recorder with kernels`. */
  readonly name: string;
  readonly works: "yes" | "partly" | "no";
  readonly detail: string;
}

/** Whether a program of NVIDIA Nsight is installed and runs. */
export async function probeNsight(
  machine: Machine,
  tool: NsightTool,
  product: string,
): Promise<Check> {
  const path = findNsightTool(tool, machine.env, machine.root);
  if (path === null)
    return {
      name: tool,
      state: "missing",
      detail: `not found${chosenFolderNote(tool, machine.env)}`,
      hint: `install ${product} (part of the CUDA toolkit) and put ${tool} on PATH, or set HYDRACONF_NSIGHT to its directory`,
    };
  const answer = await machine.run([path, "--version"]);
  const version = /(?:version|Version) (\d[\d.]*\d)/.exec(answer ?? "")?.[1];
  return version === undefined
    ? {
        name: tool,
        state: "warning",
        detail: `${path} does not run: it does not print its version`,
        hint: `${path} --version shows why; set HYDRACONF_NSIGHT to the directory of another ${tool}`,
      }
    : { name: tool, state: "ok", detail: `${version} (${path})` };
}
