import { firstFewOf, plural } from "../../text/plural.ts";
import { ConfigError } from "../../values/errors.ts";
import { backendOf } from "../launchers/index.ts";
import type { LauncherKind } from "../launchers/launcher.ts";
import type { Invocation } from "../process/invocation.ts";
import { nextCommand } from "./next-commands.ts";
import { sweepFolder } from "./record/layout.ts";

/**
 * A scheduler runs what it was given, whoever begins or resumes a sweep meanwhile: jobs that it still has must
 * not run a second time, nor into the directories of another sweep. Only its own launcher goes on with them.
 *
 * @throws ConfigError `app.sweep_record`
 */
export async function refuseScheduled(
  directory: string,
  kind: LauncherKind,
  { env, resumed }: Invocation,
): Promise<void> {
  if (resumed !== undefined && kind.backend !== undefined) return;
  const backend = await backendOf(sweepFolder(directory), env);
  if (backend === undefined) return;
  // What it lost and nobody recorded is no reason to refuse.
  await backend.settle();
  const live = (await backend.status()).filter(({ phase }) => phase !== "over");
  if (live.length === 0) return;
  throw new ConfigError({
    code: "app.sweep_record",
    message: `The scheduler still has ${plural(live.length, "job")} of ${resumed === undefined ? "an earlier sweep" : "the sweep"} in '${directory}': ${firstFewOf(live, 3, ({ id }) => id)}`,
    key: resumed === undefined ? "hydra.sweep.dir" : "hydra/launcher",
    hint: `cancel them with '${nextCommand("cancel", directory)}', or ${resumed === undefined ? "choose another directory for this sweep" : "continue with the same hydra/launcher"}`,
  });
}
