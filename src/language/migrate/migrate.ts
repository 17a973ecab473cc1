/** Composes all of a project in two versions of Hydra, and tells what differs, where and why. */
import { basename, dirname, extname, relative, resolve } from "node:path";
import type { Composer } from "../../app/job/composer.ts";
import type { CompositionWarning } from "../../engine/compose/index.ts";
import {
  DIALECT_NAMES,
  DIALECTS,
  type Dialect,
  type DialectName,
} from "../../engine/values/dialect.ts";
import { ConfigError } from "../../engine/values/errors.ts";
import type { Origin } from "../../engine/values/origin.ts";
import type { Reading } from "../../engine/values/yaml/reader.ts";
import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import { firstFew, plural } from "../../foundation/text/plural.ts";
import { shellQuote } from "../../foundation/text/shell-words.ts";
import { type App, appsIn, appsOf, declaredApps, findApps } from "../../python/apps.ts";
import { type FoundLine, type FoundOverride, foundLines } from "../found-lines.ts";
import { filesBelow, isPython, textOf } from "../project-files.ts";
import {
  configTrees,
  DEFAULT_TREE,
  openPrimary,
  optionChoices,
  type PrimaryConfig,
  type ProjectPlace,
  plainTree,
  primaryNames,
} from "../tree-index.ts";
import {
  type Change,
  type ComposedOutcome,
  changesBetween,
  composeOutcome,
  type Outcome,
  type OverrideLine,
  type StandardPaths,
  standardPaths,
} from "./outcome.ts";
import { hasArgument, MAIN_ARGUMENTS, type NamedArgument } from "./python-edits.ts";
import {
  appliesTo,
  differingRules,
  type FromVersion,
  RULES,
  type Rule,
  ruleNamed,
  type Site,
  versionsOf,
  withOld,
} from "./rules.ts";
import {
  editedTexts,
  type FileSpan,
  type Fix,
  joinedFix,
  spanOf,
  undecodableFile,
} from "./text-edits.ts";
import {
  configFindings,
  findingsSince10,
  mainFinding,
  namesFile,
  pythonFindings,
  SOURCE_NOTES,
  selfFix,
  type TextFinding,
  versionFinding,
} from "./text-rules.ts";

/** What to compare. */
export interface MigrateRequest {
  readonly place: ProjectPlace;
  readonly from: FromVersion;
  readonly to: DialectName;
  /** The directory that paths of proposed commands are relative to. */
  readonly commandDirectory: string;
  /** A tree instead of those of the programs. */
  readonly tree?: { readonly configPath: string; readonly configName: string };
  /** The most command lines that are composed: default lines first, then those of files, then options. */
  readonly most: number;
  readonly onProgress?: (step: "reading" | "composing", done: number, all: number) => void;
}

/** How much a finding matters: what fails, what gives something else, what only warns. */
export type Level = "error" | "change" | "warning";

/** One thing that a migration changes, at one place. */
export interface Finding {
  /** The id of a rule; `unexplained` for a difference that no rule explains. */
  readonly rule: string;
  readonly level: Level;
  readonly span: FileSpan;
  /** What is there, or what the composition says. */
  readonly detail: string;
  readonly changes: readonly Change[];
  /** The first line that shows it, as a user would type it; absent for what texts tell. */
  readonly line?: string;
  /** How many lines show it. */
  readonly lines: number;
  readonly fix?: Fix;
}

/** What a comparison cannot tell, and what would help. */
export interface Untold {
  readonly what: string;
  readonly remedy: string;
  /** Where, as `file:line`, relative to the project. */
  readonly places: readonly string[];
}

/** The result of a comparison. */
export interface Migration {
  readonly from: FromVersion;
  readonly to: DialectName;
  readonly findings: readonly Finding[];
  readonly untold: readonly Untold[];
  readonly counts: {
    readonly programs: number;
    readonly primaries: number;
    /** Programs whose config is not known. */
    readonly unread: number;
    /** Primary configs that do not compose in the older version. */
    readonly failing: number;
    /** Lines that were composed in both versions. */
    readonly compared: number;
    /** Lines that were left out, since there are more than `most`. */
    readonly leftOut: number;
    /** Lines of files. */
    readonly found: number;
  };
}

/** A line to compare, with its words in a file if it is from one. */
interface ComparedLine extends OverrideLine {
  readonly label: string;
  /** The file and line that it is from; for others the label. */
  readonly place: string;
  readonly words: readonly FoundOverride[];
  readonly wordsFile?: string;
  readonly kind: LineKind;
}

/** The line that a primary config needs to compose, a line of a file, and one that tries an option; the first matter most. */
const LINE_KINDS = ["default", "written", "option"] as const;
type LineKind = (typeof LINE_KINDS)[number];

/** A primary config with the versions that it is compared in. */
interface Comparison {
  readonly primary: PrimaryConfig;
  readonly older: Dialect;
  readonly newer: Dialect;
  readonly lines: readonly ComparedLine[];
}

/**
 * Compares a project in two versions. It runs no code of the project, and changes no file.
 *
 * @throws ConfigError `app.usage` for a target that is no later version, `compose.missing_config` without anything to
 *   compose
 */
