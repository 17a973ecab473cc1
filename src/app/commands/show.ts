import { type Composition, maskSecrets } from "../../compose/index.ts";
import type { ParsedArguments } from "../flags/parse-argv.ts";
import {
  type ConfigView,
  showConfig,
  showConfigJson,
  showOrigins,
  showOriginsJson,
  showParts,
} from "../show/show-config.ts";
import { type Command, EXIT_OK, type Session } from "./command.ts";

/** `--cfg job|hydra|all`, and what a program that only shows does without it. */
export const showCommand: Command = {
  isAsked: ({ flags }, { whenBare }) => flags.has("cfg") || whenBare === "show",
  execute: (session) => {
    const { composer, invocation, overrides, parsed } = session;
    // Hydra refuses --cfg with --multirun: this is the sweep of a program that only shows.
    if (parsed.flags.has("multirun")) return showJobs(session);
    const composition = composer.compose(overrides);
    const request = { root: shownRoot(session, composition), ...viewOf(parsed) };
    const parts = isPlain(parsed)
      ? showParts(request, composer.context)
      : [writerFor(parsed)(request, composer.context)];
    for (const part of parts) invocation.console.stdout(part);
    return EXIT_OK;
  },
};

/** One YAML document for each job of a sweep, or a JSON array. */
async function showJobs(session: Session): Promise<number> {
  const { composeMaster, planSweep } = await import("../sweep/plan-sweep.ts");
  const { placeOf } = await import("../run/job-place.ts");
  const { composer, invocation, overrides, parsed } = session;
  const { planBatch, sweeper } = planSweep(
    composeMaster(composer, overrides),
    overrides,
    composer,
    placeOf(session),
  );
  const { stdout } = invocation.console;
  const isJson = parsed.flags.has("json");
  let number = 0;
  for (let batch = sweeper.ask(); batch !== undefined; batch = sweeper.ask()) {
    for (const job of planBatch(batch, number)) {
      const root = shownRoot(session, job.composition, job.root);
      const text = writerFor(parsed)({ root, ...viewOf(parsed) }, composer.context);
      const separator = isJson ? "," : "---\n";
      const title = isJson ? "" : `${[`# job ${job.number}:`, ...job.overrides].join(" ")}\n`;
      stdout(`${number === 0 ? (isJson ? "[" : "") : separator}${title}${text}`);
      number++;
    }
    sweeper.tell([]);
  }
  if (isJson) stdout(`${number === 0 ? "[" : ""}]\n`);
  return EXIT_OK;
}

/** The tree with its secrets masked, and what `${hydra:...}` is to read while it is shown. */
function shownRoot(
  { composer, parsed }: Session,
  composition: Composition,
  root = composition.root,
) {
  const shown = maskSecrets(root, composition, { resolving: parsed.flags.has("resolve") });
  composer.publish(shown);
  return shown;
}

const viewOf = ({ flags }: ParsedArguments) => {
  const part = flags.get("package");
  return {
    // The flag's choices are the views.
    view: (flags.get("cfg") ?? "job") as ConfigView,
    resolve: flags.has("resolve"),
    ...(typeof part === "string" && { package: part }),
  };
};

const isPlain = ({ flags }: ParsedArguments): boolean =>
  !flags.has("origins") && !flags.has("json");

function writerFor({ flags }: ParsedArguments): typeof showConfig {
  if (!flags.has("origins")) return flags.has("json") ? showConfigJson : showConfig;
  return flags.has("json") ? showOriginsJson : showOrigins;
}
