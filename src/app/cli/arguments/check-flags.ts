/** Checks of flags that are not allowed or contradict each other, in Hydra's words where it has such an error. */
import { dirname, parse } from "node:path";
import type { Dialect } from "../../../engine/values/dialect.ts";
import { ConfigError } from "../../../engine/values/errors.ts";
import {
  type Flag,
  flagLabel,
  type ProgramDeclaration,
  type ProgramOptions,
} from "../../job/options.ts";
import type { ParsedArguments } from "../../job/session.ts";

/** @throws ConfigError `app.unsupported` for Hydra's flags that have no meaning here */
export function refuseUnsupported(
  { flags }: ParsedArguments,
  declared: readonly Flag[],
  { rerunsByComposition }: Dialect,
): void {
  for (const flag of declared)
    if (
      flag.refusal !== undefined &&
      flags.has(flag.id) &&
      !(flag.id === "experimental-rerun" && rerunsByComposition)
    )
      throw new ConfigError({
        code: "app.unsupported",
        message: `${flagLabel(flag)}: ${flag.refusal}`,
      });
}

/** @throws ConfigError `app.flags` for `--config-path FILE.yaml` */
export function refuseConfigInPath(
  { flags }: ParsedArguments,
  { configPath }: Pick<ProgramOptions, "configPath">,
): void {
  const path = flags.get("config-path") ?? configPath;
  if (typeof path !== "string" || !/[^/]\.ya?ml$/.test(path)) return;
  throw new ConfigError({
    code: "app.flags",
    message:
      "Using config_path to specify the config name is not supported, specify the config name via config_name.",
    hint: `--config-path ${dirname(path)} --config-name ${parse(path).name}`,
  });
}

/** The flags that give a display-only program something else to show than its config. */
const WITH_JSON = ["explain", "diff", "info", "dry-run"];
const INSTEAD_OF_SHOWING = ["explain", "diff", "info", "schema", "shell-completion"];

/** Hydra's own exclusive flags, and ours. */
const EXCLUSIVE = [
  "run",
  "cfg",
  "multirun",
  "shell-completion",
  "info",
  "explain",
  "diff",
  "schema",
] as const;

/** Flags that run jobs, and so exclude flags that only show something. */
const RESUMING = ["resume", "retry-failed"];

/** @throws ConfigError `app.flags` or `app.usage` for flags that contradict each other */
export function refuseConflicts(
  { flags }: ParsedArguments,
  { whenBare }: ProgramDeclaration,
): void {
  if (flags.has("help")) return;
  const asked = EXCLUSIVE.filter((id) => flags.has(id));
  const isShown =
    flags.has("cfg") || (whenBare === "show" && !INSTEAD_OF_SHOWING.some((id) => flags.has(id)));
  if (flags.has("resolve") && !isShown && !flags.has("diff"))
    throw conflict("The --resolve flag can only be used in conjunction with --cfg or --help");
  if (flags.has("hydra-help")) return;
  const resuming = RESUMING.find((id) => flags.has(id));
  const other = EXCLUSIVE.find((id) => id !== "multirun" && flags.has(id));
  if (resuming !== undefined && other !== undefined)
    throw new ConfigError({
      code: "app.usage",
      message: `argument --${other}: not allowed with argument --${resuming}`,
      hint: "hydraconf sweep status DIR shows which jobs of a sweep are done, and which have failed",
    });
  if (resuming !== undefined && flags.has("version-base"))
    throw new ConfigError({
      code: "app.usage",
      message: `argument --version-base: not allowed with argument --${resuming}`,
      hint: "a resumed sweep behaves as the version of Hydra that it began with",
    });
  if (flags.has("origins") && !isShown)
    throw conflict("The --origins flag can only be used in conjunction with --cfg");
  if (flags.has("json") && !isShown && !WITH_JSON.some((id) => flags.has(id)))
    throw conflict(
      "The --json flag can only be used in conjunction with --cfg, --explain, --diff, --info or --dry-run",
    );
  if (asked.length > 1)
    throw conflict(
      "Only one of --run, --multirun, --cfg, --info and --shell_completion can be specified",
      asked.includes("multirun") && asked.includes("cfg")
        ? "--multirun --dry-run lists the jobs; --cfg with the overrides of one prints its config"
        : undefined,
    );
  if (flags.has("detach") && whenBare === "show")
    throw notDetachable("this program runs nothing that could be detached");
  if (flags.has("detach") && asked.some((id) => id !== "multirun"))
    throw notDetachable(`not allowed with argument --${asked.find((id) => id !== "multirun")}`);
  if (flags.has("dry-run") && asked.some((id) => id !== "run" && id !== "multirun"))
    throw conflict(`The --dry-run flag cannot be used in conjunction with --${asked[0]}`);
}

const conflict = (message: string, hint?: string): ConfigError =>
  new ConfigError({ code: "app.flags", message, hint });

/** The error of `--detach` without a sweep to detach from. */
export const notDetachable = (message: string): ConfigError =>
  new ConfigError({
    code: "app.usage",
    message: `argument --detach: ${message}`,
    hint: "use it with --multirun, --resume DIR or --retry-failed DIR, or in 'hydraconf run' and 'deep-profile' with hydra/launcher=local; for a single run, use tmux, or 'setsid COMMAND >run.log 2>&1 &' (nohup does not keep Node.js from ending)",
  });
