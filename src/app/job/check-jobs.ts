/** Checks the configs of jobs before any runs: the schema, then the program's own checks. */
import { suggestChoice } from "../../engine/compose/defaults/choice-tracker.ts";
import { environmentNames } from "../../engine/compose/environment-names.ts";
import { type Composition, maskSecrets } from "../../engine/compose/index.ts";
import { checkResolved, deletedBy, isValidator } from "../../engine/compose/schemas.ts";
import type { SchemaIssue } from "../../engine/schema/index.ts";
import { pointerTokens } from "../../engine/schema/json-document.ts";
import { argumentHint } from "./argument-hint.ts";
import { type Delegate, type ProgramOptions, readSchema } from "./options.ts";
import type { JobPlace, PlannedJob } from "./plan-job.ts";
import type { Console } from "./process/invocation.ts";

/** The facts about a job that a program's own `check` and `planJob` receive. */
export const factsOf = ({ number, outputDir, overrides, resolved, root }: PlannedJob) => ({
  ...(number !== undefined && { number }),
  outputDir,
  overrides,
  root,
  resolved,
});

/**
 * The config for a program's own `check` and `planJob`: resolved, unless a delegate runs the job and resolves it
 * itself.
 */
export const configFor = ({ resolved, tree }: PlannedJob, delegate: Delegate | undefined) =>
  delegate === undefined ? resolved() : tree;

/** A key that an override deleted is missing because of that override, not because of a file. */
function blamed(issue: SchemaIssue, { overrides }: Composition): SchemaIssue {
  const origin = issue.problem === "missing_key" ? deletedBy(issue.key, overrides) : undefined;
  return origin === undefined ? issue : { ...issue, origin };
}

/** Where a scalar replaces a mapping that a group fills, suggests the group's option that the user probably meant. */
function withChoiceMeant(issue: SchemaIssue, composition: Composition): SchemaIssue {
  const { key, origin, value } = issue;
  if (origin.kind !== "override" || value?.kind !== "scalar" || typeof value.value !== "string")
    return issue;
  const option = value.value;
  const meant = suggestChoice({ typed: key, option, tail: `=${option}` }, composition);
  return meant === undefined ? issue : { ...issue, nearest: meant };
}

/** Hides the value that an issue shows if the value is a secret. */
function withoutSecret(issue: SchemaIssue, composition: Composition): SchemaIssue {
  const { origin, pointer, value } = issue;
  const path = pointerTokens(pointer);
  const shown = { kind: "scalar", value: null, origin } as const;
  return {
    ...issue,
    origin: maskSecrets(shown, composition, { path }).origin,
    ...(value !== undefined && { value: maskSecrets(value, composition, { path }) }),
  };
}

const forUser = (
  issue: SchemaIssue,
  composition: Composition,
  context: JobPlace["context"],
): SchemaIssue =>
  withSetters(
    withoutSecret(
      withVariables(withChoiceMeant(blamed(issue, composition), composition), composition),
      composition,
    ),
    context,
  );

/** Names what would set a value that is not given. */
function withSetters(issue: SchemaIssue, { settersOf }: JobPlace["context"]): SchemaIssue {
  // Layers set no key that the config does not have.
  const setters =
    issue.problem === "missing_value" ? (settersOf?.(pointerTokens(issue.pointer)) ?? []) : [];
  return setters.length === 0 ? issue : { ...issue, setters };
}

/** Names the environment variables that a value comes from. */
function withVariables(issue: SchemaIssue, { config }: Composition): SchemaIssue {
  const variables = environmentNames(config, pointerTokens(issue.pointer));
  return variables.length === 0 ? issue : { ...issue, variables };
}

type CheckedProgram = Pick<
  ProgramOptions,
  "check" | "delegate" | "freeKeys" | "restAsOverrides" | "schema"
>;

/** For a key that an override adds and that may be meant for the program that a command runs. */
function hintOf(
  { key, nearest, origin, problem }: SchemaIssue,
  options: CheckedProgram,
): string | undefined {
  if (problem !== "unknown_key" || nearest !== undefined || origin.kind !== "override")
    return undefined;
  const override = origin.text.replace(/^\++/, "");
  return override.startsWith(`${key}=`) ? argumentHint(options, { key, override }) : undefined;
}

/**
 * Whether the configs of jobs fit the program's schema; all problems of all jobs are shown at once.
 * Then the program's own check. ajv is loaded only here: most uses of a config never need it.
 *
 * @throws ConfigError of the program's check, and of interpolations that cannot be resolved
 */
export async function checkJobs(
  jobs: readonly PlannedJob[],
  options: CheckedProgram,
  { stderr }: Console,
  { context, publish }: Pick<JobPlace, "context" | "publish">,
  how: { readonly isPlan: boolean } = { isPlan: false },
): Promise<boolean> {
  const { check, delegate, schema } = options;
  let fit = true;
  if (schema !== undefined) {
    const { renderIssues } = await import("../../engine/schema/index.ts");
    const { createConfigReader } = await import("../../engine/schema/config-reader.ts");
    const { createConfigAjv } = await import("../../engine/schema/ajv.ts");
    const document = readSchema(schema);
    const reader = createConfigReader({ ajvOf: createConfigAjv, readFile: () => true });
    const isConverting = isValidator(schema);
    const hints = new Map<string, string>();
    for (const { composition, number, overrides, resolved } of jobs) {
      // The config is what the validator gave.
      if (isConverting && composition.program.length === 0) continue;
      const issues = reader.problems(document, resolved());
      if (issues.length === 0) continue;
      fit = false;
      const title = number === undefined ? "" : `Job #${number} (${overrides.join(" ")}):\n`;
      const shown = issues.map((issue) => forUser(issue, composition, context));
      stderr(`${title}${renderIssues(shown)}\n`);
      for (const issue of shown) {
        const hint = hintOf(issue, options);
        if (hint !== undefined && !hints.has(issue.key)) hints.set(issue.key, hint);
      }
    }
    for (const hint of hints.values()) stderr(`  Hint: ${hint}\n`);
  }
  if (fit && delegate === undefined)
    for (const { composition, resolved } of jobs)
      if (composition.schemas.length > 0)
        checkResolved(composition.schemas, composition.config, resolved(), context);
  if (fit && check !== undefined)
    for (const job of jobs) {
      publish(job.root);
      await check(configFor(job, delegate), how, { ...factsOf(job), context });
    }
  return fit;
}
