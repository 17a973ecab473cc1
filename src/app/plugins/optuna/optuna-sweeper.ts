/** The sweeper of `hydra/sweeper=optuna`: the project's own Optuna, in a Python process. */
import { ConfigError } from "../../../engine/values/errors.ts";
import { child, map, scalar } from "../../../engine/values/node.ts";
import { fromCode } from "../../../engine/values/origin.ts";
import { floatRepr } from "../../../engine/values/python-text.ts";
import { asDeclared } from "../../../engine/values/resolution/context.ts";
import { selectNode } from "../../../engine/values/resolution/select.ts";
import { messageOf } from "../../../foundation/system/builtin-types.ts";
import { isCompleted, type JobResult, statusOf } from "../../job/job.ts";
import { allExcluded } from "../../sweep/sweepers/dimensions.ts";
import { readExclusion } from "../../sweep/sweepers/exclusion.ts";
import {
  type Direction,
  RESULTS_FILE,
  returnedAt,
  withoutNumber,
} from "../../sweep/sweepers/objective.ts";
import type { OwnPruning } from "../../sweep/sweepers/pruner.ts";
import { prunedMetric, readOverrides } from "../../sweep/sweepers/search-request.ts";
import { readSweeper, refuseSetting } from "../../sweep/sweepers/search-settings.ts";
import type {
  Conclusion,
  JobOverrides,
  Sweeper,
  SweeperDefinition,
  SweeperRequest,
} from "../../sweep/sweepers/sweeper.ts";
import { type Encoded, encodeScalar, nodeOf } from "../python/python-peer.ts";
import { olderDistributions, optunaSpace } from "./distributions.ts";
import { OPTUNA_SETTINGS, OPTUNA_SWEEPER, SPACE } from "./optuna-settings.ts";
import { encodedValue, openStudy, type Study } from "./study.ts";

/** A trial of the study. */
interface Asked {
  readonly number: number;
  readonly overrides: JobOverrides;
}

/** Why a trial counts as failed; null for one that does not. */
type Problem = {
  readonly text: string;
  /** Whether Hydra's plugin ends with it, however many jobs may fail: NaN, or a wrong number of values. */
  readonly ends: boolean;
} | null;

/** After this many excluded trials, the rest of a space is not worth searching. */
const MAX_TRIES = 1_000;

/**
 * `hydra/sweeper=optuna`: asks a study for the trials of a batch, and tells it what they returned. Settings, the space,
 * trials, results and log are those of Hydra's plugin.
 *
 * @see https://hydra.cc/docs/1.3/plugins/optuna_sweeper/
 */
export const optunaSweeper: SweeperDefinition = {
  targets: [OPTUNA_SWEEPER],
  insteadOf: (setting) =>
    setting.startsWith("pruner_")
      ? { hint: "an argument of Optuna's pruner: +hydra.sweeper.pruner.n_warmup_steps=3" }
      : undefined,
  open(request) {
    const { context, directory, master } = request;
    const settings = readSweeper({ ...OPTUNA_SETTINGS, ...SPACE }, request);
    const { direction: directions, max_failure_rate: maxFailureRate, objective } = settings;
    if (maxFailureRate > 1) refuseSetting(request, "max_failure_rate")("must be at most 1");
    const overrides = readOverrides(request);
    const isExcluded = readExclusion(master.root, context, overrides);
    const older = olderSpace(request);
    const { added, distributions, fixed } = optunaSpace(overrides, context.dialect);
    const metric = settings.pruner ? prunedMetric(settings, request).metric : undefined;
    const study = openStudy(request, {
      study_name: settings.study_name ?? null,
      directions,
      space: [...new Map([...older, ...distributions])],
      fixed: [...fixed],
      added,
      custom: settings.custom_search_space ?? null,
      trials: settings.n_trials,
    });
    if (older.size > 0) study.note("warning", DEPRECATED_SPACE);
    const state: State = { left: study.trials, batch: [], mayGoOn: true };
    return {
      judgesFailures: true,
      ...(metric !== undefined && { pruning: pruningOf(study, state, metric) }),
      unforeseeable: "The jobs after these depend on results.",
      ask() {
        const count = state.mayGoOn ? Math.min(state.left, settings.n_jobs) : 0;
        state.batch = count === 0 ? [] : askFor(study, count, isExcluded);
        state.left -= state.batch.length;
        return state.batch.length === 0 ? undefined : state.batch.map((trial) => trial.overrides);
      },
      mayAskForMore: () => state.left > 0,
      tell(results) {
        const ended = state.batch.map((_, index) => results[index]);
        const outcomes = ended.map((result) => outcomeOf(result, objective));
        const problems = study.call<readonly Problem[]>("tell", outcomes);
        const lost = problems.filter((problem) => problem !== null).length;
        if (lost === 0 || lost / problems.length <= maxFailureRate) return;
        study.note("error", tooManyFailed(lost, problems.length, maxFailureRate));
        state.mayGoOn = ended.every((result) => result !== undefined && isCompleted(result));
        const useless = problems.flatMap((problem, index) =>
          problem?.ends === true ? [`job #${ended[index]?.number}: ${problem.text}`] : [],
        );
        if (!state.mayGoOn || useless.length === 0) return;
        state.mayGoOn = false;
        const areNonFinite = useless.every((text) => text.includes("The value nan"));
        throw withoutNumber(useless, { directory, areNonFinite });
      },
      problemOf(result) {
        const outcome = outcomeOf(result, objective);
        return "returned" in outcome
          ? (study.call<Problem>("problem_of", outcome.returned)?.text ?? undefined)
          : undefined;
      },
      conclude: () => conclusionOf(study, state, directions),
      takeMessages: study.takeNotes,
      close: study.close,
    } satisfies Sweeper;
  },
};

