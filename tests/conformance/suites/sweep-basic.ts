import { basicBatches, sweepParams } from "../../../src/app/sweep/sweepers/basic-sweeper.ts";
import { parseOverrides, type SweepOptions } from "../../../src/engine/overrides/index.ts";
import { fromObject } from "../../../src/engine/values/plain-objects.ts";
import { createResolveContext } from "../../../src/engine/values/resolution/context.ts";
import { createEngine } from "../../../src/engine.ts";
import type { CorpusCase } from "../corpus.ts";
import { judge } from "../judge.ts";
import type { Suite, SuiteEnvironment } from "../suite.ts";

/** `sweep/basic.jsonl`: the batches of jobs that the basic sweeper makes. */
export const sweepBasic: Suite = {
  name: "basic sweeper",
  matches: (path) => /(^|\/)sweep\/basic\.jsonl$/.test(path),
  run: (testCase, env) => {
    const { batches, max_batch_size, overrides, params } = testCase;
    return judge(testCase, batches, () =>
      basicBatches({
        overrides: parseOverrides(
          [...paramTexts(params), ...(overrides as readonly unknown[]).map(String)],
          { dialect: env.dialect },
        ),
        maxBatchSize: max_batch_size === null ? null : Number(max_batch_size),
        options: optionsOf(testCase, env),
      }),
    );
  },
};

/** The recorder's parameters were plain data, in which nothing is an interpolation. */
function paramTexts(params: unknown): readonly string[] {
  const given = JSON.parse(JSON.stringify(params ?? null), literally);
  const root = fromObject({ hydra: { sweeper: { params: given } } }, { kind: "code", by: "test" });
  if (root.kind !== "map") throw new Error("params are a mapping");
  return sweepParams(root, createResolveContext());
}

/** Escapes what would be an interpolation, and the backslashes before it. */
const literally = (_key: string, value: unknown): unknown =>
  typeof value === "string"
    ? value.replace(/(\\*)\$\{/g, (_, backslashes: string) => `${backslashes.repeat(2)}\\\${`)
    : value;

/** The groups that `glob` reads; without any, a glob is an error. */
function optionsOf({ conf }: CorpusCase, env: SuiteEnvironment): SweepOptions {
  if (conf === undefined) return {};
  const { repository } = createEngine({ env: {}, plugins: [], dialect: env.dialect.name }).snapshot(
    {
      configDir: env.companion(String(conf)),
    },
  );
  return { groupOptions: (group) => repository.list(group, "config") };
}
