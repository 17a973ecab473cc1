import { overrideKeyElement, overrideNode, parseOverride } from "../../../overrides/index.ts";
import { andOthers, plural } from "../../../text/plural.ts";
import { shellQuote } from "../../../text/shell-words.ts";
import { ConfigError } from "../../../values/errors.ts";
import { map, scalar } from "../../../values/node.ts";
import { fromCode } from "../../../values/origin.ts";
import { floatRepr } from "../../../values/python-text.ts";
import type { Conclusion, JobOverrides, Sweeper } from "../sweeper.ts";
import { outcomeOf } from "./objective.ts";
import { byScore, type Direction, type Score, type Search, type Trial } from "./search.ts";

/** What all searches have in common. */
export interface OptimizingRequest {
  /** As the results file names the sweeper. */
  readonly name: string;
  readonly search: Search;
  readonly direction: Direction;
  /** Trials in a batch; undefined for all that may run side by side. */
  readonly batchSize: number | undefined;
  /** The share of a batch that may fail before the sweep ends. */
  readonly maxFailureRate: number;
  /** Where the number stands in what the task returns; undefined for the number itself. */
  readonly objective: string | undefined;
  /** The absolute path of the sweep's directory. */
  readonly directory: string;
  readonly unforeseeable?: string;
}

/** As Hydra's optimising sweepers name it. */
const RESULTS_FILE = "optimization_results.yaml";

interface Scored {
  readonly trial: Trial;
  readonly score: Score;
}

/**
 * A search as a sweeper. All it knows is what it was told: told the same results, it asks for the
 * same jobs, and that is how a sweep is resumed.
 */
export function optimizingSweeper(request: OptimizingRequest): Sweeper {
  const { batchSize, directory, maxFailureRate, objective, search } = request;
  const told: Scored[] = [];
  let round: readonly Trial[] = [];
  let scores: Score[] = [];
  let asked = 0;
  let failures = 0;
  let failedTooOften = false;

  return {
    judgesFailures: true,
    ...(request.unforeseeable !== undefined && { unforeseeable: request.unforeseeable }),
    ask(): readonly JobOverrides[] | undefined {
      if (failedTooOften) return undefined;
      if (asked === round.length) {
        const next = search.next(scores);
        round = next.done === true ? [] : next.value;
        scores = [];
        asked = 0;
      }
      const batch = round.slice(asked, asked + (batchSize ?? round.length));
      asked += batch.length;
      return batch.length === 0 ? undefined : batch.map(({ overrides }) => overrides);
    },
    mayAskForMore: () => true,
    tell(results) {
      const batch = round.slice(scores.length, asked);
      const problems: string[] = [];
      let lost = 0;
      for (const [index, trial] of batch.entries()) {
        const result = results[index];
        const outcome = result && outcomeOf(result, objective);
        const score = outcome?.score ?? null;
        told.push({ trial, score });
        scores.push(score);
        if (outcome?.score !== null) continue;
        lost++;
        if (result?.status === "completed")
          problems.push(`job #${result.number ?? told.length - 1}: ${outcome.problem}`);
      }
      failures += lost;
      if (lost === 0 || lost / batch.length <= maxFailureRate) return;
      failedTooOften = true;
      if (problems.length > 0) throw withoutNumber(problems, directory);
    },
    problemOf(result) {
      const outcome = result.status === "completed" ? outcomeOf(result, objective) : undefined;
      return outcome?.score === null ? outcome.problem : undefined;
    },
    conclude: () => conclusionOf(told, failures, !failedTooOften, request),
  };
}

function withoutNumber(problems: readonly string[], directory: string): ConfigError {
  const [first, ...others] = problems;
  return new ConfigError({
    code: "app.objective",
    message: `${first}${andOthers(others.length)}`,
    key: "hydra.sweeper.objective",
    hint: `name the key of a number in the returned values: --resume ${shellQuote(directory)} hydra.sweeper.objective=KEY continues, keeping finished jobs; or let the task return the number: --retry-failed ${shellQuote(directory)} runs ${others.length === 0 ? "the job" : "these jobs"} again`,
  });
}

/** The best of those with the largest budget that has results; the earlier among equals. */
function bestOf(told: readonly Scored[], direction: Direction): Scored | undefined {
  const scored = told.filter(({ score }) => score !== null);
  const top = scored.reduce((level, { trial }) => Math.max(level, trial.level), 0);
  return scored.filter(({ trial }) => trial.level === top).sort(byScore(direction))[0];
}

function conclusionOf(
  told: readonly Scored[],
  failures: number,
  toleratesFailures: boolean,
  { direction, name }: OptimizingRequest,
): Conclusion | undefined {
  const best = bestOf(told, direction);
  if (best === undefined || best.score === null) return undefined;
  const origin = fromCode("sweep");
  const params = best.trial.params.map((text) => {
    const override = parseOverride(text);
    return [overrideKeyElement(override), overrideNode(override) ?? scalar(null, origin)] as const;
  });
  const counts = `${plural(told.length, "trial")}${failures === 0 ? "" : `, ${failures} failed`}`;
  return {
    file: RESULTS_FILE,
    content: map(
      [
        ["name", scalar(name, origin)],
        ["best_evaluated_params", map(params, origin)],
        ["best_evaluated_value", scalar(best.score, origin)],
      ],
      origin,
    ),
    text: `Best of ${counts}: ${bestText(best.trial, floatRepr(best.score))}`,
    toleratesFailures,
  };
}

const bestText = ({ params }: Trial, score: string): string =>
  params.length === 0 ? `${score} (nothing was swept)` : `${params.join(" ")} with ${score}`;
