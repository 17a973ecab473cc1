/**
 * What the installed Nsight Compute can do, asked from itself: option names and allowed values come
 * and go between versions, so nothing is concluded from the version number.
 */
import { ConfigError } from "../../../values/errors.ts";
import { askNcu, type NcuAnswer } from "./ask.ts";

export interface NcuCapabilities {
  /** Absolute path of the program. */
  readonly path: string;
  /** As it says it, e.g. `2024.1.1.0`. */
  readonly version: string;
  /** Long names of all options, with the dashes. */
  readonly options: ReadonlySet<string>;
  /** Whether its help names a value of an option; false for an option that it does not have. */
  readonly accepts: (option: string, value: string) => boolean;
}

/**
 * Runs `ncu --version` and `ncu --help`.
 *
 * @throws ConfigError `profile.tool` for a program that answers otherwise than Nsight Compute
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
  throw new ConfigError({
    code: "profile.tool",
    key: "pipeline.ncu.enable",
    message: `'${path} --version' did not answer like Nsight Compute${said === "" ? "" : `: ${said}`}`,
    hint: "deep-profile needs ncu 2022.1 or newer; the output of ncu may say what is missing",
  });
}

/** Options stand at the margin of two spaces: `  -k [ --kernel-name ] arg   Filter the kernel`. */
const OPTION_LINE = /^ {2}(?:-\w \[ )?(--[a-z0-9][a-z0-9-]*)(?: \])?/;

export function readHelp(help: string): Pick<NcuCapabilities, "options" | "accepts"> {
  const blocks = new Map<string, string[]>();
  let block: string[] | undefined;
  for (const line of help.split("\n")) {
    const name = OPTION_LINE.exec(line)?.[1];
    if (name !== undefined) {
      block = [line.slice(line.indexOf(name) + name.length)];
      blocks.set(name, block);
      // A line without margin begins another group, or the examples.
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