export function migrate(request: MigrateRequest): Migration {
  const { from, place, to } = request;
  const { cwd } = place.invocation;
  if (from !== "1.0" && DIALECT_NAMES.indexOf(from) >= DIALECT_NAMES.indexOf(to))
    throw new ConfigError({
      code: "app.usage",
      message: `--from ${from} --to ${to}: the target is no later version`,
      hint: `name a later one: --to ${DIALECT_NAMES.at(-1)}`,
    });
  const files = filesBelow(cwd);
  const declared = request.tree === undefined ? projectApps(place) : [];
  const apps = from === "1.0" ? declared.map(withConfigName) : declared;
  const findings = createFindings(cwd);
  const untold = createUntold();
  for (const app of apps)
    if (app.unread !== undefined)
      untold.add(
        "The config of a program is not known",
        app.unread.details.hint ?? "",
        `${shownFile(app.file, cwd)}:${app.line}: ${app.unread.message}`,
      );
  const found = foundLines(cwd, files, apps);
  for (const { file, line, reason } of found.unread)
    untold.add(
      "A command line cannot be read",
      "compose the line yourself in both versions: hydraconf --version-base VERSION",
      `${shownFile(file, cwd)}:${line}: ${reason}`,
    );
  for (const { file, leftOut, line } of found.lines)
    if (leftOut > 0)
      untold.add(
        "Words of a command line are known only to the shell",
        "compose the line yourself in both versions: hydraconf --version-base VERSION",
        `${shownFile(file, cwd)}:${line}`,
      );

  readTexts({ apps: declared, files, request, findings, untold });
  const { comparisons, compared, failing, leftOut } = prepare(request, {
    apps,
    files,
    found: found.lines,
    untold,
  });
  let done = 0;
  const standards = new Map<Dialect, StandardPaths>();
  for (const comparison of comparisons) {
    const { newer, older } = comparison;
    const standard = getOrCreate(standards, older, () => standardOf(older, newer, place));
    compare({ ...comparison, standard }, request, findings, untold, () => {
      done += 1;
      request.onProgress?.("composing", done, compared);
    });
  }
  return {
    from,
    to,
    findings: findings.all().map((finding) => withSafeFix(finding, untold, cwd)),
    untold: untold.all(),
    counts: {
      programs: new Set(apps.map(({ file }) => file)).size,
      primaries: comparisons.length,
      unread: declared.filter(({ unread }) => unread !== undefined).length,
      failing,
      compared: done,
      leftOut,
      found: found.lines.length,
    },
  };
}

/** A finding without a fix that would change other bytes of a file, too. */
function withSafeFix(finding: Finding, untold: UntoldList, cwd: string): Finding {
  const { fix, ...others } = finding;
  const file = fix && undecodableFile(fix);
  if (file === undefined) return finding;
  untold.add(
    "A file is not in UTF-8, so that it is not edited",
    "change it yourself, or save it in UTF-8",
    shownFile(file, cwd),
  );
  return others;
}

function projectApps({ invocation, settings }: ProjectPlace): readonly App[] {
  const { cwd, env } = invocation;
  const entries = Object.values(settings.apps ?? {});
  return entries.length > 0
    ? entries.flatMap(({ file }) => declaredApps(file, { cwd, env }, settings))
    : findApps(cwd, { cwd, env });
}

/** A program of 1.0, whose `config_path` may name the file of its primary config. */
function withConfigName(app: App): App {
  const { configPath } = app;
  return configPath === null || !namesFile(app)
    ? app
    : {
        ...app,
        configPath: dirname(configPath),
        configName: basename(configPath, extname(configPath)),
      };
}

/** The version whose behaviour a program has: an older `version_base`, or none, keeps that of an older one. */
function olderOf(app: App | undefined, from: FromVersion): Dialect {
  const installed = from === "1.0" ? "1.1" : from;
  if (app === undefined || app.kind === "script") return DIALECTS[installed];
  const { versionBase } = app;
  if (versionBase === undefined) return DIALECTS["1.1"];
  const named = DIALECT_NAMES.find((name) => name === versionBase);
  return named !== undefined && DIALECT_NAMES.indexOf(named) < DIALECT_NAMES.indexOf(installed)
    ? DIALECTS[named]
    : DIALECTS[installed];
}

