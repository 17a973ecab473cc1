import { checkObject, checkText, checkTexts } from "./check-arguments.ts";
import type { ComposeOptions } from "./engine.ts";

/** @throws ConfigError `value.wrong_type` for options that the types do not allow */
export function checkOptions(options: ComposeOptions): void {
  checkObject("compose", "the options", options, 'compose({ configDir: "conf", ... })');
  const { configDir, configName, configDirs, overrides } = options;
  refuseOther("configDir", configDir);
  refuseOther("configName", configName);
  refuseOtherList("configDirs", configDirs, '["more"]');
  refuseOtherList("overrides", overrides, '["db=mysql", "+lr=0.1"]');
}

function refuseOther(name: string, value: unknown): void {
  if (value === undefined || value === null) return;
  const hint = value instanceof URL ? "fileURLToPath(url) of node:url gives a path" : undefined;
  checkText("compose", name, value, hint);
}

function refuseOtherList(name: string, value: unknown, example: string): void {
  if (value !== undefined) checkTexts("compose", name, value, `${name}: ${example}`);
}
