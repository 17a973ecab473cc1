/** `trust`: the user's consent to what a project's settings file runs. */
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { ConfigError, isConfigError } from "../../engine/values/errors.ts";
import { readablePath, realPlace } from "../../foundation/system/files.ts";
import { firstFew } from "../../foundation/text/plural.ts";
import { printable } from "../../foundation/text/printable.ts";
import { type CommandLine, commandHelp, usage } from "../command-line/command-line.ts";
import { parseCommandLine } from "../command-line/parse.ts";
import type { Invocation } from "../job/process/invocation.ts";
import { readSettings } from "../plugins/load-settings.ts";
import { PROJECT_SETTINGS, projectSettingsFile, refuseForeign } from "../plugins/settings-files.ts";
import {
  allRecords,
  changes,
  ownedByOthers,
  type ProjectCode,
  projectCode,
  recordOf,
  recordTrust,
  revokeTrust,
  shownCode,
  type TrustRecord,
} from "../plugins/trust.ts";

export const trustLine = (program: string): CommandLine => ({
  name: `${program} trust`,
  takes: { shown: "[DIR]", expected: "at most one directory", most: 1 },
  about: `Trusts the project in DIR (default: the working directory) to run the code that its settings file names: plugins, modules
of resolvers, its Python, sync: renew. Until then no command runs them. What is trusted is shown and recorded with a
fingerprint; when one of these files changes, the project must be trusted again.`,
  options: {
    show: { help: "show what would be trusted, and whether it is; change nothing" },
    list: { help: "list all trusted projects" },
    revoke: { help: "trust the project in DIR no longer" },
    json: { help: "print JSON" },
  },
  epilogue: `HYDRACONF_TRUST=1 in the environment trusts every project, for CI. Not covered by a fingerprint: what these files load in turn.

Exit code: 0 done, trusted or nothing to trust; 1 --show: not trusted, or no settings file; 2 wrong usage.`,
});

/** Whether a project is trusted: `nothing` if its settings run no code, `gone` if its settings file is. */
type TrustState = "trusted" | "changed" | "untrusted" | "nothing" | "gone";

/**
 * @param program the command that this is a subcommand of
 * @returns the exit code
 */
export function runTrust(program: string, args: readonly string[], invocation: Invocation): number {
  const line = trustLine(program);
  const parsed = parseCommandLine(line, args);
  const { console, cwd, env, now } = invocation;
  if (parsed.has("help")) {
    console.stdout(commandHelp(line));
    return 0;
  }
  const actions = ["show", "list", "revoke"].filter((name) => parsed.has(name));
  if (actions.length > 1) throw usage(`--${actions[0]} and --${actions[1]} exclude each other`);
  const [action = "trust"] = actions;
  const [named] = parsed.positionals;
  const directory = resolve(cwd, named ?? ".");
  const print = (data: object, text: () => string): void =>
    console.stdout(
      parsed.has("json") ? `${JSON.stringify({ version: 1, ...data }, null, 2)}\n` : text(),
    );
  if (action === "list") {
    if (named !== undefined) throw usage("--list takes no directory");
    const records = allRecords(env).map((record) => ({ record, state: stateNow(record) }));
    print(
      { projects: records.map(({ record, state }) => ({ ...recordJson(record), state })) },
      () => records.map(listLine).join("") || "No project is trusted\n",
    );
    return 0;
  }
  if (action === "revoke") {
    const record = recordBelow(directory, env);
    if (record === undefined) throw notThere(directory, "is not trusted");
    revokeTrust(record, env);
    print(
      { ...recordJson(record), state: "untrusted" },
      () => `${shown(record)} is not trusted any more\n`,
    );
    return 0;
  }
  const project = projectAt(directory);
  const previous = recordOf(project.file, env);
  const isShow = action === "show";
  if (!isShow && project.code.length > 0) recordTrust(project, { env, now });
  const state =
    project.code.length === 0 ? "nothing" : isShow ? stateOf(previous, project) : "trusted";
  print(projectJson(project, state), () => projectText(project, { state, previous, cwd, isShow }));
  return isShow && (state === "changed" || state === "untrusted") ? 1 : 0;
}

