/** What texts tell of a migration without composing them: sources of programs, headers, keys of Hydra's own config. */
import { dirname, relative } from "node:path";
import type { Composition, DefaultsTreeNode } from "../../engine/compose/index.ts";
import { DIALECT_NAMES, DIALECTS, type DialectName } from "../../engine/values/dialect.ts";
import { type ConfigNode, getAt } from "../../engine/values/node.ts";
import { type App, type AppPlace, appsOf, versionPosition } from "../../python/apps.ts";
import { readPythonCalls } from "../../python/python-reader.ts";
import { addedItem } from "./list-edits.ts";
import { textAt, textEntries } from "./outcome.ts";
import {
  argumentEdit,
  argumentText,
  hasArgument,
  MAIN_ARGUMENTS,
  type NamedArgument,
  withoutArgument,
} from "./python-edits.ts";
import { type FromVersion, lineStart } from "./rules.ts";
import { type Edit, editedText, type FileSpan, type Fix, spanOf } from "./text-edits.ts";

/** A place that a rule about texts finds. */
export interface TextFinding {
  readonly rule: string;
  readonly span: FileSpan;
  /** What is there, in a few words. */
  readonly detail: string;
  readonly level: "error" | "change" | "warning";
  readonly fix?: Fix;
}

/** What sources may use that behaves in another way from a version on, of which no text tells whether it matters. */
export interface SourceNote {
  readonly since: { readonly from: FromVersion; readonly to: DialectName };
  readonly pattern: RegExp;
  readonly what: string;
  readonly remedy: string;
}

const TO_14 = { from: "1.3", to: "1.4" } as const;

