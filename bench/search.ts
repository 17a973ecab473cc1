/**
 * `hydra/sweeper=tpe` beside the multivariate TPE of Optuna, in one run: the true value at the best observed of 60 trials, 40 seeds:
 * `npm run bench search`, or of one function `npm run bench search/hartmann`
 */
import { spawnSync } from "node:child_process";
import OPTUNA from "../src/app/plugins/optuna/optuna_study.py";
import { type Encoded, startPython } from "../src/app/plugins/python/python-peer.ts";
import { randomSource, searchSpace } from "../src/app/sweep/sweepers/search-space.ts";
import { tpeSearch } from "../src/app/sweep/sweepers/tpe.ts";
import { parseOverrides } from "../src/engine/overrides/index.ts";
import { createScore } from "./score.ts";

const TRIALS = 60;
const SEEDS = 40;
const RESAMPLES = 4000;

/** A function to minimize. */
interface Problem {
  readonly name: string;
  readonly title: string;
  readonly sweeps: readonly string[];
  /** The same space for Optuna. */
  readonly space: readonly (readonly [string, object])[];
  readonly noise: number;
  readonly valueAt: (point: ReadonlyMap<string, string>) => number;
}

const float = (value: number): Encoded => ({ f: String(value) });
const int = (value: number): Encoded => ({ i: String(value) });
const number = (point: ReadonlyMap<string, string>, key: string): number => Number(point.get(key));

const interval = (low: number, high: number) => ({
  kind: "float",
  low: float(low),
  high: float(high),
});

/** @see Hartmann's function of six dimensions, in the collection of Surjanovic and Bingham */
const HARTMANN = {
  alpha: [1, 1.2, 3, 3.2],
  a: [
    [10, 3, 17, 3.5, 1.7, 8],
    [0.05, 10, 17, 0.1, 8, 14],
    [3, 3.5, 1.7, 10, 17, 8],
    [17, 8, 0.05, 10, 0.1, 14],
  ],
  p: [
    [1312, 1696, 5569, 124, 8283, 5886],
    [2329, 4135, 8307, 3736, 1004, 9991],
    [2348, 1451, 3522, 2883, 3047, 6650],
    [4047, 8828, 8732, 5743, 1091, 381],
  ],
};

const SIX = ["a", "b", "c", "d", "e", "f"];

const PROBLEMS: readonly Problem[] = [
  {
    name: "branin",
    title: "Branin",
    sweeps: ["x=interval(-5.0,10.0)", "y=interval(0.0,15.0)"],
    space: [
      ["x", interval(-5, 10)],
      ["y", interval(0, 15)],
    ],
    noise: 0,
    valueAt(point) {
      const [x, y] = [number(point, "x"), number(point, "y")];
      const curve = y - (5.1 / (4 * Math.PI ** 2)) * x ** 2 + (5 / Math.PI) * x - 6;
      return curve ** 2 + 10 * (1 - 1 / (8 * Math.PI)) * Math.cos(x) + 10;
    },
  },
  {
    name: "hartmann",
    title: "Hartmann-6",
    sweeps: SIX.map((key) => `${key}=interval(0.0,1.0)`),
    space: SIX.map((key) => [key, interval(0, 1)] as const),
    noise: 0,
    valueAt(point) {
      const xs = SIX.map((key) => number(point, key));
      return -HARTMANN.alpha.reduce((sum, alpha, row) => {
        const distance = xs.reduce(
          (total, x, column) =>
            total +
            (HARTMANN.a[row]?.[column] ?? 0) * (x - (HARTMANN.p[row]?.[column] ?? 0) / 10_000) ** 2,
          0,
        );
        return sum + alpha * Math.exp(-distance);
      }, 0);
    },
  },
  {
    name: "quadratic",
    title: "noisy quadratic with log, int and categorical",
    sweeps: ["lr=tag(log,interval(1e-5,1.0))", "n=int(interval(1,16))", "opt=a,b,c"],
    space: [
      ["lr", { ...interval(1e-5, 1), log: true }],
      ["n", { kind: "int", low: int(1), high: int(16) }],
      ["opt", { kind: "categorical", choices: ["a", "b", "c"] }],
    ],
    noise: 0.1,
    valueAt(point) {
      const offset = { a: 0.5, b: 0, c: 1 }[point.get("opt") ?? "a"] ?? 0;
      return (
        (Math.log10(number(point, "lr")) + 2) ** 2 / 4 +
        ((number(point, "n") - 6) / 8) ** 2 +
        offset
      );
    },
  },
];

export const PROBLEM_NAMES = PROBLEMS.map(({ name }) => name);

