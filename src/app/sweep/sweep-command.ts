import { resolve } from "node:path";
import { ConfigError } from "../../values/errors.ts";
import { drawTable } from "../info/table.ts";
import type { Invocation } from "../invocation.ts";
import { collectSweep, sweepRows } from "./collect.ts";
import { launcherOf } from "./record/launcher-claim.ts";
import { sweepFolder } from "./record/layout.ts";

const HELP = `hydraconf sweep status DIR     how the jobs of a sweep stand; exit code 0 once all are completed
hydraconf sweep collect DIR    writes sweep.json, sweep.csv and sweep.md into DIR: a row per job

DIR is the directory of a sweep (hydra.sweep.dir). Nothing is started.
`;

/**
 * `hydraconf sweep`: looks at a recorded sweep of any program.
 *
 * @throws ConfigError `app.usage`, and `app.sweep_record` where there is no sweep
 */
export async function runSweepCommand(
  args: readonly string[],
  { console, cwd }: Invocation,
): Promise<number> {
  if (args.includes("--help") || args.includes("-h")) {
    console.stdout(HELP);
    return 0;
  }
  const [action, name, ...more] = args;
  if ((action !== "status" && action !== "collect") || name === undefined || more.length > 0)
    throw new ConfigError({
      code: "app.usage",
      message: "expected an action and the directory of a sweep",
      hint: "hydraconf sweep status DIR, or hydraconf sweep collect DIR",
    });
  const directory = resolve(cwd, name);
  if (action === "status") return showStatus(directory, console);
  for (const file of collectSweep(directory)) console.stdout(`${directory}/${file}\n`);
  return 0;
}

function showStatus(directory: string, { stdout }: Invocation["console"]): number {
  const rows = sweepRows(directory);
  const launcher = launcherOf(sweepFolder(directory));
  const lines = rows.map(({ attempts, error, number, seconds, status, swept }) => [
    String(number),
    Object.entries(swept)
      .map(([key, value]) => `${key}=${value}`)
      .join(" "),
    status,
    String(attempts),
    seconds === null ? "" : seconds.toFixed(1),
    error ?? "",
  ]);
  if (rows.length > 0)
    stdout(drawTable([["#", "Overrides", "Status", "Attempts", "Seconds", "Error"], ...lines]));
  const completed = rows.filter(({ status }) => status === "completed").length;
  const who =
    launcher === undefined
      ? "no launcher runs it"
      : `process ${launcher.pid} on ${launcher.host} runs it`;
  stdout(`${completed} of ${rows.length} jobs completed; ${who}\n`);
  return completed === rows.length ? 0 : 1;
}
