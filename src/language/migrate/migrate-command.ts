/** `hydraconf migrate`: what a newer version of Hydra changes in a project, and the edits that keep it as it is. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { type CommandLine, commandHelp, usage } from "../../app/command-line/command-line.ts";
import { type ParsedCommand, parseCommandLine } from "../../app/command-line/parse.ts";
import type { Console, Invocation } from "../../app/job/process/invocation.ts";
import { loadSettings } from "../../app/plugins/settings-files.ts";
import { STANDARD_PLUGINS } from "../../app/plugins/standard-plugins.ts";
import { DIALECT_NAMES, type DialectName } from "../../engine/values/dialect.ts";
import { packageInfo } from "../../engine/values/package-info.ts";
import { readablePath } from "../../foundation/system/files.ts";
import { firstFew, grouped, plural } from "../../foundation/text/plural.ts";
import { applyFixes } from "./apply-fixes.ts";
import { type MigrateRequest, type Migration, migrate } from "./migrate.ts";
import { actionsIn, migrationJson, migrationSarif, migrationText } from "./report.ts";
import type { FromVersion } from "./rules.ts";

const FROM: readonly FromVersion[] = ["1.0", ...DIALECT_NAMES.slice(0, -1)];
const TO: readonly DialectName[] = DIALECT_NAMES.slice(1);

const DEFAULT_MOST = 3000;

export const MIGRATE_LINE: CommandLine = {
  name: "hydraconf migrate",
  takes: { shown: "[DIR]", expected: "at most one DIR", most: 1 },
  about: `Composes the programs of DIR (default: here) in two versions of Hydra, and prints what changes, where and why, what only
warns, and what cannot be told: each primary config, each option of each group, and each command line in
scripts, Makefiles, CI files and documentation. It runs nothing of the project; only --fix writes.`,
  options: {
    from: {
      value: "VERSION",
      choices: FROM,
      help: "the Hydra that runs the programs now (default: 1.3); a program whose version_base is older,\nor that names none (1.1), has that behaviour",
    },
    to: { value: "VERSION", choices: TO, help: "the Hydra to migrate to (default: 1.4)" },
    fix: { help: "make the edits that keep what is composed, then print what is left" },
    check: { help: "exit with 1 if something changes; for CI" },
    json: { help: "print JSON" },
    sarif: { help: "print SARIF 2.1.0, for code scanning" },
    "config-path": { short: "cp", value: "DIR", help: "a tree instead of those of the programs" },
    "config-name": {
      short: "cn",
      value: "NAME",
      help: "with --config-path: its primary config (default: config)",
    },
    limit: {
      value: "N",
      help: `the most command lines to compose (default: ${DEFAULT_MOST}); what is left out is said`,
    },
    settings: { value: "FILE", help: "a settings file, after those of the user and the project" },
  },
  epilogue: `  hydraconf migrate                      from Hydra 1.3 to 1.4
  hydraconf migrate --from 1.1 --to 1.3
  hydraconf migrate --fix                edits files, with comments and order kept
  hydraconf migrate --check --sarif > migrate.sarif

Exit code: 0 compared, 1 if nothing can be composed, and with --check if something changes, 2 wrong usage.`,
};

/** `hydraconf migrate`. @returns the exit code */
export async function runMigrate(args: readonly string[], invocation: Invocation): Promise<number> {
  const command = parseCommandLine(MIGRATE_LINE, args);
  const { console } = invocation;
  if (command.has("help")) {
    console.stdout(commandHelp(MIGRATE_LINE));
    return 0;
  }
  if (command.has("json") && command.has("sarif"))
    throw usage("--json and --sarif exclude each other");
  if (command.has("config-name") && !command.has("config-path"))
    throw usage("--config-name needs --config-path");
  const request = await requestOf(command, invocation);
  const before = migrate(request);
  request.clear();
  const after = command.has("fix") ? fixed(before, request, console) : before;
  const { cwd } = request.place.invocation;
  console.stdout(
    command.has("json")
      ? migrationJson(after, cwd)
      : command.has("sarif")
        ? migrationSarif(after, cwd, packageInfo().version)
        : migrationText(after, cwd, console.stdoutColor === true),
  );
  const { primaries } = after.counts;
  return primaries === 0 || (command.has("check") && actionsIn(after).length > 0) ? 1 : 0;
}

async function requestOf(
  command: ParsedCommand,
  invocation: Invocation,
): Promise<MigrateRequest & { readonly clear: () => void }> {
  const [directory = "."] = command.positionals;
  const cwd = resolve(invocation.cwd, directory);
  if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw usage(`'${directory}' is not a directory`);
  const place = { ...invocation, cwd };
  const named = command.value("settings");
  const loadable = await loadSettings(STANDARD_PLUGINS, place, {
    trustCommand: "hydraconf trust",
    ...(named !== undefined && { named }),
  });
  const path = command.value("config-path");
  const progress = progressOn(invocation.console);
  return {
    place: {
      invocation: place,
      settings: loadable.settings,
      plugins: await loadable.trustedPlugins(),
    },
    from: command.choice("from", FROM, "1.3"),
    to: command.choice("to", TO, "1.4"),
    commandDirectory: invocation.cwd,
    ...(path !== undefined && {
      tree: {
        configPath: path.includes("://") ? path : resolve(invocation.cwd, path),
        configName: command.value("config-name") ?? "config",
      },
    }),
    most: command.count("limit") ?? DEFAULT_MOST,
    onProgress: progress.show,
    clear: progress.clear,
  };
}

/** Between two updates of a line on the terminal, in milliseconds. */
const PAUSE = 100;

const STEPS = {
  reading: "Reading primary config",
  composing: "Composing command line",
} as const;

/** Progress on a terminal, for what takes long. */
function progressOn({ stderr, terminal }: Console): {
  readonly show: NonNullable<MigrateRequest["onProgress"]>;
  readonly clear: () => void;
} {
  if (terminal === undefined) return { show() {}, clear() {} };
  const { control = stderr } = terminal;
  let [last, isShown] = [Date.now(), false];
  return {
    show(step, done, all) {
      const now = Date.now();
      if (now - last < PAUSE || terminal.isOthers === true) return;
      [last, isShown] = [now, true];
      control(`\r\u001b[K${STEPS[step]} ${grouped(String(done))} of ${grouped(String(all))}`);
    },
    clear() {
      if (isShown) control("\r\u001b[K");
      isShown = false;
    },
  };
}

/** Makes the fixes, and says which files they changed. */
function fixed(
  before: Migration,
  request: MigrateRequest & { readonly clear: () => void },
  { stderr }: Console,
): Migration {
  const { cwd } = request.place.invocation;
  const names = (files: readonly string[]): string =>
    firstFew(
      files.map((file) => readablePath(file, cwd)),
      10,
    );
  const { after, files, made, takenBack } = applyFixes(before, () => migrate(request), cwd);
  request.clear();
  if (made.length > 0) stderr(`Fixed ${plural(made.length, "finding")} in ${names(files)}\n`);
  if (takenBack !== undefined)
    stderr(`Left as they are: ${names(takenBack.files)}; with their fixes ${takenBack.reason}\n`);
  return after;
}