export const SOURCE_NOTES: readonly SourceNote[] = [
  {
    since: TO_14,
    pattern: /^[^#\n]*\binstantiate\(/m,
    what: "Sources call instantiate, whose rules for arguments, interpolations and allowed targets changed",
    remedy:
      "read https://hydra.cc/docs/upgrades/1.3_to_1.4/instantiate_resolution and run the program's tests",
  },
  {
    since: TO_14,
    pattern:
      /^[ \t]*class[ \t]+\w+[ \t]*\((?:[^)]*[\s.,(])?(?:Basic)?(?:Sweeper|Launcher|Callback)\b/m,
    what: "Sources define launchers, sweepers or callbacks of Hydra, which 1.4 calls in another way",
    remedy:
      "read https://hydra.cc/docs/upgrades/1.3_to_1.4/breaking_changes: sweepers use the HydraContext of setup(), and callbacks also end with a job that fails",
  },
  {
    since: TO_14,
    pattern: /^[^#\n]*\bOmegaConf\.(?:resolve\(|get_type\(|create\(\s*None\s*\))/m,
    what: "Sources call functions of OmegaConf that changed: resolve of missing values, get_type and create of None",
    remedy:
      "read https://hydra.cc/docs/upgrades/1.3_to_1.4/breaking_changes and run the program's tests",
  },
];

const API_NAMES = /^(compose|initialize|initialize_config_dir|initialize_config_module)$/;

/** What a Python source uses that is gone in 1.4. */
export function pythonFindings(
  file: string,
  source: string,
  place: AppPlace,
): readonly TextFinding[] {
  const findings: TextFinding[] = [];
  const spanAt = (start: number, end = start): FileSpan => ({ file, start, end });
  const pattern =
    /^[ \t]*from[ \t]+(hydra\.experimental(?:\.(?:compose|initialize))?)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]*)/gm;
  for (const match of source.matchAll(pattern)) {
    const [whole, module = "", list = ""] = match;
    const names = list
      .replace(/[()\\]|#[^\n]*/g, " ")
      .split(",")
      .map((name) => name.trim().split(/\s+/)[0] ?? "")
      .filter((name) => name !== "");
    if (!names.some((name) => API_NAMES.test(name))) continue;
    const start = match.index + whole.indexOf(module);
    const edit: Edit = { ...spanAt(start, start + module.length), text: "hydra" };
    findings.push({
      rule: "experimental-api",
      span: spanAt(start, start + module.length),
      detail: whole.trim().replace(/\s+/g, " "),
      level: "error",
      ...(names.every((name) => API_NAMES.test(name)) && { fix: { edits: [edit] } }),
    });
  }
  for (const match of source.matchAll(
    /^[ \t]*from[ \t]+hydra\.types[ \t]+import[^\n]*\bTargetConf\b/gm,
  )) {
    const start = match.index + match[0].indexOf("TargetConf");
    findings.push({
      rule: "target-conf",
      span: spanAt(start, start + "TargetConf".length),
      detail: match[0].trim(),
      level: "error",
    });
  }
  if (/\bstrict\s*=/.test(source))
    for (const { callee, line, named } of readPythonCalls(source, { ...place, file }).calls)
      if (/^hydra(\.experimental)?\.compose$/.test(callee) && named.has("strict")) {
        const start = lineStart(source, line);
        findings.push({
          rule: "compose-strict",
          span: spanAt(start),
          detail: "compose(strict=...)",
          level: "error",
        });
      }
  return findings;
}

/** The version_base of a program, if the new version refuses or ignores it. */
export function versionFinding(
  app: App,
  source: string,
  to: DialectName,
  place: AppPlace,
): TextFinding | undefined {
  const { file, kind, line, versionBase } = app;
  if (kind === "script") return undefined;
  // A version with one behaviour only takes those from the least one on; others follow what is named.
  const { leastVersionBase: least } = DIALECTS[to];
  const named = DIALECT_NAMES.find((name) => name === versionBase);
  const isOlder = named !== undefined && named < (least ?? to);
  if (!isOlder && (least !== null || versionBase !== undefined)) return undefined;
  const wanted = least ?? to;
  const edit = argumentEdit(
    { file, source, line },
    versionArgument(app, source, place),
    `"${wanted}"`,
  );
  const fix = sourceFix(app, source, edit === undefined ? [] : [edit], place);
  const start = lineStart(source, line);
  return {
    rule: "version-base",
    span: { file, start, end: start },
    detail:
      versionBase === undefined
        ? `${relative(place.cwd, file)} names no version_base, which keeps the behaviour of 1.1`
        : `version_base="${versionBase}"`,
    level: least === null ? "change" : "error",
    ...(fix?.app.versionBase === wanted && { fix: { edits: fix.edits } }),
  };
}

/** `version_base` in the declaration of a program. */
function versionArgument(
  { file, kind, line }: App,
  source: string,
  place: AppPlace,
): NamedArgument {
  if (kind === "main") return MAIN_ARGUMENTS.versionBase;
  const { calls } = readPythonCalls(source, { ...place, file });
  const declaration = calls.find(
    (call) => call.line === line && /^hydra\..*\binitialize/.test(call.callee),
  );
  return ["version_base", versionPosition(declaration?.callee ?? "")];
}

/** A config file in the place of the directory, and `strict`, which programs of 1.0 may still name. */
export function mainFinding(app: App, source: string, place: AppPlace): TextFinding | undefined {
  const { configPath, file, kind, line } = app;
  if (kind !== "main") return undefined;
  const call = { file, source, line };
  const isFile = namesFile(app);
  const isStrict = hasArgument(call, ["strict", Number.POSITIVE_INFINITY]);
  if (!isFile && !isStrict) return undefined;
  const written = isFile ? argumentText(call, MAIN_ARGUMENTS.configPath) : undefined;
  const [, quote = "", folder = ".", name = ""] =
    /^(["'])(?:([^"'\\]*)\/)?([^"'\\/]+)\.yaml\1$/.exec(written ?? "") ?? [];
  const path = `${quote}${folder}${quote}, config_name=${quote}${name}${quote}`;
  const edits = [
    name === "" ? undefined : argumentEdit(call, MAIN_ARGUMENTS.configPath, path),
    argumentText(call, ["strict", Number.POSITIVE_INFINITY]) === "True"
      ? withoutArgument(call, "strict")
      : undefined,
  ].filter((edit) => edit !== undefined);
  const fix = sourceFix(app, source, edits, place);
  const isRight =
    edits.length === Number(isFile) + Number(isStrict) &&
    (!isFile || fix?.app.configPath === dirname(configPath ?? ""));
  const start = lineStart(source, line);
  return {
    rule: "main-arguments",
    span: { file, start, end: start },
    detail: [
      ...(isFile ? [`config_path=${written ?? ""}`] : []),
      ...(isStrict ? ["strict"] : []),
    ].join(", "),
    level: "error",
    ...(fix !== undefined && isRight && { fix: { edits: fix.edits } }),
  };
}

/** Whether a program names its primary config by the path of its file, as up to 1.0. */
export const namesFile = ({ configName, configPath, kind }: App): boolean =>
  kind === "main" && configName === null && /\.ya?ml$/.test(configPath ?? "");

/** Edits of the source of a program, and what it declares with them; undefined if it then is another program, or cannot be read. */
function sourceFix(
  app: App,
  source: string,
  edits: readonly Edit[],
  place: AppPlace,
): (Fix & { readonly app: App }) | undefined {
  if (edits.length === 0) return undefined;
  const before = appsOf(source, app.file, place);
  const after = appsOf(editedText(source, edits), app.file, place);
  const index = before.findIndex(({ line }) => line === app.line);
  const fixed = after[index];
  return fixed === undefined ||
    after.length !== before.length ||
    after.some(({ isBroken }) => isBroken)
    ? undefined
    : { edits, app: fixed };
}

/** What Hydra's part of a composed config uses that is gone or deprecated in 1.4. */
export function configFindings({ hydra, root }: Composition, cwd: string): readonly TextFinding[] {
  const findings: TextFinding[] = [];
  const add = (
    rule: string,
    node: ConfigNode,
    detail: string,
    level: TextFinding["level"],
  ): void => {
    if (node.origin.kind === "file")
      findings.push({ rule, span: spanOf(node.origin, cwd), detail, level });
  };
  for (const node of textsIn(root))
    if (/\$\{hydra[.:]job\.override_dirname\}/.test(String(node.value)))
      add("override-dirname", node, String(node.value), "warning");
  const variables = textEntries(getAt(hydra, ["job", "env_set"]));
  const names = new Set(variables.map(([name]) => name));
  for (const [, value] of variables) {
    const text = value.kind === "scalar" && typeof value.value === "string" ? value.value : "";
    const [, name = ""] = /\$\{oc\.env:\s*([A-Za-z_]\w*)/.exec(text) ?? [];
    if (names.has(name)) add("environment", value, text, "change");
  }
  for (const [name, callback] of textEntries(getAt(hydra, ["callbacks"])))
    if (/\bPickleJobInfoCallback$/.test(textAt(callback, "_target_") ?? ""))
      add("pickle-callback", callback, `hydra.callbacks.${name}`, "error");
  return findings;
}

function* textsIn(node: ConfigNode): Generator<Extract<ConfigNode, { kind: "scalar" }>> {
  if (node.kind === "scalar") {
    if (typeof node.value === "string") yield node;
  } else if (node.kind === "list") for (const item of node.items) yield* textsIn(item);
  else for (const { value } of node.entries.values()) yield* textsIn(value);
}

/** What is different since 1.0, of which no dialect tells. */
export function findingsSince10(composition: Composition, cwd: string): readonly TextFinding[] {
  const nodes = composition.tree.roots.flatMap(below);
  return nodes.flatMap((node): readonly TextFinding[] => {
    const { loaded, placed, primary } = node;
    if (loaded?.origin.kind !== "file" || loaded.source.scheme === "structured") return [];
    const span = { ...spanOf(loaded.origin, cwd), start: 0, end: 0 };
    if (primary) {
      const [first] = loaded.defaults;
      const hasContent = loaded.node.kind === "map" && loaded.node.entries.size > 0;
      if (first === undefined || !hasContent || loaded.defaults.some(({ kind }) => kind === "self"))
        return [];
      const edit = addedItem(first, "_self_", "before", cwd);
      const place = first.origin.kind === "file" ? spanOf(first.origin, cwd) : span;
      return [
        {
          rule: "composition-order",
          span: place,
          detail: "its defaults list has no _self_",
          level: "change",
          ...(edit && { fix: { edits: [edit] } }),
        },
      ];
    }
    if (placed.group === "" || /^hydra(\/|$)/.test(placed.group) || loaded.package !== null)
      return [];
    // Only primary configs of 1.0 have a defaults list: this one was written for a later version.
    if (loaded.defaults.length > 0) return [];
    return [
      {
        rule: "package-header",
        span,
        detail: `'${placed.configPath}' has no # @package header`,
        level: "change",
        fix: { edits: [{ ...span, text: "# @package _global_\n" }] },
      },
    ];
  });
}

const below = (node: DefaultsTreeNode): readonly DefaultsTreeNode[] => [
  node,
  ...node.children.flatMap((child) => (child.kind === "config" ? below(child) : [])),
];

/** The edit that adds `_self_` where the content of a config is merged without it: last, before overrides. */
export function selfFix(composition: Composition, cwd: string): Fix | undefined {
  const primary = composition.tree.roots.flatMap(below).find((node) => node.primary);
  const items = primary?.loaded?.defaults ?? [];
  const last = items.findLast((item) => !(item.kind === "group" && item.override));
  const edit = last === undefined ? undefined : addedItem(last, "_self_", "after", cwd);
  return edit && { edits: [edit] };
}
