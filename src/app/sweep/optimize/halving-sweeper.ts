import { parseOverride } from "../../../overrides/index.ts";
import { bareKey, keysOf } from "../dimensions.ts";
import type { SweeperKind } from "../sweeper.ts";
import { optimizingSweeper } from "./optimizing-sweeper.ts";
import { randomSource } from "./random-source.ts";
import {
  readCommon,
  readOverrides,
  readSettings,
  readSpace,
  type Settings,
  seedOf,
} from "./settings.ts";
import { halvingRungs, type Rung, successiveHalving } from "./successive-halving.ts";

/**
 * `hydra/sweeper=successive_halving`: many trials with a small budget, the best `1/eta` of them with
 * `eta` times as much, and so on up to the largest budget.
 */
export const halvingSweeper: SweeperKind = {
  targets: ["hydraconf.sweepers.SuccessiveHalving"],
  open(request) {
    const settings = readSettings(request);
    const common = readCommon(settings, request);
    const overrides = readOverrides(request);
    const budgetKey = readBudgetKey(settings, overrides.flatMap(keysOf));
    const rungs = readRungs(settings);
    const random = randomSource(seedOf(settings.int("seed", -Infinity), request));
    const plan = { budgetKey, rungs, direction: common.direction };
    return optimizingSweeper({
      name: "successive_halving",
      search: successiveHalving(readSpace(request, overrides), random, plan),
      ...common,
      ...(rungs.length > 1 && { unforeseeable: laterRungs(budgetKey, rungs) }),
    });
  },
};

function readBudgetKey(settings: Settings, keys: readonly string[]): string {
  const key = settings.text("budget_key");
  if (key === undefined || key === "???")
    return settings.refuse("budget_key", "is missing", "name the key that limits a job: epochs");
  parseOverride(`${key}=1`);
  if (keys.includes(bareKey(key)))
    return settings.refuse("budget_key", `is '${key}', which the sweep also sets`);
  return key;
}

function readRungs(settings: Settings): readonly Rung[] {
  const budget = (name: string): bigint | number => {
    const value = settings.intOrFloat(name) ?? settings.refuse(name, "is missing");
    if (Number(value) > 0 && Number.isFinite(Number(value))) return value;
    return settings.refuse(name, `must be above 0, not ${value}`);
  };
  const [min, max] = [budget("min_budget"), budget("max_budget")];
  if (Number(max) < Number(min))
    settings.refuse("max_budget", `must be at least min_budget, ${min}, not ${max}`);
  const eta = settings.number("eta", 2) ?? settings.refuse("eta", "is missing");
  return halvingRungs(min, max, eta, settings.int("n_trials", 1));
}

const laterRungs = (budgetKey: string, rungs: readonly Rung[]): string =>
  `Which trials continue depends on results: ${rungs
    .slice(1)
    .map(({ budget, trials }) => `${trials} with ${budgetKey}=${budget}`)
    .join(", then ")}.`;
