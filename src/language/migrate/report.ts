/** The result of a migration as text, JSON and SARIF. */
import { pathToFileURL } from "node:url";
import pc from "picocolors";
import { diffText } from "../../app/cli/show-diff.ts";
import { type Difference, pathText } from "../../engine/compose/index.ts";
import { showValue } from "../../engine/schema/show-value.ts";
import { lineColumn } from "../../engine/values/origin.ts";
import { readablePath } from "../../foundation/system/files.ts";
import { firstFew, grouped, plural } from "../../foundation/text/plural.ts";
import { textOf } from "../project-files.ts";
import type { Finding, Migration } from "./migrate.ts";
import type { Change, SweepValues } from "./outcome.ts";
import { RULES, type Rule } from "./rules.ts";
import type { FileSpan } from "./text-edits.ts";

const ruleOf = ({ rule }: Finding): Rule | undefined => RULES.find(({ id }) => id === rule);

/** What a composed difference is called that no rule explains. */
const UNEXPLAINED = {
  title: "The composition differs, and no rule explains it",
  remedy: "please report it, with the config and the command line",
};

const titleOf = (finding: Finding): string => ruleOf(finding)?.title ?? UNEXPLAINED.title;
const remedyOf = (finding: Finding): string => ruleOf(finding)?.remedy ?? UNEXPLAINED.remedy;

interface Position {
  readonly line: number;
  readonly column: number;
}

/** Texts of files, each read once. */
function createPositions(): (span: FileSpan) => Position & { readonly end: Position } {
  const texts = new Map<string, { readonly name: string; readonly text: string }>();
  return ({ end, file, start }) => {
    const source = texts.get(file) ?? { name: file, text: textOf(file) ?? "" };
    texts.set(file, source);
    const positionAt = (offset: number): Position =>
      lineColumn({ kind: "file", source, start: offset, end: offset });
    return { ...positionAt(start), end: positionAt(end) };
  };
}

const isAction = ({ level }: Finding): boolean => level !== "warning";

/** What needs an action, and not only warns. */
export const actionsIn = ({ findings }: Migration): readonly Finding[] => findings.filter(isAction);

/** A finding shows this many of the keys that it changes. */
const MOST_CHANGES = 4;

/** The report for people. */
export function migrationText(migration: Migration, cwd: string, color: boolean): string {
  const { counts, findings, from, to, untold } = migration;
  const { bold } = pc.createColors(color);
  const positionOf = createPositions();
  const blocks = findings.map((finding) => findingText(finding, cwd, color, positionOf));
  const sections = [
    ...blocks,
    ...(untold.length === 0
      ? []
      : [
          [
            bold("What cannot be told"),
            ...untold.flatMap(({ places, remedy, what }) => [
              `  ${what}${places.length === 0 ? "" : `:`}`,
              ...(places.length === 0 ? [] : [`    ${firstFew(places, MOST_PLACES)}`]),
              `    ${remedy}`,
            ]),
          ].join("\n"),
        ]),
  ];
  const actions = actionsIn(migration);
  const fixable = findings.filter(({ fix }) => fix !== undefined);
  const warnings = findings.length - actions.length;
  const summary = [
    ...(counts.primaries === 0 ? ["Nothing could be composed."] : []),
    `From ${from} to ${to}: ${plural(actions.length, "change")}, ${plural(warnings, "warning")}${untold.length === 0 ? "" : `, ${plural(untold.length, "kind")} of things that cannot be told`}.`,
    `Composed ${plural(counts.compared, "command line")} of ${plural(counts.primaries, "primary config")} (${plural(counts.programs, "program")}, ${plural(counts.found, "line")} found in files) in both versions.`,
    ...(counts.leftOut === 0
      ? []
      : [
          `${grouped(String(counts.leftOut))} more were not composed: --limit ${counts.compared + counts.leftOut} composes all.`,
        ]),
    ...(fixable.length === 0 ? [] : [`${plural(fixable.length, "finding")} can be fixed: --fix`]),
  ];
  return `${[...sections, summary.join("\n")].join("\n\n")}\n`;
}

const MOST_PLACES = 3;

function findingText(
  finding: Finding,
  cwd: string,
  color: boolean,
  positionOf: (span: FileSpan) => Position,
): string {
  const { bold, dim, red, yellow } = pc.createColors(color);
  const { changes, detail, fix, level, line, lines, rule, span } = finding;
  const { column, line: row } = positionOf(span);
  const paint = level === "warning" ? yellow : red;
  const title = titleOf(finding);
  const source = ruleOf(finding)?.sources[0];
  const others = lines > 1 ? ` (and ${plural(lines - 1, "more line")})` : "";
  return [
    `${bold(`${readablePath(span.file, cwd)}:${row}:${column}`)} ${paint(level)} ${rule}: ${title}`,
    ...(detail === title ? [] : [`  ${detail}`]),
    ...(line === undefined ? [] : [`  ${line}${others}`]),
    ...changesText(changes, color).map((text) => `    ${text}`),
    `  ${fix === undefined ? remedyOf(finding) : "--fix mends it"}${source === undefined ? "" : dim(` ${source}`)}`,
  ].join("\n");
}

function changesText(changes: readonly Change[], color: boolean): readonly string[] {
  const shown = changes.slice(0, MOST_CHANGES).flatMap((change) => changeText(change, color));
  const rest = changes.length - MOST_CHANGES;
  return rest > 0 ? [...shown, `and ${plural(rest, "more key")}`] : shown;
}

