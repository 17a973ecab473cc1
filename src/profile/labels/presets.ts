import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageInfo } from "../../values/package-info.ts";
import { toObject } from "../../values/plain-objects.ts";
import { readYaml } from "../../values/yaml/reader.ts";
import type { LabelRules } from "./label-rules.ts";

/** The options of the config group `labels`. */
export const LABEL_PRESETS = ["none", "pytorch", "pytorch.shapes"] as const;

export type LabelPreset = (typeof LABEL_PRESETS)[number];

/** The ready-made rules as `labels=NAME` has them, for commands that compose no config. */
export function presetRules(name: LabelPreset): LabelRules {
  const file = join(packageInfo().root, "conf", "labels", `${name}.yaml`);
  // Ours, and held to the config's schema by the tests.
  return toObject(readYaml(readFileSync(file, "utf8"), { name: file })) as LabelRules;
}
