import { expect, test } from "vitest";
import { pluginLines } from "../../../src/app/info/plugins.ts";
import type { Plugin } from "../../../src/compose/index.ts";
import { joblib } from "../../../src/compose/plugins/joblib.ts";
import { STANDARD_PLUGINS } from "../../../src/compose/plugins/standard-plugins.ts";

/** The names under a title. */
function under(title: string, plugins: readonly Plugin[]): readonly string[] {
  const lines = pluginLines(plugins);
  const [, ...after] = lines.slice(lines.indexOf(`\t${title}:`) + 1);
  const end = after.findIndex((line) => !line.startsWith("\t\t"));
  return after.slice(0, end === -1 ? undefined : end).map((line) => line.trim());
}

test("Hydra's own are there without any plugin", () => {
  expect(under("Launcher", [])).toEqual(["BasicLauncher"]);
  expect(under("Sweeper", [])).toEqual(["BasicSweeper"]);
});

test("a launcher or sweeper is there with the plugin whose config names it", () => {
  expect(under("Launcher", [joblib])).toEqual(["BasicLauncher", "JoblibLauncher"]);
  expect(under("Sweeper", [joblib])).toEqual(["BasicSweeper"]);
  const texts: Plugin = { name: "texts", store: { "hydra/launcher/x": { text: "_target_: 5" } } };
  const number: Plugin = { name: "n", store: { "hydra/launcher/x": { value: { _target_: 5 } } } };
  expect(under("Launcher", [texts, number])).toEqual(["BasicLauncher"]);
  expect(under("Launcher", STANDARD_PLUGINS)).toEqual(
    expect.arrayContaining(["BasicLauncher", "JoblibLauncher", "LocalLauncher", "SlurmLauncher"]),
  );
});
