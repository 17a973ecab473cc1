/** The installed `nsys`: where it is, what it is, and how it is called. */
import { execa } from "execa";
import { ConfigError } from "../../../values/errors.ts";
import { askProgram } from "../../machine/ask-program.ts";
import { attendTool, type ToolPatience, type ToolWork } from "../../machine/attend-tool.ts";
import { chosenFolderNote, findNsightTool } from "../../machine/nsight-tools.ts";

export interface NsysTool {
  readonly path: string;
  /** E.g. `2023.4.4.54`. */
  readonly version: string;
  /** Long options that its `profile` knows, without dashes. */
  readonly options: ReadonlySet<string>;
}

/** Asking for a version takes no longer than that, or nothing works at all. */
const PROBE_TIMEOUT_MS = 60_000;

/** @throws ConfigError `nsys.not_found` */
export function requireNsysPath(why: string): string {
  const path = findNsightTool("nsys");
  if (path !== null) return path;
  throw new ConfigError({
    code: "nsys.not_found",
    message: `${why}: nsys (Nsight Systems) was not found${chosenFolderNote("nsys")}`,
    hint: "install NVIDIA Nsight Systems (also part of the CUDA toolkit) and put nsys on PATH, or set HYDRACONF_NSIGHT to its directory",
  });
}

/**
 * Asks nsys what it is, since options came and went with versions.
 *
 * @throws ConfigError `nsys.not_found`, `nsys.failed` where it does not answer
 */
export async function probeNsys(why: string): Promise<NsysTool> {
  const path = requireNsysPath(why);
  const [version, help] = await Promise.all([
    askNsys(path, ["--version"]),
    askNsys(path, ["profile", "--help"]),
  ]);
  return {
    path,
    version: /version (\d[\d.]*\d)/.exec(version)?.[1] ?? version.trim(),
    options: new Set(
      [...help.matchAll(/^\s*(?:\([^)]*\)\s*)?(?:-\w, )?--([a-z][a-z-]*)/gm)].map(
        ([, name = ""]) => name,
      ),
    ),
  };
}

async function askNsys(path: string, args: readonly string[]): Promise<string> {
  const { failed, stdout, stderr, why } = await askProgram([path, ...args], {
    timeoutMs: PROBE_TIMEOUT_MS,
  });
  if (!failed) return stdout;
  throw new ConfigError({
    code: "nsys.failed",
    message: `${path} ${args.join(" ")} does not work: ${lastLine(stderr) || why}`,
  });
}

/** What one of nsys's commands said, success or not. */
export interface NsysAnswer {
  readonly failed: boolean;
  /** Standard output and standard error, without progress bars. */
  readonly text: string;
}

/** Runs it in a process group of its own: a Ctrl-C is ours, and what it ends is `stop`'s matter. */
export async function callNsys(
  argv: readonly string[],
  work: ToolWork,
  patience: ToolPatience,
): Promise<NsysAnswer> {
  const [program = "", ...args] = argv;
  const child = execa(program, args, {
    reject: false,
    all: true,
    stdin: "ignore",
    detached: true,
    cleanup: false,
  });
  const { failed, all } = await attendTool(child, work, patience);
  return { failed, text: withoutProgress(all ?? "") };
}

/** nsys redraws its progress bars with carriage returns, or simply writes them one after the other. */
export const withoutProgress = (text: string): string =>
  text
    .replace(/(\[\d+\/\d+\] |Processing \d+ events: )\[[= ]*\d+%[= ]*\][^\n[]*/g, "")
    .replaceAll("\r", "")
    .trim();

export const lastLine = (text: string): string => text.trimEnd().split("\n").at(-1)?.trim() ?? "";
