import { passCommand } from "../ncu/run/command-line.ts";
import { noMatchNote } from "../ncu/run/discover.ts";
import { nvtxRequest } from "../ncu/run/nvtx-request.ts";
import { placeOfPass } from "../ncu/run/run-pass.ts";
import type { Workload } from "../workload/workload.ts";
import type { CollectContext } from "./collector.ts";
import { cliOf, matchesNothing, type NcuCollectorOptions, prepare } from "./ncu-session.ts";

/** The passes with their command lines, without running them. */
export async function planNcu(
  options: NcuCollectorOptions,
  workload: Workload,
  context: CollectContext & { readonly reports: string },
): Promise<{
  readonly passes: readonly { readonly name: string; readonly command: readonly string[] }[];
  readonly notes: readonly string[];
}> {
  const { session, plan, notes } = await prepare(options, workload, context);
  const { discovery } = session;
  if (discovery !== null && matchesNothing(plan, session))
    return {
      passes: [],
      notes: [...notes, noMatchNote(nvtxRequest(options.config), discovery.labels)],
    };
  const passes = plan.passes.map((pass) => ({
    name: pass.name,
    command: passCommand(pass, placeOfPass(pass, context.reports), {
      ...session,
      config: cliOf(pass, session),
    }),
  }));
  return { passes, notes };
}
