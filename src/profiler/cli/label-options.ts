/** The options of subcommands that unify labels. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type CommandOption, usage } from "../../app/command-line/command-line.ts";
import type { ParsedCommand } from "../../app/command-line/parse.ts";
import { packageInfo } from "../../engine/values/package-info.ts";
import { toObject } from "../../engine/values/plain-objects.ts";
import { readYaml } from "../../engine/values/yaml/reader.ts";
import {
  checkPattern,
  type LabelRule,
  type LabelRules,
  MOST_NUMBERED,
} from "../analysis/labels.ts";

/** The options of the config group `labels`. */
export const LABEL_PRESETS = ["none", "pytorch", "pytorch.shapes"] as const;

export type LabelPreset = (typeof LABEL_PRESETS)[number];

/** The predefined rules of `labels=NAME`, for commands that compose no config. */
export function presetRules(name: LabelPreset): LabelRules {
  const file = join(packageInfo().root, "conf", "labels", `${name}.yaml`);
  // A file of this package, which the tests check against the config's schema.
  return toObject(
    readYaml(readFileSync(file, "utf8"), { name: file, env: process.env }),
  ) as LabelRules;
}

// The options by which subcommands unify labels, corresponding to the config group `labels` of a run.

export const LABEL_OPTIONS = {
  labels: {
    value: "NAME",
    choices: LABEL_PRESETS,
    help: "ready-made rules for labels that are numbered call by\ncall; pytorch: those of emit_nvtx (default: none)",
  },
  "label-rule": {
    value: "REGEX=>TEXT",
    repeatable: true,
    help: "replace what REGEX matches in labels by TEXT; REGEX\nalone deletes it; applied in order",
  },
  fold: {
    value: "COUNT",
    help: `labels that differ only in numbers are one region where\nthere are more than COUNT of them, or a quarter of that in\na run with very many; none: never (default: ${MOST_NUMBERED})`,
  },
} satisfies Readonly<Record<string, CommandOption>>;

/**
 * Null if none of them is given; only `fold` if that is the only one.
 *
 * @throws ConfigError `app.usage` for an invalid regular expression
 */
export function labelRulesOf(command: ParsedCommand): LabelRules | null {
  const rules = command.values("label-rule").map(ruleOf);
  const fold = foldOf(command.value("fold"));
  if (!command.has("labels") && rules.length === 0) return fold === undefined ? null : { fold };
  const ready = presetRules(command.choice("labels", LABEL_PRESETS, "none"));
  return { ...ready, rules, ...(fold !== undefined && { fold }) };
}

function foldOf(text: string | undefined): number | null | undefined {
  if (text === undefined) return undefined;
  if (text === "none") return null;
  if (/^[1-9][0-9]{0,8}$/.test(text)) return Number(text);
  throw usage(`--fold: '${text}' is neither a count of at least 1 nor none`);
}

/** Split at the last `=>`, which is more likely in the regular expression than in the replacement. */
function ruleOf(text: string): LabelRule {
  const index = text.lastIndexOf(ARROW);
  const pattern = index < 0 ? text : text.slice(0, index);
  if (pattern === "") throw usage(`--label-rule: '${text}' has no regular expression before =>`);
  const problem = checkPattern(pattern);
  if (problem !== null) throw usage(`--label-rule: ${problem.message}`, problem.hint);
  return { pattern, replace: index < 0 ? "" : text.slice(index + ARROW.length) };
}

const ARROW = "=>";
