import type { Repository } from "../../compose/index.ts";
import { parseOverrides, type SweepOptions } from "../../overrides/index.ts";
import type { MapNode } from "../../values/node.ts";
import { pyStr } from "../../values/python-text.ts";
import type { ResolveContext } from "../../values/resolution/context.ts";
import { asDeclared } from "../../values/resolution/context.ts";
import { selectNode } from "../../values/resolution/select.ts";
import { basicBatches } from "./basic-batches.ts";
import { readExclusion } from "./exclude.ts";
import type { SweeperKind } from "./sweeper.ts";

/** Hydra's name, which log configs may use. */
const LOGGER = "hydra._internal.core_plugins.basic_sweeper";

/**
 * Hydra's own sweeper: `hydra.sweeper.params`, then the sweeps of the command line, all
 * combinations but those in `hydra.sweeper.exclude` (which is ours), in batches of
 * `hydra.sweeper.max_batch_size`.
 * @see https://hydra.cc/docs/1.3/tutorials/basic/running_your_app/multi-run/
 */
export const basicSweeper: SweeperKind = {
  targets: ["hydra._internal.core_plugins.basic_sweeper.BasicSweeper"],
  settings: ["max_batch_size", "params", "exclude"],
  open: ({ context, groups, master, overrides }) => {
    const size = selectNode(master.root, "hydra.sweeper.max_batch_size", context);
    const all = parseOverrides([...sweepParams(master.root, context), ...overrides]);
    const isExcluded = readExclusion(master.root, context, all);
    const batches = basicBatches({
      overrides: all,
      ...(isExcluded !== undefined && { isExcluded }),
      maxBatchSize: size === undefined || pyStr(size) === "None" ? null : Number(pyStr(size)),
      options: globOptions(groups),
    });
    let asked = 0;
    return {
      ask: () => batches[asked++],
      mayAskForMore: () => asked < batches.length,
      tell: () => {},
      logger: LOGGER,
    };
  },
};

/** `hydra.sweeper.params` as overrides. */
export function sweepParams(root: MapNode, context: ResolveContext): readonly string[] {
  const params = selectNode(root, "hydra.sweeper.params", asDeclared(context), { deep: true });
  if (params?.kind !== "map") return [];
  return [...params.entries.values()].map(({ key, value }) => `${pyStr(key)}=${pyStr(value)}`);
}

/** What `glob` selects from. */
export const globOptions = (repository: Repository): SweepOptions => ({
  groupOptions: (group) => repository.list(group, "config"),
});
