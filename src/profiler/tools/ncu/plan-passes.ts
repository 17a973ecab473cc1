/** Plans the passes of ncu for a config, for `--dry-run`. */
import { rmSync } from "node:fs";
import { isCodedError } from "../../../engine/values/errors.ts";
import { plural } from "../../../foundation/text/plural.ts";
import { elsewhereNote, findNsightTool } from "../../machine/find-tools.ts";
import type { Workload } from "../../machine/process.ts";
import { makeTemporaryDirectory } from "../../machine/run-files.ts";
import type { ProfileConfig } from "../profiler-config.ts";
import { type PlanContext, silentProgress, type ToolPlan } from "../tool.ts";
import { ncuOptions } from "./ncu-collector.ts";
import { cliOf, matchesNothing, type NcuCollectorOptions, prepare } from "./ncu-session.ts";
import { NCU_ELSEWHERE } from "./run/capabilities.ts";
import { noMatchNote } from "./run/discover.ts";
import { passCommand } from "./run/pass-command.ts";
import { nvtxRequest } from "./run/pass-plan.ts";
import { placeOfPass } from "./run/run-pass.ts";

/**
 * The passes with their command lines. If they depend on the program's regions (the levels of nesting in range replay,
 * or the matches of a region filter), the program runs once under the recorder, in a temporary directory.
 */
export async function planNcu(workload: Workload, context: PlanContext): Promise<ToolPlan> {
  const options = ncuOptions(context);
  const { config, withoutGpu } = context;
  if (withoutGpu === null)
    return withToolNote(await planPassesOf(options, workload, workload, context));
  const elsewhere = forAnotherMachine(config, workload.device);
  const plan = await planPassesOf(
    { ...options, config: elsewhere.config },
    workload,
    withoutGpu,
    context,
  ).catch(withoutRegions);
  return withToolNote({ ...plan, notes: [...elsewhere.notes, ...plan.notes] });
}

const withToolNote = ({ runs, notes }: ToolPlan): ToolPlan =>
  findNsightTool("ncu") === null
    ? { runs, notes: [elsewhereNote("ncu", "Nsight Compute"), ...notes] }
    : { runs, notes };

/** The plan for a program that fails without a GPU, so that its regions are unknown. */
function withoutRegions(error: unknown): ToolPlan {
  if (!isCodedError(error) || error.code !== "profile.ncu") throw error;
  return {
    runs: [],
    notes: [
      `the runs of ncu depend on the program's regions, which are unknown without a GPU (${error.message}): the range modes need one run per level of nesting; use --dry-run on a machine with a GPU to see them`,
    ],
  };
}

/** @param discovered the program as it is run to find its regions, which works without a GPU, too */
async function planPassesOf(
  options: NcuCollectorOptions,
  workload: Workload,
  discovered: Workload,
  { directory: reports, interrupt, say }: PlanContext,
): Promise<ToolPlan> {
  const scratch = makeTemporaryDirectory("deep-profile-plan-");
  try {
    const silent: Workload = { ...discovered, stdout: "document" };
    const { session, plan, notes, forecast } = await prepare(
      options,
      silent,
      { directory: scratch, interrupt, progress: silentProgress, say, earlier: [] },
      findNsightTool("ncu") === null ? NCU_ELSEWHERE : undefined,
    );
    const { discovery } = session;
    if (discovery !== null && matchesNothing(plan, session))
      return {
        runs: [],
        notes: [...notes, noMatchNote(nvtxRequest(options.config), discovery.labels)],
      };
    const planned = plan.passes.map((pass) => {
      const place = placeOfPass(pass, reports);
      const config = cliOf(pass, session);
      return { pass, place, ...passCommand(pass, place, { ...session, workload, config }) };
    });
    return {
      runs: planned.map(({ pass, argv }) => ({ pass: pass.name, command: argv })),
      notes: [
        ...notes,
        ...forecast,
        ...planned.flatMap(({ place, options: lines }) =>
          lines === null ? [] : [optionsNote(place.options, lines)],
        ),
      ],
    };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const optionsNote = (file: string, lines: string): string =>
  `${file} will hold ${plural(lines.split("\n").length - 1, "option")} of ncu, too long for a command line (${Math.ceil(Buffer.byteLength(lines) / 1024)} KiB)`;

/**
 * The parts of an ncu plan that need no GPU, and notes about the others.
 *
 * @param device device of the plan; null: the program chooses
 */
function forAnotherMachine(
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
