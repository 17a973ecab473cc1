import { constants } from "node:buffer";
import type { Cause, Difference, Explanation, KeyedNode } from "../../compose/index.ts";
import { pathText } from "../../compose/index.ts";
import { limitError } from "../../values/limits.ts";
import type { ConfigNode } from "../../values/node.ts";
import { lineColumn, type Origin } from "../../values/origin.ts";
import { toObject } from "../../values/plain-objects.ts";
import { floatRepr } from "../../values/python-text.ts";

/** What `--explain KEY --json` prints. */
export const explanationJson = ({ key, value, cause, replaced }: Explanation): string =>
  jsonText({
    key,
    value: toObject(value),
    ...causeData(cause),
    replaced: replaced.map((earlier) => ({
      value: toObject(earlier.value),
      ...causeData(earlier.cause),
    })),
  });

/** What `--cfg --json` prints. */
export const valueJson = (node: ConfigNode): string => jsonText(toObject(node));

/** What `--cfg --origins --json` prints: every leaf value. */
export const originsJson = (leaves: readonly KeyedNode[]): string =>
  jsonText(leaves.map(({ path, node }) => ({ key: pathText(path), ...valueData(node) })));

/** What `--diff --json` prints. `before` is absent for an added key, `after` for a removed one. */
export const differencesJson = (differences: readonly Difference[]): string =>
  jsonText(
    differences.map((difference) => ({
      key: pathText(difference.path),
      kind: difference.kind,
      ...("before" in difference && { before: valueData(difference.before) }),
      ...("after" in difference && { after: valueData(difference.after) }),
    })),
  );

const valueData = (node: ConfigNode) => ({
  value: toObject(node),
  origin: originData(node.origin),
});

const causeData = ({ origin, broughtInBy }: Cause) => ({
  origin: originData(origin),
  broughtInBy: broughtInBy.map((step) => ({
    config: step.configPath,
    package: step.package,
    choice: step.choice,
    origin: originData(step.origin),
  })),
});

/** Files as path, line and column from 1; an override with its position in the list, from 0. */
function originData(origin: Origin) {
  switch (origin.kind) {
    case "file":
      return { kind: "file", file: origin.source.name, ...lineColumn(origin) };
    case "override":
      return { kind: "override", override: origin.text, index: origin.index };
    case "schema":
      return { kind: "schema", schema: origin.schema };
    case "code":
      return { kind: "code", by: origin.by };
  }
}

/** Values without a JSON form become text: big integers, `inf` and `nan`, bytes (base64). */
const jsonValue = (_: string, value: unknown): unknown => {
  if (typeof value === "bigint") return String(value);
  if (typeof value === "number" && !Number.isFinite(value)) return floatRepr(value);
  return value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value;
};

/** @throws ConfigError `limit.characters` where no string can hold it: what is deep inside is indented far */
function jsonText(data: unknown): string {
  try {
    return `${JSON.stringify(data, jsonValue, 2)}\n`;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const what = "The config as indented JSON has";
    const hint = "show a part of it: --package KEY";
    throw limitError("characters", constants.MAX_STRING_LENGTH, { what, hint });
  }
}