interface State {
  /** How many trials have not been asked for. */
  left: number;
  batch: readonly Asked[];
  /** Whether no batch had too many failures. */
  mayGoOn: boolean;
}

/** Optuna's pruner is asked at each number that a job reports. */
const pruningOf = (study: Study, state: State, metric: string): OwnPruning => ({
  kind: "own",
  metric,
  pruner: {
    report: (number, step, value) =>
      study.call<boolean>("report", { number, step, value: encodeScalar(value) }),
    // The study is told of the ends of its trials, and what was reported stays.
    complete: () => {},
    forget: () => {},
  },
  numberOf: (job) => state.batch.find(({ overrides }) => overrides === job)?.number,
});

const DEPRECATED_SPACE =
  "`hydra.sweeper.search_space` is deprecated. Please configure with `hydra.sweeper.params`.";

const tooManyFailed = (lost: number, count: number, rate: number): string =>
  `Failed ${lost} times out of ${count} with max_failure_rate=${floatRepr(rate)}.`;

/** Trials that are not excluded; the study is told that the others failed. */
function askFor(
  study: Study,
  count: number,
  isExcluded: ((job: JobOverrides) => boolean) | undefined,
): readonly Asked[] {
  const asked: Asked[] = [];
  for (let tries = 0; asked.length < count; tries++) {
    if (tries > MAX_TRIES) throw allExcluded(MAX_TRIES);
    const drawn = study.call<readonly Asked[]>("ask", count - asked.length);
    const excluded = drawn.filter(({ overrides }) => isExcluded?.(overrides) === true);
    if (excluded.length > 0)
      study.call(
        "discard",
        excluded.map(({ number }) => number),
      );
    asked.push(...drawn.filter((trial) => !excluded.includes(trial)));
  }
  return asked;
}

/** What a study is told about a job. */
type Outcome =
  | { readonly returned: Encoded }
  | { readonly is_pruned: true }
  | { readonly problem: string };

function outcomeOf(
  result: JobResult | undefined,
  objective: Parameters<typeof returnedAt>[1],
): Outcome {
  if (result === undefined) return { problem: "the job has not ended" };
  if (statusOf(result) === "pruned") return { is_pruned: true };
  if (!isCompleted(result)) return { problem: messageOf(result.error) };
  return { returned: encodedValue(returnedAt(result.returnValue, objective)) };
}

/** The distributions of `hydra.sweeper.search_space`; those of `hydra.sweeper.params` exclude them. */
function olderSpace(request: SweeperRequest): ReturnType<typeof olderDistributions> {
  const { context, master } = request;
  const settingAt = (name: string) =>
    selectNode(master.root, `hydra.sweeper.${name}`, asDeclared(context), { deep: true });
  const [space, params] = [settingAt("search_space"), settingAt("params")];
  if (space?.kind !== "map" || params?.kind === "map") return new Map();
  return olderDistributions(space, (name, problem) =>
    refuseSetting(request, "search_space")(problem, { below: name }),
  );
}

/** @throws ConfigError `app.objective` if all trials of a whole sweep have failed */
function conclusionOf(
  study: Study,
  { left, mayGoOn }: State,
  [direction = "minimize", ...others]: readonly Direction[],
): Conclusion | undefined {
  const results = study.call<Encoded>("results", null);
  const isWhole = mayGoOn && left === 0;
  if (results === null && isWhole)
    throw new ConfigError({
      code: "app.objective",
      message: "No trials are completed yet.",
      key: "hydra.sweeper.objective",
      hint: "the log says why each trial failed; a task returns a number, or one for each direction",
    });
  const origin = fromCode("sweep");
  const found = results === null ? undefined : nodeOf(results, origin);
  if (found?.kind !== "map") return undefined;
  const best = child(found, "best_value");
  const entries = [...found.entries.values()].map(({ key, value }) => [key, value] as const);
  return {
    file: RESULTS_FILE,
    content: map([["name", scalar("optuna", origin)], ...entries], origin),
    ...(best?.kind === "scalar" &&
      others.length === 0 && { best: { value: Number(best.value), direction } }),
    toleratesFailures: mayGoOn,
  };
}
