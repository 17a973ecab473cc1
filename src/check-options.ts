import type { ComposeOptions } from "./engine.ts";
import { ConfigError } from "./values/errors.ts";

/**
 * What types say to TypeScript, said to JavaScript: a text for a list is split into letters, or ends
 * in an error far from here.
 *
 * @throws ConfigError `value.wrong_type`
 */
export function checkOptions(options: ComposeOptions): void {
  if (typeof options !== "object" || options === null)
    throw wrong("the options", "an object", options, 'compose({ configDir: "conf", ... })');
  const { configDir, configName, configDirs, overrides } = options;
  refuseOther("configDir", configDir);
  refuseOther("configName", configName);
  refuseOtherList("configDirs", configDirs, '["more"]');
  refuseOtherList("overrides", overrides, '["db=mysql", "+lr=0.1"]');
}

function refuseOther(name: string, value: unknown): void {
  if (value === undefined || value === null || typeof value === "string") return;
  const hint = value instanceof URL ? "fileURLToPath(url) of node:url gives a path" : undefined;
  throw wrong(name, "a text", value, hint);
}

function refuseOtherList(name: string, value: unknown, example: string): void {
  if (value === undefined) return;
  if (!Array.isArray(value)) throw wrong(name, "a list of texts", value, `${name}: ${example}`);
  const at = value.findIndex((item) => typeof item !== "string");
  if (at >= 0) throw wrong(`${name}[${at}]`, "a text", value[at]);
}

const wrong = (name: string, expected: string, value: unknown, hint?: string): ConfigError =>
  new ConfigError({
    code: "value.wrong_type",
    message: `compose: ${name} must be ${expected}, not ${described(value)}`,
    ...(hint === undefined ? {} : { hint }),
  });

function described(value: unknown): string {
  if (typeof value === "string") return `the text '${value}'`;
  if (typeof value === "number" || typeof value === "boolean") return `${typeof value} ${value}`;
  if (value === undefined || value === null) return String(value);
  if (value instanceof URL) return "a URL";
  return Array.isArray(value)
    ? "a list"
    : typeof value === "object"
      ? "an object"
      : `a ${typeof value}`;
}
