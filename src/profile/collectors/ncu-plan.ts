import { plural } from "../../text/plural.ts";
import type { CollectContext } from "../collection/collector.ts";
import type { ProfileConfig } from "../config/config.ts";
import { passCommand } from "../ncu/run/command-line.ts";
import { noMatchNote } from "../ncu/run/discover.ts";
import { nvtxRequest } from "../ncu/run/nvtx-request.ts";
import { placeOfPass } from "../ncu/run/run-pass.ts";
import type { Workload } from "../workload/workload.ts";
import { cliOf, matchesNothing, type NcuCollectorOptions, prepare } from "./ncu-session.ts";

export interface NcuPlan {
  readonly passes: readonly { readonly name: string; readonly command: readonly string[] }[];
  readonly notes: readonly string[];
}

export interface NcuPlanContext extends CollectContext {
  /** Folder that the reports would be in. */
  readonly reports: string;
  /** The program as its regions are looked for: it has them without a GPU as well. */
  readonly discovered: Workload;
}

/** The passes with their command lines, without running them. */
export async function planNcu(
  options: NcuCollectorOptions,
  workload: Workload,
  context: NcuPlanContext,
): Promise<NcuPlan> {
  const { session, plan, notes } = await prepare(options, context.discovered, context);
  const { discovery } = session;
  if (discovery !== null && matchesNothing(plan, session))
    return {
      passes: [],
      notes: [...notes, noMatchNote(nvtxRequest(options.config), discovery.labels)],
    };
  const planned = plan.passes.map((pass) => {
    const place = placeOfPass(pass, context.reports);
    const config = cliOf(pass, session);
    return { pass, place, ...passCommand(pass, place, { ...session, workload, config }) };
  });
  return {
    passes: planned.map(({ pass, argv }) => ({ name: pass.name, command: argv })),
    notes: [
      ...notes,
      ...planned.flatMap(({ place, options }) =>
        options === null
          ? []
          : [
              `${place.options} will hold ${plural(options.split("\n").length - 1, "option")} of ncu, too long for a command line (${Math.ceil(Buffer.byteLength(options) / 1024)} KiB)`,
            ],
      ),
    ],
  };
}

/**
 * What can be planned of ncu where no GPU answers, and what cannot.
 *
 * @param device that the plan is for; null: the program chooses
 */
export function forAnotherMachine(
  { pipeline: { ncu } }: Pick<ProfileConfig, "pipeline">,
  device: string | null,
): { readonly config: NcuCollectorOptions["config"]; readonly notes: readonly string[] } {
  const top = ncu.top_n_kernels ?? null;
  return {
    config: { ...ncu, top_n_kernels: null },
    notes: [
      `no GPU answers on this machine: this is the plan for one with a GPU${device === null ? "" : ` (${device})`}; metrics that its GPU lacks are only known there`,
      ...(top === null
        ? []
        : [
            `pipeline.ncu.top_n_kernels=${top}: a recording on that machine decides which kernels --kernel-name will name`,
          ]),
    ],
  };
}