function changeText(change: Change, color: boolean): readonly string[] {
  switch (change.kind) {
    case "fails":
      return [change.error.message.trim().split("\n").slice(0, 2).join(" ")];
    case "value":
      return [
        ...diffText([change.difference], color).trimEnd().split("\n"),
        ...(change.isResolved ? ["(resolved)"] : []),
      ];
    case "sweep":
      return [
        `${change.older.text} sweeps ${valuesText(change.newer)}`,
        `${" ".repeat(change.older.text.length)} instead of ${valuesText(change.older)}`,
      ];
    case "directory":
      return [
        change.newer
          ? "its jobs work in their own directories"
          : "its jobs work where the program is started, and not in their own directories",
      ];
  }
}

const valuesText = ({ values }: SweepValues): string =>
  typeof values === "string"
    ? values
    : firstFew(
        values.map((value) => value.slice(value.indexOf("=") + 1)),
        MOST_VALUES,
      );

const MOST_VALUES = 12;

/** The report for programs. */
export function migrationJson(migration: Migration, cwd: string): string {
  const positionOf = createPositions();
  const findings = migration.findings.map((finding) => {
    const { changes, detail, fix, level, line, lines, rule, span } = finding;
    const { column, line: row } = positionOf(span);
    return {
      rule,
      level,
      title: titleOf(finding),
      file: readablePath(span.file, cwd),
      line: row,
      column,
      detail,
      sources: ruleOf(finding)?.sources ?? [],
      remedy: remedyOf(finding),
      ...(line !== undefined && { command_line: line, command_lines: lines }),
      changes: changes.map(changeData),
      fixable: fix !== undefined,
    };
  });
  const { counts, from, to, untold } = migration;
  const { compared, found, leftOut, primaries, programs } = counts;
  const data = {
    version: 1,
    from,
    to,
    findings,
    untold,
    counts: {
      programs,
      primary_configs: primaries,
      command_lines: compared,
      left_out: leftOut,
      found_in_files: found,
    },
  };
  return `${JSON.stringify(data, null, 2)}\n`;
}

function changeData(change: Change): object {
  switch (change.kind) {
    case "fails":
      return { kind: "fails", code: change.error.code, message: change.error.message };
    case "value":
      return { ...differenceData(change.difference), resolved: change.isResolved };
    case "sweep":
      return {
        kind: "sweep",
        override: change.older.text,
        before: change.older.values,
        after: change.newer.values,
      };
    case "directory":
      return { kind: "directory", before: change.older, after: change.newer };
  }
}

const differenceData = (difference: Difference): object => ({
  kind: difference.kind,
  key: pathText(difference.path),
  ...("before" in difference && { before: showValue(difference.before) }),
  ...("after" in difference && { after: showValue(difference.after) }),
});

const SARIF_LEVELS = { error: "error", change: "error", warning: "warning" } as const;

/**
 * The report for code scanning, SARIF 2.1.0.
 *
 * @see https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
 */
export function migrationSarif(migration: Migration, cwd: string, version: string): string {
  const positionOf = createPositions();
  const used = [...new Set(migration.findings.map(({ rule }) => rule))];
  const uriOf = (file: string): string =>
    readablePath(file, cwd).split("/").map(encodeURIComponent).join("/");
  const regionOf = (span: FileSpan) => {
    const { column, end, line } = positionOf(span);
    return { startLine: line, startColumn: column, endLine: end.line, endColumn: end.column };
  };
  const results = migration.findings.map((finding) => {
    const { changes, detail, fix, level, line, rule, span } = finding;
    const text = [
      titleOf(finding),
      ...(detail === titleOf(finding) ? [] : [detail]),
      ...(line === undefined ? [] : [line]),
      ...changesText(changes, false),
      remedyOf(finding),
    ];
    const edits = fix?.edits ?? [];
    const files = [...new Set(edits.map(({ file }) => file))];
    return {
      ruleId: rule,
      ruleIndex: used.indexOf(rule),
      level: SARIF_LEVELS[level],
      message: { text: text.join("\n") },
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: uriOf(span.file), uriBaseId: "PROJECT" },
            region: regionOf(span),
          },
        },
      ],
      // A fix of SARIF cannot rename files.
      ...(files.length > 0 &&
        fix?.renames === undefined && {
          fixes: [
            {
              description: { text: remedyOf(finding) },
              artifactChanges: files.map((file) => ({
                artifactLocation: { uri: uriOf(file), uriBaseId: "PROJECT" },
                replacements: edits
                  .filter((edit) => edit.file === file)
                  .map((edit) => ({
                    deletedRegion: regionOf(edit),
                    insertedContent: { text: edit.text },
                  })),
              })),
            },
          ],
        }),
    };
  });
  const rules = used.map((id) => {
    const rule = RULES.find((each) => each.id === id);
    return {
      id,
      shortDescription: { text: rule?.title ?? UNEXPLAINED.title },
      help: { text: rule?.remedy ?? UNEXPLAINED.remedy },
      ...(rule?.sources[0] !== undefined && { helpUri: rule.sources[0] }),
    };
  });
  const sarif = {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name: "hydraconf migrate", version, rules } },
        originalUriBaseIds: { PROJECT: { uri: `${pathToFileURL(cwd).href}/` } },
        columnKind: "unicodeCodePoints",
        results,
      },
    ],
  };
  return `${JSON.stringify(sarif, null, 2)}\n`;
}
