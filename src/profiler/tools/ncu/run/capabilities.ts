/**
 * The capabilities of the installed Nsight Compute, asked from ncu itself: option names and allowed values differ
 * between versions, so nothing is concluded from the version number.
 */

import { accessSync, constants } from "node:fs";
import os from "node:os";
import { askProgram } from "../../../../foundation/system/ask-program.ts";
import { chosenFolderNote, findNsightTool } from "../../../machine/find-tools.ts";
import { ToolError } from "../../../machine/tool-error.ts";

export interface NcuCapabilities {
  /** Absolute path of the program. */
  readonly path: string;
  /** The version as ncu prints it, e.g. `2024.1.1.0`. */
  readonly version: string;
  /** Long names of all options, including dashes. */
  readonly options: ReadonlySet<string>;
  /** Whether its help lists a value of an option; false for an unknown option. */
  readonly accepts: (option: string, value: string) => boolean;
  /** It is not installed on this machine, so that it cannot be asked anything. */
  readonly isElsewhere?: true;
}

/** A recent ncu of another machine, for plans where this one has none. */
export const NCU_ELSEWHERE: NcuCapabilities = {
  path: "ncu",
  version: "",
  options: new Set(["--config-file", "--rename-kernels"]),
  accepts: () => true,
  isElsewhere: true,
};

/**
 * Runs `ncu --version` and `ncu --help`.
 *
 * @throws ToolError `profile.tool` for a program whose output is not that of Nsight Compute
 */
export async function probeNcu(path: string): Promise<NcuCapabilities> {
  const [version, help] = await Promise.all([
    askNcu(path, ["--version"]),
    askNcu(path, ["--help"]),
  ]);
  return { path, version: versionIn(version, path), ...readHelp(help.stdout) };
}

function versionIn({ stdout, stderr }: NcuAnswer, path: string): string {
  const found = /^Version (\d+(?:\.\d+)+)/m.exec(stdout)?.[1];
  if (found !== undefined) return found;
  const said = `${stdout}${stderr}`.trim().split("\n")[0] ?? "";
  throw new ToolError({
    tool: "ncu",
    code: "profile.tool",
    key: "pipeline.ncu.enable",
    message: `'${path} --version' did not answer like Nsight Compute${said === "" ? "" : `: ${said}`}`,
    hint: "deep-profile needs ncu 2022.1 or newer; the output of ncu may say what is missing",
  });
}

/** Options are indented by two spaces: `  -k [ --kernel-name ] arg   Filter the kernel`. */
const OPTION_LINE = /^ {2}(?:-\w \[ )?(--[a-z0-9][a-z0-9-]*)(?: \])?/;

export function readHelp(help: string): Pick<NcuCapabilities, "options" | "accepts"> {
  const blocks = new Map<string, string[]>();
  let block: string[] | undefined;
  for (const line of help.split("\n")) {
    const name = OPTION_LINE.exec(line)?.[1];
    if (name !== undefined) {
      block = [line.slice(line.indexOf(name) + name.length)];
      blocks.set(name, block);
      // An unindented line begins another group, or the examples.
    } else if (/^\S/.test(line)) block = undefined;
    else block?.push(line);
  }
  const words = new Map(
    [...blocks].map(([name, lines]) => [
      name,
      new Set(lines.flatMap((line) => line.split(/[^\w-]+/))),
    ]),
  );
  return {
    options: new Set(blocks.keys()),
    accepts: (option, value) => words.get(option)?.has(value) ?? false,
  };
}

/** The output of an ncu command that profiles nothing. */
interface NcuAnswer {
  readonly stdout: string;
  readonly stderr: string;
}

/** Long enough for a large report and a slow disk, short enough for a tool that waits for a driver. */
const TIMEOUT_MS = 120_000;
const MAX_ANSWER_BYTES = 64e6;

/** Queries ncu for its version, sections or metrics. Never throws. */
export async function askNcu(path: string, args: readonly string[]): Promise<NcuAnswer> {
  const { stdout, stderr, why } = await askProgram({
    argv: [path, ...args],
    env: { ...process.env, ...ncuEnvironment() },
    limitMs: TIMEOUT_MS,
    maxBytes: MAX_ANSWER_BYTES,
  });
  return { stdout, stderr: stderr || why };
}

/**
 * Variables for every call of ncu: numbers without group separators and with a decimal point in any locale of the user
 * (a CSV of an unknown locale cannot be read); and no copy of its section files if it could not write one, which would
 * make it fail.
 */
export function ncuEnvironment(): Readonly<Record<string, string>> {
  return { LC_ALL: "C.UTF-8", ...sectionFiles() };
}

/** Variables for a program that runs under ncu, which keeps its own locale. */
export const sectionFiles = (): Readonly<Record<string, string>> =>
  homeIsWritable() ? {} : { NV_COMPUTE_PROFILER_DISABLE_STOCK_FILE_DEPLOYMENT: "1" };

/** `os.homedir` throws for a user without a name and without HOME. */
function homeIsWritable(): boolean {
  try {
    accessSync(os.homedir(), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** @throws ToolError `profile.tool` with installation instructions */
export function requireNcu(): string {
  const found = findNsightTool("ncu");
  if (found !== null) return found;
  throw new ToolError({
    tool: "ncu",
    code: "profile.tool",
    key: "pipeline.ncu.enable",
    message: `pipeline.ncu.enable: Nsight Compute (ncu) is not installed, or not on PATH${chosenFolderNote("ncu")}`,
    hint: "install NVIDIA Nsight Compute (it comes with the CUDA toolkit; Debian non-free: apt-get install nsight-compute) and put ncu on PATH, or pipeline.ncu.enable=false",
  });
}