/** @throws ConfigError `plugin.settings` for a directory without a settings file, and an invalid one */
function projectAt(directory: string): ProjectCode {
  const file = projectSettingsFile(directory);
  if (file === undefined) throw notThere(directory, `has no ${PROJECT_SETTINGS[0]}`);
  refuseForeign(file);
  return projectCode({ file, settings: readSettings(file) }, directory);
}

const notThere = (directory: string, what: string): ConfigError =>
  new ConfigError({
    code: "plugin.settings",
    message: `'${printable(directory)}' ${what}`,
    hint: existsSync(directory)
      ? "name the project's directory; --list shows those that are trusted"
      : "there is no such directory; --list shows the projects that are trusted",
  });

/** The record of a project, also of one that is not there any more. */
function recordBelow(directory: string, env: Invocation["env"]): TrustRecord | undefined {
  const found = existsSync(directory) ? projectSettingsFile(directory) : undefined;
  const folder = realPlace(directory);
  return (
    (found === undefined ? undefined : recordOf(found, env)) ??
    allRecords(env).find(({ file }) => file === folder || dirname(file) === folder)
  );
}

function stateOf(record: TrustRecord | undefined, project: ProjectCode): TrustState {
  if (record === undefined) return "untrusted";
  return record.fingerprint === project.fingerprint ? "trusted" : "changed";
}

function stateNow(record: TrustRecord): TrustState {
  const { file } = record;
  if (!existsSync(file)) return "gone";
  try {
    return stateOf(record, projectCode({ file, settings: readSettings(file) }, dirname(file)));
  } catch (error) {
    // It is not what was trusted.
    if (isConfigError(error)) return "changed";
    throw error;
  }
}

const shown = ({ file }: Pick<TrustRecord, "file">): string => printable(file);

const listLine = ({
  record,
  state,
}: {
  readonly record: TrustRecord;
  readonly state: TrustState;
}): string => `${state.padEnd(8)} ${record.trusted.slice(0, 10)} ${shown(record)}\n`;

const recordJson = ({ code, file, fingerprint, hashes, trusted }: TrustRecord) => ({
  file,
  trusted,
  fingerprint,
  code,
  files: Object.keys(hashes),
});

const projectJson = (project: ProjectCode, state: TrustState) => ({
  file: project.file,
  state,
  fingerprint: project.fingerprint,
  code: project.code.map(({ setting, text }) => ({ setting, text })),
  files: Object.keys(project.hashes),
  owned_by_others: ownedByOthers(project),
});

interface View {
  readonly state: TrustState;
  readonly previous: TrustRecord | undefined;
  readonly cwd: string;
  readonly isShow: boolean;
}

const STATES: Readonly<Record<TrustState, string>> = {
  trusted: "is trusted: commands in this project run",
  changed: "is not as it was trusted; commands in this project would run",
  untrusted: "is not trusted; commands in this project would run",
  nothing: "names nothing that runs: there is nothing to trust",
  gone: "is not there any more",
};

function projectText(project: ProjectCode, { previous, cwd, isShow, state }: View): string {
  const { code, file, hashes } = project;
  const others = ownedByOthers(project).map((path) => printable(readablePath(path, cwd)));
  const isChanged = previous !== undefined && previous.fingerprint !== project.fingerprint;
  return [
    `${printable(file)} ${STATES[state]}`,
    ...code.map((setting) => `  ${shownCode(setting)}`),
    ...(code.length === 0
      ? []
      : [`Fingerprint of: ${firstFew(Object.keys(hashes).map(printable), 20)}`]),
    ...(isChanged
      ? [
          `${isShow ? "Since it was trusted" : "Since it was last trusted"}, ${changes(previous, project)}`,
        ]
      : []),
    ...(others.length === 0
      ? []
      : [
          `note: another user owns and can change ${firstFew(others, 5)}, and what is loaded from there`,
        ]),
    "",
  ].join("\n");
}