const pointOf = (overrides: readonly string[]): ReadonlyMap<string, string> =>
  new Map(overrides.map((text) => text.split("=") as [string, string]));

/** Observes a problem, and knows the true value at the best observation. */
function observer({ noise, valueAt }: Problem, seed: string) {
  const random = randomSource(`noise ${seed}`);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  let best = { seen: Number.POSITIVE_INFINITY, value: Number.POSITIVE_INFINITY };
  return {
    observe(overrides: readonly string[]): number {
      const value = valueAt(pointOf(overrides));
      const seen = value + noise * normal();
      if (seen < best.seen) best = { seen, value };
      return seen;
    },
    best: () => best.value,
  };
}

function ours(problem: Problem, seed: string): number {
  const { best, observe } = observer(problem, seed);
  const space = searchSpace(parseOverrides([...problem.sweeps]), {});
  const search = tpeSearch(space, randomSource(seed), {
    trials: TRIALS,
    batch: 1,
    startup: 10,
    directions: ["minimize"],
    isUnique: false,
  });
  for (let next = search.next([]); next.done !== true; )
    next = search.next(next.value.map(({ overrides }) => [observe(overrides)]));
  return best();
}

/** Debian's Python, or the one on `PATH`. */
const pythonWithOptuna = (): string | undefined =>
  ["python3", "/usr/bin/python3"].find(
    (python) => spawnSync(python, ["-c", "import optuna"], { stdio: "ignore" }).status === 0,
  );

function optunas(python: string): (problem: Problem, seed: number) => number {
  // Matrices are too small for more threads.
  const env = { ...process.env, OPENBLAS_NUM_THREADS: "1" };
  const peer = startPython(OPTUNA, [], { python, cwd: process.cwd(), env });
  const call = <Value>(name: string, argument: unknown): Value => {
    const answer = peer.ask<{ readonly result: Value }>(JSON.stringify({ [name]: argument }));
    if ("error" in answer) throw new Error(answer.error);
    return answer.value.result;
  };
  return (problem, seed) => {
    const { best, observe } = observer(problem, String(seed));
    call("open", {
      sampler: {
        m: [
          ["_target_", "optuna.samplers.TPESampler"],
          ["multivariate", true],
          ["seed", int(seed)],
        ],
      },
      ...{ storage: null, study_name: null, directions: ["minimize"], space: problem.space },
      ...{ fixed: [], added: [], custom: null, config: null, folders: [], seed, trials: TRIALS },
      ...{ sweep: "bench", is_plan: true, excludes_stop: false },
    });
    for (let trial = 0; trial < TRIALS; trial++)
      for (const { overrides } of call<readonly { readonly overrides: readonly string[] }[]>(
        "ask",
        1,
      ))
        call("tell", [{ returned: float(observe(overrides)) }]);
    return best();
  };
}

const medianOf = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
};

/** The 95 % bootstrap interval of the difference of two medians. */
function interval95(a: readonly number[], b: readonly number[]): readonly [number, number] {
  const random = randomSource("bootstrap");
  const again = (values: readonly number[]) =>
    medianOf(values.map(() => values[Math.floor(random() * values.length)] ?? Number.NaN));
  const differences = Array.from({ length: RESAMPLES }, () => again(a) - again(b)).sort(
    (one, other) => one - other,
  );
  const at = (share: number) => differences[Math.floor(share * RESAMPLES)] ?? Number.NaN;
  return [at(0.025), at(0.975)];
}

/** @param names of the functions */
export async function benchSearch(
  print: (line: string) => void,
  names: readonly string[] = PROBLEM_NAMES,
): Promise<boolean> {
  const score = createScore(print);
  const python = pythonWithOptuna();
  const theirs = python === undefined ? undefined : optunas(python);
  for (const problem of PROBLEMS.filter(({ name }) => names.includes(name))) {
    const seeds = Array.from({ length: SEEDS }, (_, seed) => seed);
    const own = seeds.map((seed) => ours(problem, String(seed)));
    const median = medianOf(own);
    if (theirs === undefined) {
      score.unjudged(problem.title, median, "", "no Optuna is installed");
      continue;
    }
    const other = seeds.map((seed) => theirs(problem, seed));
    const [low, high] = interval95(own, other);
    const detail = `median ${median.toPrecision(4)}, Optuna ${medianOf(other).toPrecision(4)}; difference within ${low.toPrecision(3)} to ${high.toPrecision(3)}`;
    score.atMost(`${problem.title}: least difference of medians`, low, 0, "", detail);
  }
  return score.reached();
}