function readTexts({
  apps,
  files,
  findings,
  request: { from, place, to },
  untold,
}: {
  readonly apps: readonly App[];
  readonly files: readonly string[];
  readonly request: MigrateRequest;
  readonly findings: Findings;
  readonly untold: UntoldList;
}): void {
  const { cwd, env } = place.invocation;
  for (const app of apps) {
    const source = textOf(app.file) ?? "";
    const found = [
      versionFinding(app, source, to, { cwd, env }),
      from === "1.0" ? mainFinding(app, source, { cwd, env }) : undefined,
    ];
    for (const finding of found) if (finding !== undefined) findings.addText(finding);
  }
  const storing: string[] = [];
  const notes = SOURCE_NOTES.filter(({ since }) => appliesTo(since, from, to));
  for (const file of files.filter(isPython)) {
    const source = textOf(file);
    if (source === undefined || !/\bhydra\b/.test(source)) continue;
    for (const finding of pythonFindings(file, source, { cwd, env }))
      if (appliesTo(versionsOf(ruleNamed(finding.rule)), from, to)) findings.addText(finding);
    for (const { pattern, remedy, what } of notes)
      if (pattern.test(source)) untold.add(what, remedy, shownFile(file, cwd));
    if (/\bConfigStore\b/.test(source) && /\.store\(/.test(source)) storing.push(file);
  }
  const hasExport = textOf(resolve(cwd, ".hydraconf/python-store.json")) !== undefined;
  if (!hasExport)
    for (const file of storing)
      untold.add(
        "Sources register configs in the ConfigStore, which only Python knows",
        "run hydraconf python sync, then this command again",
        shownFile(file, cwd),
      );
}

/** The primary configs of a project with their lines, up to the most that are asked for. */
function prepare(
  request: MigrateRequest,
  {
    apps,
    files,
    found,
    untold,
  }: {
    readonly apps: readonly App[];
    readonly files: readonly string[];
    readonly found: readonly FoundLine[];
    readonly untold: UntoldList;
  },
): {
  readonly comparisons: readonly Comparison[];
  readonly compared: number;
  readonly failing: number;
  readonly leftOut: number;
} {
  const { from, place, to, tree } = request;
  const { cwd } = place.invocation;
  const primaries =
    tree !== undefined
      ? [{ app: undefined, ...tree }]
      : apps.some(({ unread }) => unread === undefined)
        ? primariesOf(apps, found, files, cwd)
        : plainTree(cwd);
  const named = primaries.filter(({ configName }) => configName !== null);
  for (const { app, configName } of primaries)
    if (configName === null && app !== undefined) {
      const [what, remedy] = namesFile(app) ? NAMES_FILE : NAMES_NONE;
      untold.add(what, remedy, `${shownFile(app.file, cwd)}:${app.line}`);
    }
  const commands = tree === undefined ? otherTrees(request, files, named) : [];
  if (apps.length === 0 && primaries.length === 0)
    throw new ConfigError({
      code: "compose.missing_config",
      message: `There is neither a program of Hydra nor ${DEFAULT_TREE.directory}/${DEFAULT_TREE.name}.yaml in '${cwd}'`,
      hint: [
        `name the tree: ${firstFew(commands.length > 0 ? commands : ["hydraconf migrate -cp DIR -cn NAME"], MOST_COMMANDS, "; ")}`,
        "or programs in hydraconf.yaml: apps: {NAME: {file: FILE, config_path: DIR, config_name: NAME}}",
      ].join("; "),
    });
  for (const command of commands)
    untold.add(
      "A config tree belongs to no program whose config is known",
      "the command composes it by itself",
      command,
    );
  const newer = DIALECTS[to];
  let failing = 0;
  const all = named.flatMap((primary, index): readonly Comparison[] => {
    request.onProgress?.("reading", index + 1, named.length);
    const older = olderOf(primary.app, from);
    if (older === newer || DIALECT_NAMES.indexOf(older.name) > DIALECT_NAMES.indexOf(to)) return [];
    const lines = linesOf({ primary, older, newer }, place, found, untold);
    if (!lines.some(({ kind }) => kind === "default")) failing += 1;
    return lines.length === 0 ? [] : [{ primary, older, newer, lines }];
  });
  const whole = lineCount(all);
  const kept = withinBudget(all, request.most);
  const compared = lineCount(kept);
  return { comparisons: kept, compared, failing, leftOut: whole - compared };
}

const lineCount = (comparisons: readonly Comparison[]): number =>
  comparisons.reduce((sum, { lines }) => sum + lines.length, 0);

/** The budget goes to the lines that matter most, evenly over all primary configs and their lines. */
function withinBudget(comparisons: readonly Comparison[], most: number): readonly Comparison[] {
  const kept = new Set<ComparedLine>();
  for (const kind of LINE_KINDS) {
    const lines = comparisons.flatMap((comparison) =>
      comparison.lines.filter((line) => line.kind === kind),
    );
    for (const line of spread(lines, Math.max(0, most - kept.size))) kept.add(line);
  }
  return comparisons.flatMap((comparison): readonly Comparison[] => {
    const lines = comparison.lines.filter((line) => kept.has(line));
    return lines.length === 0 ? [] : [{ ...comparison, lines }];
  });
}

/** Some of a list, taken evenly. */
const spread = <Item>(items: readonly Item[], most: number): readonly Item[] =>
  items.length <= most
    ? items
    : Array.from(
        { length: most },
        (_, index) => items[Math.floor((index * items.length) / most)],
      ).flatMap((item) => (item === undefined ? [] : [item]));

const NAMES_NONE = [
  "A program names no primary config",
  "name it in hydraconf.yaml if there is one: apps: {NAME: {file: FILE, config_path: DIR, config_name: NAME}}",
] as const;

const NAMES_FILE = [
  "A program names a file as its config_path, which Hydra 1.1 and later refuse",
  "run hydraconf migrate --from 1.0",
] as const;

/** An error shows this many commands. */
const MOST_COMMANDS = 3;

/** The commands that compose the trees which no primary config is of; those of tests and documentation count as programs do. */
function otherTrees(
  { commandDirectory, from, place, to }: MigrateRequest,
  files: readonly string[],
  primaries: readonly PrimaryConfig[],
): readonly string[] {
  const { cwd } = place.invocation;
  const usedPaths = primaries.flatMap(({ configDir, configPath }) => [configDir, configPath]);
  const isKnown = (directory: string): boolean =>
    usedPaths.some(
      (path) =>
        path != null &&
        (`${directory}/`.startsWith(`${path}/`) || path.startsWith(`${directory}/`)),
    );
  const versions = [
    ...(from === "1.3" ? [] : ["--from", from]),
    ...(to === "1.4" ? [] : ["--to", to]),
  ];
  return configTrees(files)
    .filter(({ directory }) => !/\/(tests?|docs?)\//.test(`${directory.slice(cwd.length)}/`))
    .filter(({ directory }) => !isKnown(directory))
    .map(({ directory, names: [name = "", ...others] }) => {
      const path = relative(commandDirectory, directory) || ".";
      const words = [...versions, "-cp", path, "-cn", name].map(shellQuote);
      const more = others.length === 0 ? "" : ` (and ${plural(others.length, "more config")})`;
      return `hydraconf migrate ${words.join(" ")}${more}`;
    });
}

/** Each config of each program once, those that found lines name with flags, and those of the directory of a program that names none. */
function primariesOf(
  apps: readonly App[],
  found: readonly FoundLine[],
  files: readonly string[],
  cwd: string,
): readonly PrimaryConfig[] {
  const byId = new Map<string, PrimaryConfig>();
  const add = (primary: PrimaryConfig): void => {
    const { app } = primary;
    const id = identify(primary);
    const first = getOrCreate(byId, id, () => primary);
    const all = [first.app, ...(first.alike ?? [])];
    if (app !== undefined && !all.includes(app))
      byId.set(id, { ...first, alike: [...(first.alike ?? []), app] });
  };
  for (const app of apps) {
    if (app.unread !== undefined) continue;
    const configPath = pathOf(app);
    const names =
      app.configName === null && configPath != null ? primaryNames(configPath, files) : [];
    if (names.length === 0) add({ app, configPath, configName: app.configName });
    for (const configName of names) add({ app, configPath, configName });
  }
  for (const line of found) add(primaryOfLine(line, cwd));
  return [...byId.values()];
}

/** Programs with the same configs and version count as one. */
const identify = ({ app, configDir, configName, configPath }: PrimaryConfig): string =>
  JSON.stringify([configPath ?? app?.file, configName, configDir, String(app?.versionBase)]);

function primaryOfLine(
  { app, configDir, configName, configPath }: FoundLine,
  cwd: string,
): PrimaryConfig {
  return {
    app,
    configPath: configPath === undefined ? pathOf(app) : resolve(dirname(app.file), configPath),
    configName: configName ?? app.configName,
    ...(configDir !== undefined && { configDir: resolve(cwd, configDir) }),
  };
}

/** The config directory of a program; undefined if the version decides. */
function pathOf(app: App): string | null | undefined {
  const names = (argument: NamedArgument) =>
    hasArgument({ source: textOf(app.file) ?? "", line: app.line }, argument);
  const isDefault =
    app.kind !== "script" &&
    (app.versionBase === undefined || app.versionBase === "1.1") &&
    app.configPath === dirname(app.file) &&
    !names(MAIN_ARGUMENTS.configPath) &&
    !names(["config_dir", 0]);
  return isDefault ? undefined : app.configPath;
}

type Pair = Pick<Comparison, "primary" | "older" | "newer">;

function linesOf(
  pair: Pair,
  place: ProjectPlace,
  found: readonly FoundLine[],
  untold: UntoldList,
): readonly ComparedLine[] {
  const { cwd } = place.invocation;
  const { primary } = pair;
  const program = programLabel(primary, cwd);
  const label = (overrides: readonly string[]): string =>
    [program, ...overrides.map(shellQuote)].join(" ");
  const matching = found.filter((line) => identify(primaryOfLine(line, cwd)) === identify(primary));
  const written = matching.map(({ app, file, isMultirun, line, overrides }): ComparedLine => {
    const words = overrides.map(({ text }) => text);
    const place = `${shownFile(file, cwd)}:${line}`;
    const called = [programLabel({ ...primary, app }, cwd), ...words.map(shellQuote)].join(" ");
    return {
      overrides: words,
      isMultirun,
      label: `${place}: ${called}`,
      place,
      words: overrides,
      wordsFile: file,
      kind: "written",
    };
  });
  let base: { readonly composer: Composer; readonly required: readonly string[] };
  try {
    base = defaultLine(pair, place);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const remedy = /Could not (find|load)|Cannot find primary/.test(error.message)
      ? "if Python registers it: hydraconf python sync; or name the tree: hydraconf migrate -cp DIR -cn NAME"
      : "the error says what is wrong";
    untold.add(
      "A primary config does not compose before the migration either",
      remedy,
      `${program}: ${firstLine(error)}`,
    );
    // Overrides of a line may choose what the default line lacks; nothing helps without the config.
    return /^compose\.missing_config$/.test(error.code) ? [] : written;
  }
  const { composer, required } = base;
  const lineOf = (kind: LineKind, overrides: readonly string[]): ComparedLine => ({
    overrides,
    isMultirun: false,
    label: label(overrides),
    place: label(overrides),
    words: [],
    kind,
  });
  const { choices, repository } = composer.compose(required);
  const options = optionChoices(repository, choices).map(({ override }) => {
    const key = override.slice(0, override.indexOf("="));
    const others = required.filter((text) => !text.startsWith(`${key}=`));
    return lineOf("option", [...others, override]);
  });
  return [lineOf("default", required), ...written, ...options];
}

/** A first line that ends with a colon says nothing without the next one. */
const firstLine = ({ message }: Error): string =>
  /^[^\n]*:\n[^\n]*|^[^\n]*/.exec(message.trim())?.[0].replace(/\n\s*/, " ") ?? "";

const shownFile = (file: string, cwd: string): string =>
  file.startsWith(`${cwd}/`) ? file.slice(cwd.length + 1) : file;

function programLabel(
  { app, configDir, configName, configPath }: PrimaryConfig,
  cwd: string,
): string {
  if (app === undefined)
    return `hydraconf -cp ${shownFile(configPath ?? ".", cwd)} -cn ${configName}`;
  const isOther = configName !== app.configName;
  return [
    shownFile(app.file, cwd),
    ...(isOther ? ["-cn", String(configName)] : []),
    ...(configDir === undefined ? [] : ["-cd", shownFile(configDir, cwd)]),
  ].join(" ");
}

const MOST_REQUIRED = 40;

/** The overrides that a primary config needs to compose: an option of each group that is left open. */
function defaultLine(
  { older, primary }: Pair,
  place: ProjectPlace,
): { readonly composer: Composer; readonly required: readonly string[] } {
  const composer = openPrimary(primary, place, { dialect: older });
  const required: string[] = [];
  for (;;) {
    const outcome = composeOutcome(composer, { overrides: required, isMultirun: false });
    if (outcome.kind === "composed") return { composer, required };
    const { available = [], code, key, message } = outcome.error.details;
    const [option] = available;
    const isOpen = code === "compose.missing_option" && message.includes("You must specify");
    if (!isOpen || option === undefined || key === undefined || required.length > MOST_REQUIRED)
      throw outcome.error;
    required.push(`${key}=${option}`);
  }
}

/** Composes the lines of a primary config in both versions. */
function compare(
  { lines, newer, older, primary, standard }: Comparison & { readonly standard: StandardPaths },
  { from, place, to }: MigrateRequest,
  findings: Findings,
  untold: UntoldList,
  onDone: () => void,
): void {
  const { cwd } = place.invocation;
  const rules = differingRules(older, newer);
  const composers = new Map<string, Composer>();
  const idOf = (kept: readonly Rule[]): string => kept.map((rule) => rule.id).join(" ");
  const composerWith = (kept: readonly Rule[]): Composer =>
    getOrCreate(composers, idOf(kept), () =>
      openPrimary(primary, place, { dialect: withOld(newer, older, kept) }),
    );
  const oldComposer = openPrimary(primary, place, { dialect: older });
  const fixing = { older, newer, place, standard, composers: new Map<string, Composer>() };
  const explanations: (readonly Rule[])[] = [];
  const told = new Set<string>();

  for (const line of lines) {
    const before = composeOutcome(oldComposer, line);
    if (before.kind === "failed") {
      const { isMultirun, overrides } = line;
      const compose = (words: readonly string[]): Outcome =>
        composeOutcome(composerWith([]), { overrides: words, isMultirun });
      const [renamed] =
        line.words.length === 0 ? [] : renamedLines(overrides, before.error, compose);
      if (renamed !== undefined)
        untold.add(
          "A command line chooses a group by the key that it has up to Hydra 1.3",
          "write the group as the defaults list does now",
          `${line.place}: ${renamed.shown}`,
        );
      else if (line.words.length > 0)
        untold.add(
          "A command line does not compose before the migration either",
          "check the line, and what Python registers (hydraconf python sync)",
          `${line.place}: ${firstLine(before.error)}`,
        );
      onDone();
      continue;
    }
    if (before.leftJobs > 0)
      untold.add(
        "Not all jobs of a sweep over groups are composed",
        "compose the line yourself in both versions: hydraconf --version-base VERSION -m",
        `${line.place}: all but ${before.leftJobs}`,
      );
    const outcomes = new Map<string, Outcome>();
    const outcomeWith = (kept: readonly Rule[]): Outcome =>
      getOrCreate(outcomes, idOf(kept), () => composeOutcome(composerWith(kept), line));
    const after = outcomeWith([]);
    const changes = changesBetween(before, after, standard);
    const about = { primary, line, outcome: before, from, cwd };
    if (changes.length > 0) {
      const effect = (kept: readonly Rule[]): readonly Change[] =>
        changesBetween(before, outcomeWith(kept), standard);
      const causes = causesOf(rules, explanations, effect);
      if (causes === undefined)
        findings.addChange(
          "unexplained",
          changes,
          { sites: placesOf(undefined, { ...about, changes }), isRenamed: false },
          line,
        );
      else
        for (const { changes: effect, rule } of causes) {
          if (rule.onlyWritten === true && line.kind === "option") continue;
          if (rule.ofJobs === true && primary.app?.kind === "compose") continue;
          const checked = checkedSites(rule, { ...about, changes: effect }, fixing);
          findings.addChange(rule.id, effect, checked, line);
          if (checked.isRenamed && line.words.length > 0)
            untold.add(
              "A command line chooses a group that has another key after a fix",
              rule.remedy,
              line.label,
            );
        }
    }
    if (after.kind === "composed")
      for (const warning of after.warnings)
        if (!told.has(warning.message)) {
          told.add(warning.message);
          const finding = warningFinding(warning, { ...about, changes: [] }, from, to);
          if (finding !== undefined)
            findings.addText(checkedText(finding, { ...about, changes: [] }, fixing), line.label);
        }
    for (const finding of [
      ...configFindings(before.composition, cwd),
      ...(from === "1.0" ? findingsSince10(before.composition, cwd) : []),
    ])
      if (appliesTo(versionsOf(ruleNamed(finding.rule)), from, to))
        findings.addText(checkedText(finding, { ...about, changes: [] }, fixing), line.label);
    onDone();
  }
}

/** Errors of an override that chooses by a group which the defaults lists do not have. */
const OF_GROUPS: ReadonlySet<string> = new Set([
  "compose.unused_override",
  "compose.ambiguous_override",
]);

/** A line whose groups have the keys that they have after a fix. */
interface RenamedLine {
  /** What is written in place of what: `db/a@db=b in place of db=a/b`. */
  readonly shown: string;
  readonly outcome: ComposedOutcome;
}

/**
 * The ways in which overrides compose that choose options by groups which the files do not have any more, since a fix
 * renamed them.
 *
 * @param failure the error of the overrides as they are
 */
function* renamedLines(
  overrides: readonly string[],
  { details }: ConfigError,
  compose: (overrides: readonly string[]) => Outcome,
): Generator<RenamedLine> {
  const { available = [], code, origin } = details;
  if (!OF_GROUPS.has(code) || origin?.kind !== "override") return;
  const index = overrides.indexOf(origin.text);
  if (index < 0) return;
  for (const renamed of renamings(origin.text, available)) {
    const words = overrides.toSpliced(index, 1, ...renamed);
    const outcome = compose(words);
    const shown = `${renamed.join(" ")} in place of ${origin.text}`;
    if (outcome.kind === "composed") yield { shown, outcome };
    // Another group of the line; a renamed one has no other name.
    else
      for (const others of renamedLines(words, outcome.error, compose))
        yield { ...others, shown: `${shown}, ${others.shown}` };
  }
}

/**
 * An override as it is after a fix: `db/a@db=b` or `db/a=b` for `db=a/b`; where the defaults list chooses from another
 * folder of the group, its entry has to go: `~db/c@db +db/a@db=b`.
 *
 * @param entries the keys of the defaults list
 */
function renamings(text: string, entries: readonly string[]): readonly (readonly string[])[] {
  const [, group, pkg, folder, option] =
    /^([\w/.-]+)(?:@([\w.]+))?=([\w/.-]+)\/([\w.-]+)$/.exec(text) ?? [];
  if (group === undefined) return [];
  // A fix keeps the package that the group had.
  const kept = `@${pkg ?? group.replaceAll("/", ".")}`;
  const key = `${group}/${folder}`;
  const others = entries.filter((entry) => entry.startsWith(`${group}/`) && entry.endsWith(kept));
  return [
    ...(pkg === undefined ? [[`${key}=${option}`]] : []),
    [`${key}${kept}=${option}`],
    ...others.map((entry) => [`~${entry}`, `+${key}${kept}=${option}`]),
  ];
}

function standardOf(older: Dialect, newer: Dialect, place: ProjectPlace): StandardPaths {
  const empty: PrimaryConfig = { app: undefined, configPath: null, configName: null };
  const [left, right] = [older, newer].map((dialect) =>
    composeOutcome(openPrimary(empty, place, { dialect }), { overrides: [], isMultirun: false }),
  );
  return left === undefined || right === undefined ? new Set() : standardPaths(left, right);
}

/** A rule, and what it alone changes. */
interface Cause {
  readonly rule: Rule;
  readonly changes: readonly Change[];
}

/**
 * The rules that together explain what a line gives: with the old behaviour of all of them, and of none less, the new
 * version composes what the old one does. Undefined if even the old behaviour of all rules does not.
 *
 * @param explanations those of earlier lines, most of which explain later ones as well
 * @param effect what the new version changes with the old behaviour of some rules
 */
function causesOf(
  rules: readonly Rule[],
  explanations: (readonly Rule[])[],
  effect: (kept: readonly Rule[]) => readonly Change[],
): readonly Cause[] | undefined {
  const explains = (kept: readonly Rule[]): boolean => effect(kept).length === 0;
  const minimal =
    explanations.find(explains) ?? (explains(rules) ? leastOf(rules, explains) : undefined);
  if (minimal === undefined) return undefined;
  if (!explanations.includes(minimal)) explanations.push(minimal);
  return minimal
    .map((rule) => ({ rule, changes: effect(minimal.filter((each) => each !== rule)) }))
    .filter(({ changes }) => changes.length > 0);
}

/** The rules of which none can be left out. */
function leastOf(
  rules: readonly Rule[],
  explains: (kept: readonly Rule[]) => boolean,
): readonly Rule[] {
  return rules.reduce<readonly Rule[]>((kept, rule) => {
    const fewer = kept.filter((each) => each !== rule);
    return explains(fewer) ? fewer : kept;
  }, rules);
}

/** What is known of a line whose outcome changes. */
interface AboutLine {
  readonly primary: PrimaryConfig;
  readonly line: ComparedLine;
  readonly outcome: ComposedOutcome;
  readonly changes: readonly Change[];
  readonly from: FromVersion;
  readonly cwd: string;
}

/** The places of a change: those of its rule, else where the changed values are written. */
function placesOf(rule: Rule | undefined, about: AboutLine): readonly Site[] {
  const { outcome, changes, cwd, from, line, primary } = about;
  const sites = rule?.sites?.({
    primary,
    older: outcome,
    from,
    changes,
    words: line.words,
    ...(line.wordsFile !== undefined && { wordsFile: line.wordsFile }),
    cwd,
    textOf,
  });
  if (sites !== undefined && sites.length > 0) return sites;
  for (const change of changes) {
    const span = originsOf(change)
      .map((origin) => placeOf(origin, about))
      .find((place) => place !== undefined);
    if (span !== undefined) return [{ span }];
  }
  return [{ span: fallbackPlace(about) }];
}

function originsOf(change: Change): readonly Origin[] {
  switch (change.kind) {
    case "fails":
      return change.error.details.origin === undefined ? [] : [change.error.details.origin];
    case "value": {
      const { difference } = change;
      return [
        ...("after" in difference ? [difference.after.origin] : []),
        ...("before" in difference ? [difference.before.origin] : []),
      ];
    }
    case "sweep":
      return change.older.node === undefined ? [] : [change.older.node.origin];
    case "directory":
      return [];
  }
}

function placeOf(origin: Origin, { cwd, line }: AboutLine): FileSpan | undefined {
  if (origin.kind === "file") {
    const span = spanOf(origin, cwd);
    return textOf(span.file) === undefined ? undefined : span;
  }
  if (origin.kind !== "override" || line.wordsFile === undefined) return undefined;
  const word = line.words.find(({ text }) => text === origin.text);
  return word && { file: line.wordsFile, start: word.start, end: word.end };
}

/** The line itself, or the primary config, or the program. */
function fallbackPlace({ outcome, cwd, line, primary }: AboutLine): FileSpan {
  const [word] = line.words;
  if (word !== undefined && line.wordsFile !== undefined)
    return { file: line.wordsFile, start: word.start, end: word.end };
  const row = outcome.composition.defaults.find((each) => each.primary);
  if (row?.loaded.origin.kind === "file")
    return { ...spanOf(row.loaded.origin, cwd), start: 0, end: 0 };
  return { file: primary.app?.file ?? resolve(cwd, primary.configPath ?? "."), start: 0, end: 0 };
}

/** How fixes of a primary config are checked. */
interface Fixing {
  readonly older: Dialect;
  readonly newer: Dialect;
  readonly place: ProjectPlace;
  readonly standard: StandardPaths;
  /** Composers with fixes laid over their files, by rule and fixes. */
  readonly composers: Map<string, Composer>;
}

/** The places of a rule that a line shows. */
interface CheckedSites {
  readonly sites: readonly Site[];
  /** Whether the line fails with the fixes only because its words choose a group by a key that they rename; not where a file does. */
  readonly isRenamed: boolean;
}

/** The places of a rule, with only those fixes that make the line compose what it composed before. */
function checkedSites(rule: Rule, about: AboutLine, fixing: Fixing): CheckedSites {
  const sites = placesOf(rule, about);
  const fixes = sites.flatMap(({ fix }) => (fix === undefined ? [] : [fix]));
  if (fixes.length === 0) return { sites, isRenamed: false };
  const isSame = (outcome: Outcome): boolean =>
    changesBetween(about.outcome, outcome, fixing.standard).length === 0;
  const after = fixedOutcome(rule, about, fixes, fixing);
  if (isSame(after)) return { sites, isRenamed: false };
  if (rule.renamesKeys === true && after.kind === "failed") {
    const compose = (overrides: readonly string[]): Outcome => {
      const line = { ...about.line, overrides, words: [] };
      return fixedOutcome(rule, { ...about, line }, fixes, fixing);
    };
    for (const { outcome } of renamedLines(about.line.overrides, after.error, compose))
      if (isSame(outcome)) return { sites, isRenamed: true };
  }
  return {
    sites: sites.map(({ span }) => ({ span })),
    isRenamed: rule.renamesKeys === true && after.kind === "failed" && !isOfFile(after.error),
  };
}

/** What texts tell, with its fix only if the line composes with it: what it composes may be what the fix is for. */
function checkedText(finding: TextFinding, about: AboutLine, fixing: Fixing): TextFinding {
  const { fix, ...others } = finding;
  if (fix === undefined) return finding;
  const after = fixedOutcome(ruleNamed(finding.rule), about, [fix], fixing);
  return after.kind === "composed" ? finding : others;
}

/** Whether an `override` in a file chooses a group that is not there. */
const isOfFile = ({ code, details: { origin } }: ConfigError): boolean =>
  OF_GROUPS.has(code) && origin?.kind === "file";

/** What a line composes with fixes made: in the old version with the new behaviour of one rule, since others have fixes of their own. */
function fixedOutcome(
  rule: Rule,
  { line, primary }: AboutLine,
  fixes: readonly Fix[],
  { composers, newer, older, place }: Fixing,
): Outcome {
  const edits = fixes.flatMap((fix) => fix.edits);
  const words = line.words.map((word) => {
    const edit = edits.find(
      ({ end, file, start }) => file === line.wordsFile && start === word.start && end === word.end,
    );
    return edit === undefined ? word.text : withoutQuotes(edit.text);
  });
  const overrides = line.words.length === 0 ? line.overrides : words;
  // Edits of command lines concern no config.
  const ofFiles = fixes.map((fix) => ({
    ...fix,
    edits: fix.edits.filter(({ file }) => file !== line.wordsFile),
  }));
  const composer = getOrCreate(composers, JSON.stringify([rule.id, ofFiles]), () => {
    const { texts } = editedTexts(ofFiles);
    const overlay: Reading["overlay"] = texts;
    const dialect = withOld(older, newer, [rule]);
    return openPrimary(fixedPrimary(primary, texts, place), place, { dialect, overlay });
  });
  return composeOutcome(composer, { overrides, isMultirun: line.isMultirun });
}

const withoutQuotes = (word: string): string =>
  word.startsWith("'") ? word.slice(1, -1).replaceAll("'\\''", "'") : word;

/** A primary config as the edited source of its program names it. */
function fixedPrimary(
  primary: PrimaryConfig,
  texts: ReadonlyMap<string, string | null>,
  { invocation: { cwd, env } }: ProjectPlace,
): PrimaryConfig {
  const { app } = primary;
  const text = app === undefined ? undefined : texts.get(app.file);
  if (app === undefined || text == null) return primary;
  const place = { cwd, env };
  const index = appsIn(app.file, place).findIndex(({ line }) => line === app.line);
  const fixed = appsOf(text, app.file, place)[index];
  return fixed === undefined
    ? primary
    : {
        ...primary,
        app: fixed,
        // One that its program does not name, but a command line, stays.
        configName: primary.configName === app.configName ? fixed.configName : primary.configName,
        configPath: hasArgument({ source: text, line: fixed.line }, MAIN_ARGUMENTS.configPath)
          ? fixed.configPath
          : primary.configPath,
      };
}

function warningFinding(
  { code, message, origin }: CompositionWarning,
  about: AboutLine,
  from: FromVersion,
  to: DialectName,
): TextFinding | undefined {
  const span = (origin && placeOf(origin, about)) ?? fallbackPlace(about);
  const detail = message.trim().split("\n")[0] ?? "";
  if (code === "missing_self") {
    // From 1.0 it is a finding of another kind: the order changes.
    if (from === "1.0") return undefined;
    const fix = selfFix(about.outcome.composition, about.cwd);
    return { rule: "missing-self", span, detail, level: "warning", ...(fix && { fix }) };
  }
  if (code === "schema_match")
    return appliesTo(versionsOf(ruleNamed("schema-match")), from, to)
      ? { rule: "schema-match", span, detail, level: "error" }
      : undefined;
  return undefined;
}

// Lists of what is found.

interface Findings {
  addText(finding: TextFinding, line?: string): void;
  addChange(
    rule: string,
    changes: readonly Change[],
    checked: CheckedSites,
    line: Pick<ComparedLine, "label" | "kind">,
  ): void;
  all(): readonly Finding[];
}

/** One finding for each rule and place, however many lines show it. */
function createFindings(cwd: string): Findings {
  const byPlace = new Map<string, Finding>();
  const add = (finding: Finding, { isRenamed = false, isSynthetic = false } = {}): void => {
    const { rule, span } = finding;
    const id = JSON.stringify([
      rule,
      span.file,
      span.start,
      rule === "unexplained" ? finding.detail : "",
    ]);
    const existing = byPlace.get(id);
    if (existing === undefined) {
      byPlace.set(id, finding);
      return;
    }
    // A fix that is wrong for one line is no fix, unless that line only chooses by a key that the fix renames.
    const { fix: existingFix, ...others } = existing;
    const fix =
      existingFix === undefined || finding.fix === undefined
        ? existingFix
        : (joinedFix(existingFix, finding.fix) ?? (isRenamed ? existingFix : undefined));
    const isFixed = finding.fix !== undefined || isRenamed;
    byPlace.set(id, {
      ...others,
      // That a line which nobody wrote fails by a renamed key says nothing of the place.
      level:
        isSynthetic && RENAMING.has(rule) ? existing.level : worse(existing.level, finding.level),
      lines: existing.lines + finding.lines,
      ...(fix !== undefined && isFixed && { fix }),
    });
  };
  return {
    addText({ detail, fix, level, rule, span }, line) {
      add({
        rule,
        level,
        span,
        detail,
        changes: [],
        ...(line !== undefined && { line }),
        lines: line === undefined ? 0 : 1,
        ...(fix && { fix }),
      });
    },
    addChange(rule, changes, { isRenamed, sites }, line) {
      const { label } = line;
      // A line of an option that a file breaks shows what the file does.
      const isSynthetic =
        line.kind === "option" &&
        !changes.some((change) => change.kind === "fails" && isOfFile(change.error));
      const isError = changes.some(({ kind }) => kind === "fails");
      const isOurs = changes.every((change) => isOfPlugin(change, cwd));
      for (const { changes: siteChanges, fix, span } of sites)
        add(
          {
            rule,
            level: isError ? "error" : isOurs ? "warning" : "change",
            span,
            detail: rule === "unexplained" ? detailOf(changes) : ruleNamed(rule).title,
            changes: siteChanges ?? changesAt(span, changes, sites, cwd),
            line: label,
            lines: 1,
            ...(fix && { fix }),
          },
          { isRenamed, isSynthetic },
        );
    },
    all: () => [...byPlace.values()].sort(byPlaceInFiles),
  };
}

const RENAMING: ReadonlySet<string> = new Set(
  RULES.filter(({ renamesKeys }) => renamesKeys === true).map(({ id }) => id),
);

/** Whether only defaults that come with Hydra and its plugins differ, of the same class. */
const isOfPlugin = (change: Change, cwd: string): boolean =>
  change.kind === "value" &&
  change.difference.path.at(-1) !== "_target_" &&
  originsOf(change).every(
    (origin) =>
      origin.kind === "schema" ||
      (origin.kind === "file" && textOf(spanOf(origin, cwd).file) === undefined),
  );

/** The changes that the file of a place shows, if that is not the only place; an error of another place says nothing of it. */
function changesAt(
  { file }: FileSpan,
  changes: readonly Change[],
  sites: readonly Site[],
  cwd: string,
): readonly Change[] {
  if (sites.length < 2) return changes;
  const spanChanges = changes.filter((change) =>
    originsOf(change).some((origin) => origin.kind === "file" && spanOf(origin, cwd).file === file),
  );
  return spanChanges.length === 0 ? changes.filter(({ kind }) => kind !== "fails") : spanChanges;
}

const detailOf = ([change]: readonly Change[]): string =>
  change?.kind === "fails" ? firstLine(change.error) : "the composed config differs";

const LEVELS: readonly Level[] = ["error", "change", "warning"];

const worse = (left: Level, right: Level): Level =>
  LEVELS.indexOf(left) <= LEVELS.indexOf(right) ? left : right;

const byPlaceInFiles = (left: Finding, right: Finding): number =>
  left.span.file < right.span.file
    ? -1
    : left.span.file > right.span.file
      ? 1
      : left.span.start - right.span.start;

interface UntoldList {
  add(what: string, remedy: string, place?: string): void;
  all(): readonly Untold[];
}

function createUntold(): UntoldList {
  const entries = new Map<string, { readonly remedy: string; readonly places: Set<string> }>();
  return {
    add(what, remedy, place) {
      const entry = getOrCreate(entries, what, () => ({ remedy, places: new Set<string>() }));
      if (place !== undefined) entry.places.add(place);
    },
    all: () =>
      [...entries].map(([what, { places, remedy }]) => ({ what, remedy, places: [...places] })),
  };
}
