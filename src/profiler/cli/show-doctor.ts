/** `deep-profile doctor`: what works on this machine, with remedies. */
import picocolors from "picocolors";
import type { ParsedCommand } from "../../app/command-line/parse.ts";
import { packageInfo } from "../../engine/values/package-info.ts";
import { probeGpu } from "../machine/doctor/gpu-checks.ts";
import {
  type Check,
  type Findings,
  type Machine,
  thisMachine,
  type Verdict,
} from "../machine/doctor/machine.ts";
import { probeNative } from "../machine/doctor/native-part.ts";
import { requireOpenFiles } from "../machine/run-files.ts";
import type { ProfilingTool } from "../tools/tool.ts";
import { TOOLS } from "../tools/tool-table.ts";
import type { SubcommandIo } from "./subcommand.ts";

/** Executes `deep-profile doctor`. */
export async function showDoctor(
  command: ParsedCommand,
  io: SubcommandIo,
  tools: readonly ProfilingTool[] = TOOLS,
): Promise<number> {
  requireOpenFiles();
  const findings = await examine(thisMachine(io.env), tools);
  const render = command.has("verbose") ? renderFindings : renderSummary;
  io.console.stdout(
    command.has("json")
      ? findingsJson(findings)
      : render(findings, { color: io.console.stdoutColor === true }),
  );
  return canProfile(findings) ? 0 : 1;
}

const findingsJson = ({ version, ...findings }: Findings): string =>
  `${JSON.stringify({ version: 1, deep_profile_version: version, ...findings }, null, 2)}\n`;

/** Examines everything that profiling can use, by running small programs that take seconds at most. */
export async function examine(
  machine: Machine,
  tools: readonly ProfilingTool[] = TOOLS,
): Promise<Findings> {
  const { root, version } = packageInfo();
  const [native, gpu] = await Promise.all([probeNative(machine, root), probeGpu(machine)]);
  const facts = { machine, gpu, nativeUsable: native.usable };
  const found = await Promise.all(tools.map(({ doctor }) => doctor(facts)));
  const node = `${process.version} on ${process.platform} ${process.arch}`;
  return {
    version,
    checks: [
      { name: "Node", state: "ok", detail: node },
      native.check,
      native.toolchain,
      gpu.driver,
      gpu.permissions,
      ...found.flatMap(({ checks }) => checks),
    ],
    collectors: found.flatMap(({ verdicts }) => verdicts),
  };
}

/** Whether profiling is possible at all. */
export const canProfile = ({ collectors }: Findings): boolean =>
  collectors.some(({ works }) => works !== "no");

// Prints the findings.

const MARKS = { ok: "ok", warning: "warn", missing: "-", yes: "yes", partly: "part", no: "no" };
type Mark = keyof typeof MARKS;
const MARK_WIDTH = 4;

/** The form of the text. */
export interface RenderOptions {
  readonly color: boolean;
}

/** A row of either table. */
interface Row {
  readonly mark: Mark;
  readonly name: string;
  readonly detail: string;
  readonly hint?: string;
}

/** A summary that fits on a screen: ten lines, with a remedy for each problem. */
export function renderSummary(
  { version, checks, collectors }: Findings,
  options: RenderOptions,
): string {
  const node = checks.find(({ name }) => name === "Node");
  const rows = [
    ...withToolchain(checks.filter((check) => check !== node)).map(rowOf),
    ...withKernels(collectors).map(
      ({ name, works, detail }): Row => ({ mark: works, name: `with ${name}`, detail }),
    ),
  ];
  const line = liner(rows, options);
  const lines = rows.map(({ hint, detail, ...row }) =>
    line({ ...row, detail: hint === undefined ? detail : `${detail} -> ${hint}` }),
  );
  const about = node === undefined ? "" : ` (Node ${node.detail})`;
  return `${[`deep-profile ${version}${about}: what is installed and what will work`, ...lines].join("\n")}\n`;
}

/** One line for each check and each collector, with a remedy for each problem. */
export function renderFindings(
  { version, checks, collectors }: Findings,
  options: RenderOptions,
): string {
  const here = checks.map(rowOf);
  const works = collectors.map(({ name, works: mark, detail }): Row => ({ mark, name, detail }));
  const line = liner([...here, ...works], options);
  const indent = " ".repeat(MARK_WIDTH + nameWidth([...here, ...works]) + 6);
  const hint = ({ hint: text }: Row) => (text === undefined ? [] : [`${indent}-> ${text}`]);
  return `${[
    `deep-profile ${version}: what is installed`,
    ...here.flatMap((row) => [line(row), ...hint(row)]),
    "what will work",
    ...works.map(line),
  ].join("\n")}\n`;
}

const rowOf = ({ state, ...check }: Check): Row => ({ mark: state, ...check });

/** The toolchain of the native part matters only beside the native part. */
function withToolchain(checks: readonly Check[]): readonly Check[] {
  const toolchain = checks.find(({ name }) => name === "toolchain");
  if (toolchain === undefined) return checks;
  return checks
    .filter((check) => check !== toolchain)
    .map((check) =>
      check.name === "native part"
        ? { ...check, detail: `${check.detail} (${toolchain.detail})` }
        : check,
    );
}

/** The recorder in one line, including kernels. */
function withKernels(collectors: readonly Verdict[]): readonly Verdict[] {
  const kernels = collectors.find(({ name }) => name === "recorder with kernels");
  if (kernels === undefined) return collectors;
  return collectors
    .filter((verdict) => verdict !== kernels)
    .map((verdict) => {
      if (verdict.name !== "recorder" || verdict.works === "no") return verdict;
      const more = kernels.works === "yes" ? kernels.detail : `no kernels: ${kernels.detail}`;
      return { ...verdict, detail: `${verdict.detail}; ${more}` };
    });
}

const nameWidth = (rows: readonly Row[]): number =>
  Math.max(...rows.map(({ name }) => name.length));

function liner(rows: readonly Row[], { color }: RenderOptions): (row: Row) => string {
  const paint = painter(color);
  const width = nameWidth(rows);
  return ({ mark, name, detail }) =>
    `  ${paint(mark, MARKS[mark].padEnd(MARK_WIDTH))}  ${name.padEnd(width)}  ${detail}`;
}

function painter(color: boolean): (mark: Mark, text: string) => string {
  const { green, yellow, dim } = picocolors.createColors(color);
  return (mark, text) => {
    if (mark === "ok" || mark === "yes") return green(text);
    return mark === "warning" || mark === "partly" ? yellow(text) : dim(text);
  };
}
