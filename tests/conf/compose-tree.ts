import { fileURLToPath } from "node:url";
import { openComposer } from "../../src/app/job/composer.ts";
import { STANDARD_PLUGINS } from "../../src/app/plugins/standard-plugins.ts";
import { toPlain } from "../../src/engine/compose/index.ts";
import type { ConfigNode } from "../../src/engine/values/node.ts";
import { resolveTree } from "../../src/engine/values/resolution/resolve-tree.ts";

export const CONF_DIR = fileURLToPath(new URL("../../conf", import.meta.url));

/** The profiler's tree for some overrides: composed and resolved as in a job. */
export function composeNode(overrides: readonly string[]): ConfigNode {
  const composer = openComposer(
    {
      plugins: STANDARD_PLUGINS,
      jobName: "deep-profile",
      configPath: CONF_DIR,
      configName: "config",
    },
    {
      argv: [],
      env: {},
      cwd: "/work-dir",
      now: new Date(2026, 0, 2, 3, 4, 5),
      console: {
        stdout: () => {},
        stderr: (text) => {
          throw new Error(`unexpected warning: ${text}`);
        },
      },
    },
  );
  const job = [...overrides, "hydra.runtime.output_dir=/run-dir"];
  return resolveTree(composer.compose(job).config, composer.context);
}

// biome-ignore lint/suspicious/noExplicitAny: tests look at many shapes of one tree
export const composeTree = (overrides: readonly string[]): any => toPlain(composeNode(overrides));
