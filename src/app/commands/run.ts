import { readFileSync } from "node:fs";
import type { Composition } from "../../compose/index.ts";
import { launchRefusal } from "../../compose/plugins/plugin-groups.ts";
import { ConfigError } from "../../values/errors.ts";
import type { ConfigNode } from "../../values/node.ts";
import { pyStr } from "../../values/python-text.ts";
import { selectNode } from "../../values/select.ts";
import type { Composer } from "../composer.ts";
import type { Invocation } from "../invocation.ts";
import { runJob } from "../job/run-job.ts";
import { warn } from "../warn.ts";
import type { Command } from "./command.ts";

/** What a program is for: one job. */
export const runCommand: Command = {
  isAsked: () => true,
  execute: ({ composer, invocation, options, overrides, parsed, task }) => {
    const composition = composeForRun(composer, overrides);
    warn(composition.warnings, invocation);
    const own = new Set((options.flags ?? []).map((flag) => flag.id));
    const request = {
      program: options.name,
      composition,
      context: composer.context,
      publish: composer.publish,
      check: async (resolved: () => ConfigNode) => {
        if (!(await fitsSchema(resolved, options.schemaFile, invocation))) return false;
        await options.check?.(resolved());
        return true;
      },
      resultFiles: options.resultFiles ?? [],
      flags: new Map([...parsed.flags].filter(([id]) => own.has(id))),
      restArgs: parsed.rest ?? [],
    };
    return runJob(request, task, invocation);
  },
};

/** A single run is recorded as such (`hydra.mode=RUN`) where nothing has said what it is. */
function composeForRun(composer: Composer, overrides: readonly string[]): Composition {
  const composition = composer.compose(overrides);
  const mode = selectNode(composition.root, "hydra.mode", composer.context);
  if (mode === undefined || (mode.kind === "scalar" && mode.value === null))
    return composer.compose([...overrides, "hydra.mode=RUN"]);
  if (pyStr(mode).endsWith("MULTIRUN")) {
    const hint = whatToUseInstead(composition, composer);
    throw new ConfigError({
      code: "app.unsupported",
      message: "hydra.mode=MULTIRUN: sweeps come later, this version runs one job at a time",
      key: "hydra.mode",
      origin: mode.origin,
      ...(hint !== undefined && { hint }),
    });
  }
  return composition;
}

/** What plugins say of the launcher and the sweeper that the config chose. */
function whatToUseInstead(
  { root }: Composition,
  { context, plugins }: Composer,
): string | undefined {
  const reasons = ["hydra.launcher", "hydra.sweeper"].flatMap((key) => {
    const target = selectNode(root, `${key}._target_`, context);
    const refusal = target && launchRefusal(plugins, pyStr(target));
    return refusal === undefined ? [] : [`${key}: ${refusal.reason}`];
  });
  return reasons.length === 0 ? undefined : reasons.join("; ");
}

/** Shows all problems at once. ajv is loaded only here: most uses of a config never need it. */
async function fitsSchema(
  resolved: () => ConfigNode,
  schemaFile: string | undefined,
  { console }: Invocation,
): Promise<boolean> {
  if (schemaFile === undefined) return true;
  const { renderIssues, validateTree } = await import("../../schema/index.ts");
  const issues = validateTree(resolved(), JSON.parse(readFileSync(schemaFile, "utf8")));
  if (issues.length > 0) console.stderr(`${renderIssues(issues)}\n`);
  return issues.length === 0;
}
