import { describe, expect, test } from "vitest";
import { pluginLines, treeLines } from "../../../src/app/cli/info.ts";
import type { Plugin } from "../../../src/app/plugins/contract/plugin.ts";
import { loadRegistry } from "../../../src/app/plugins/load-registry.ts";
import { STANDARD_PLUGINS } from "../../../src/app/plugins/standard-plugins.ts";
import { composeFiles } from "../../engine/compose/in-memory.ts";

describe("plugins", () => {
  /** The names under a title. */
  async function under(title: string, plugins: readonly Plugin[]): Promise<readonly string[]> {
    const lines = pluginLines(await loadRegistry(plugins));
    const [, ...after] = lines.slice(lines.indexOf(`\t${title}:`) + 1);
    const end = after.findIndex((line) => !line.startsWith("\t\t"));
    return after.slice(0, end === -1 ? undefined : end).map((line) => line.trim());
  }

  test("Hydra's own are there without any plugin", async () => {
    expect(await under("Launcher", [])).toEqual(["BasicLauncher"]);
    expect(await under("Sweeper", [])).toEqual(["BasicSweeper"]);
  });

  const joblib = STANDARD_PLUGINS.filter(({ name }) => name === "joblib");

  test("a launcher or sweeper is there with the plugin that provides it", async () => {
    expect(await under("Launcher", joblib)).toEqual(["BasicLauncher", "JoblibLauncher"]);
    expect(await under("Sweeper", joblib)).toEqual(["BasicSweeper"]);
    expect(await under("Launcher", STANDARD_PLUGINS)).toEqual(
      expect.arrayContaining(["BasicLauncher", "JoblibLauncher", "LocalLauncher", "SlurmLauncher"]),
    );
  });
});

describe("tree", () => {
  test("each config stands below the one whose list brings it in, a null and the place of a list's own among them", () => {
    const { tree } = composeFiles({
      config: "defaults: [db: pg, net@x: null, /base, _self_]",
      base: "defaults: [_self_, db@copy: pg]",
      "db/pg": "",
      "net/lan": "",
    }).composition;
    const lines = treeLines(tree);
    expect(lines.slice(0, 2)).toEqual(["<root>:", "  hydra/config:"]);
    expect(lines.slice(lines.indexOf("  config:"))).toEqual([
      "  config:",
      "    db: pg",
      "    net@x: null",
      "    base:",
      "      _self_",
      "      db@copy: pg",
      "    _self_",
    ]);
  });
});
