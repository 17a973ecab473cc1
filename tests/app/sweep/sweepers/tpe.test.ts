import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Task } from "../../../../src/app/job/job.ts";
import type { Direction, Score } from "../../../../src/app/sweep/sweepers/objective.ts";
import { randomSource, searchSpace } from "../../../../src/app/sweep/sweepers/search-space.ts";
import { sobolSequence } from "../../../../src/app/sweep/sweepers/sobol.ts";
import { tpeSearch } from "../../../../src/app/sweep/sweepers/tpe.ts";
import { parseOverrides } from "../../../../src/engine/overrides/index.ts";
import { runs } from "../../../runs.ts";
import { program } from "../../cli/program.ts";

/** Plays a search against a function of the jobs; returns the jobs batch by batch. */
function play(
  sweeps: readonly string[],
  scoreOf: (job: ReadonlyMap<string, string>) => Score | null,
  plan: {
    readonly trials?: number;
    readonly batch?: number;
    readonly isUnique?: boolean;
    readonly directions?: readonly Direction[];
    readonly seed?: string;
  } = {},
) {
  const { seed = "1", ...others } = plan;
  const space = searchSpace(parseOverrides(sweeps), {});
  const search = tpeSearch(space, randomSource(seed), {
    ...{ trials: 40, batch: 1, startup: 10, isUnique: false, directions: ["minimize"] },
    ...others,
  });
  const batches: (readonly string[])[] = [];
  for (let next = search.next([]); next.done !== true; ) {
    batches.push(next.value.map(({ overrides }) => overrides.join(" ")));
    next = search.next(
      next.value.map(({ overrides }) =>
        scoreOf(new Map(overrides.map((text) => text.split("=") as [string, string]))),
      ),
    );
  }
  return batches;
}

const bowl = (job: ReadonlyMap<string, string>): Score => [
  (Number(job.get("x")) - 0.3) ** 2 + (Number(job.get("y")) - 0.6) ** 2,
];
const XY = ["x=interval(0.0,1.0)", "y=interval(0.0,1.0)"];

describe("the Parzen estimator", () => {
  test("asks for jobs near the good ones: the last are far better than the first", () => {
    const medians = [0, 1, 2].map((seed) => {
      const values = play(XY, bowl, { trials: 60, seed: String(seed) })
        .flat()
        .map((job) => {
          const [x = "", y = ""] = job.split(" ").map((text) => text.slice(2));
          return (
            bowl(
              new Map([
                ["x", x],
                ["y", y],
              ]),
            )[0] ?? 0
          );
        });
      const median = (some: readonly number[]) =>
        some.toSorted((a, b) => a - b)[some.length >> 1] ?? 0;
      return median(values.slice(40)) / median(values.slice(0, 10));
    });
    for (const ratio of medians) expect(ratio).toBeLessThan(0.3);
  });

  test("finds the choice, the magnitude and the number that are good, among failures", () => {
    const sweeps = ["lr=tag(log,interval(1e-5,1.0))", "n=int(interval(1,16))", "k=a,b,c"];
    const last = play(
      sweeps,
      (job) => {
        if (job.get("k") === "c") return null;
        const lr = (Math.log10(Number(job.get("lr"))) + 2) ** 2;
        return [lr + ((Number(job.get("n")) - 6) / 4) ** 2 + (job.get("k") === "a" ? 1 : 0)];
      },
      { trials: 60 },
    )
      .flat()
      .slice(40);
    const share = (holds: (job: string) => boolean) => last.filter(holds).length / last.length;
    expect(share((job) => job.endsWith("k=b"))).toBeGreaterThan(0.6);
    expect(
      share((job) => Math.abs(Math.log10(Number(/lr=(\S+)/.exec(job)?.[1])) + 2) < 1),
    ).toBeGreaterThan(0.6);
  });

  test("the trials of a batch differ, and are the same for the same seed", () => {
    const batches = play(XY, bowl, { batch: 8 });
    expect(batches.map((batch) => batch.length)).toEqual([8, 8, 8, 8, 8]);
    expect(new Set(batches.flat()).size).toBe(40);
    expect(play(XY, bowl, { batch: 8 })).toEqual(batches);
    expect(play(XY, bowl, { batch: 8, seed: "2" })).not.toEqual(batches);
  });

  test("with several directions, it asks for jobs that trade one for the other", () => {
    const last = play(
      XY,
      (job) => [
        Number(job.get("x")) ** 2,
        (Number(job.get("x")) - 0.4) ** 2 + Number(job.get("y")),
      ],
      { trials: 60, directions: ["minimize", "minimize"] },
    )
      .flat()
      .slice(40);
    const onFront = last.filter((job) => Number(/y=(\S+)/.exec(job)?.[1]) < 0.3);
    expect(onFront.length).toBeGreaterThan(10);
  });

  test("asks for no job twice if asked, and ends when none is left", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 5 }), (n, batch) => {
        const jobs = play([`n=int(interval(1,${n}))`, "k=a,b"], () => [1], {
          ...{ batch, isUnique: true },
        }).flat();
        expect(jobs.length).toBe(new Set(jobs).size);
        expect(jobs.length).toBe(2 * n);
      }),
      { numRuns: runs(10) },
    );
  });
});

describe("what the Parzen estimator asks for next", () => {
  const space = searchSpace(parseOverrides(["x=interval(0.0,1.0)"]), {});
  /** The numbers of the next batch for each of some seeds, after points whose scores are told. */
  const asked = (
    told: readonly (readonly [x: number, score: Score | null])[],
    { batch = 1, directions = ["minimize"] }: { batch?: number; directions?: readonly Direction[] },
  ) =>
    Array.from({ length: 20 }, (_, seed) => {
      const search = tpeSearch(space, randomSource(String(seed)), {
        ...{ batch, directions, isUnique: false, startup: 0, trials: told.length + batch },
        earlier: told.flatMap(([x]) => space.drawAt([x]) ?? []),
      });
      const first = search.next([]).value ?? [];
      expect(first.map(({ overrides }) => overrides)).toEqual(told.map(([x]) => [`x=${x}`]));
      const next = search.next(told.map(([, score]) => score)).value ?? [];
      expect(search.next(next.map(() => [0])).done).toBe(true);
      return next.map(({ overrides: [text = ""] }) => Number(text.slice(2)));
    });
  const share = (numbers: readonly number[], holds: (x: number) => boolean) =>
    numbers.filter(holds).length / numbers.length;
  const line = (from: number, to: number, count: number, scoreOf: (x: number) => Score | null) =>
    Array.from({ length: count }, (_, index) => {
      const x = from + ((to - from) * index) / count;
      return [x, scoreOf(x)] as const;
    });

  test("lies on the side of the good ones where there are no bad ones", () => {
    // The best of 20 is in the middle, all others are on its right.
    const told = [[0.5, [0]] as const, ...line(0.5, 0.8, 19, () => [1])];
    expect(share(asked(told, {}).flat(), (x) => x < 0.5)).toBeGreaterThan(0.9);
  });

  test("is near the least numbers, or near the greatest, and never near failures", () => {
    const told = line(0.05, 0.95, 20, (x) => [x]);
    expect(share(asked(told, {}).flat(), (x) => x < 0.3)).toBe(1);
    expect(share(asked(told, { directions: ["maximize"] }).flat(), (x) => x > 0.7)).toBe(1);
    const failed = line(0.05, 0.95, 20, (x) => (x < 0.5 ? null : [x]));
    expect(share(asked(failed, {}).flat(), (x) => x > 0.4 && x < 0.8)).toBe(1);
  });

  test("with several directions it is near what nothing else dominates", () => {
    // Towards 0.2 both get better; failures dominate nothing.
    const told = [
      ...line(0.2, 0.9, 18, (x): Score => [x, 2 * x]),
      [0.95, null] as const,
      [0.97, null] as const,
    ];
    const directions: readonly Direction[] = ["minimize", "minimize"];
    expect(share(asked(told, { directions }).flat(), (x) => x < 0.4)).toBeGreaterThan(0.9);
  });

  test("spreads in a batch, whose trials are bad ones for each other until they are told", () => {
    const told = [[0.5, [0]] as const, [0.52, [0]] as const, ...line(0.8, 1, 10, () => [1])];
    const widths = asked(told, { batch: 12 }).map((batch) => {
      expect(batch).toHaveLength(12);
      const mean = batch.reduce((sum, x) => sum + x, 0) / batch.length;
      return Math.sqrt(batch.reduce((sum, x) => sum + (x - mean) ** 2, 0) / batch.length);
    });
    const median = widths.toSorted((a, b) => a - b)[10] ?? 0;
    expect(median).toBeGreaterThan(0.1);
  });

  test("covers the space evenly first, and counts earlier points among these", () => {
    const search = tpeSearch(space, randomSource("1"), {
      ...{ batch: 16, directions: ["minimize"], isUnique: false, startup: 16, trials: 16 },
    });
    const sixteenths = (search.next([]).value ?? []).map(({ overrides: [text = ""] }) =>
      Math.floor(Number(text.slice(2)) * 16),
    );
    expect(sixteenths.toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 16 }, (_, part) => part),
    );
  });
});

test("Sobol's points: of the first 2^k each of 2^k parts of a dimension has one, whatever the shift", () => {
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 0, max: 7 }), (seed, power) => {
      const next = sobolSequence(19, randomSource(String(seed)));
      const count = 2 ** power;
      const points = Array.from({ length: count }, next);
      for (let axis = 0; axis < 19; axis++) {
        const parts = points.map((point) => Math.floor((point[axis] ?? 0) * count));
        expect(new Set(parts).size, `dimension ${axis}`).toBe(count);
      }
    }),
    { numRuns: runs(20) },
  );
});

test("Sobol's points are those of Joe and Kuo's table; dimensions after it are drawn one by one", () => {
  const unshifted = sobolSequence(19, () => 0);
  const points = Array.from({ length: 1_001 }, () => unshifted().map((share) => share * 1024));
  // Of `scipy.stats.qmc.Sobol(d=19, scramble=False)`, in 1,024ths.
  expect(points[13]).toEqual([
    ...[832, 704, 832, 64, 448, 960, 576, 576, 576, 448],
    ...[832, 960, 64, 832, 192, 576, 192, 704, 576],
  ]);
  expect(points[1_000]).toEqual([
    ...[225, 99, 531, 693, 287, 929, 47, 921, 513, 71],
    ...[87, 261, 165, 393, 147, 379, 737, 353, 1015],
  ]);
  let drawn = 0;
  const random = () => drawn++ / 1_000;
  const more = sobolSequence(21, random);
  expect(drawn).toBe(21);
  const [first, second] = [more(), more()];
  expect([first.slice(19), second.slice(19)]).toEqual([
    [0.021, 0.022],
    [0.023, 0.024],
  ]);
  // Shifts are whole 2^-32ths.
  expect(first[18]).toBe(Math.floor(0.018 * 2 ** 32) / 2 ** 32);
});

const FILES = {
  "conf/config.yaml":
    "defaults: [opt: sgd]\nx: 0.0\nhydra:\n  sweep: {dir: s, subdir: '${hydra:job.num}'}\n",
  "conf/opt/sgd.yaml": "name: sgd\nmomentum: 0.9\n",
  "conf/opt/adam.yaml": "name: adam\n",
};

async function sweep(args: readonly string[], task?: Task) {
  const jobs: string[] = [];
  const outcome = await program(FILES).run(["-m", ...args], (config, job) => {
    jobs.push(job.overrides.join(" "));
    return task?.(config, job) ?? Number(config.get("x")) ** 2;
  });
  return { ...outcome, jobs };
}

const SPACE = ["x=interval(-1.0,1.0)", "opt=sgd,adam", "opt.momentum=interval(0.0,1.0)"];

describe.each(["tpe", "random", "successive_halving"])("a space of %s with conditions", (name) => {
  const common = [
    `hydra/sweeper=${name}`,
    "hydra.sweeper.seed=3",
    ...(name === "successive_halving"
      ? [
          "hydra.sweeper.budget_key=+epochs",
          "hydra.sweeper.min_budget=1",
          "hydra.sweeper.max_budget=3",
          "hydra.sweeper.n_trials=12",
        ]
      : ["hydra.sweeper.n_trials=16"]),
  ];

  test("a key of `when` is in the jobs that agree with its rule, and in no other", async () => {
    const { exitCode, jobs, stderr } = await sweep([
      ...common,
      "hydra.sweeper.when={opt.momentum: {opt: sgd}}",
      ...SPACE,
    ]);
    expect(exitCode, stderr).toBe(0);
    for (const job of jobs) expect(job.includes("momentum")).toBe(job.includes("opt=sgd"));
    expect(jobs.filter((job) => job.includes("opt=adam")).length).toBeGreaterThan(0);
  });

  test("--dry-run names trials that cannot be composed, and shows the others", async () => {
    const first = [...common, ...(name === "tpe" ? ["hydra.sweeper.n_jobs=6"] : []), ...SPACE];
    const allowed = [...first, "hydra.sweeper.max_failure_rate=1"];
    const shown = await program(FILES).run(["-m", "--dry-run", "--json", ...allowed]);
    expect(shown.exitCode, shown.stderr).toBe(0);
    expect(shown.stderr).toMatch(/The trial x=\S+ opt=adam \S+.* cannot be composed/);
    const plan = JSON.parse(shown.stdout);
    const { jobs } = await sweep(allowed);
    const planned = plan.jobs.map(({ overrides }: { readonly overrides: readonly string[] }) =>
      overrides.join(" "),
    );
    expect(planned.length).toBeGreaterThan(0);
    expect(jobs.slice(0, planned.length)).toEqual(planned);
    const refused = await program(FILES).run(["-m", "--dry-run", ...first]);
    expect([refused.exitCode, refused.stderr]).toEqual([
      1,
      expect.stringContaining("opt.momentum"),
    ]);
  });

  test("a trial that cannot be composed is a failed one, and does not end a sweep that allows it", async () => {
    const { exitCode, jobs, stderr, stdout } = await sweep([
      ...common,
      "hydra.sweeper.max_failure_rate=1",
      ...SPACE,
    ]);
    expect(exitCode, stderr).toBe(0);
    expect(jobs.length).toBeGreaterThan(0);
    expect(jobs.every((job) => job.includes("opt=sgd"))).toBe(true);
    expect(stdout).toMatch(
      /The trial x=\S+ opt=adam \S+.* cannot be composed, and counts as failed: /,
    );
    expect(stdout).toMatch(/Best of \d+ trials, \d+ failed: x=/);
    const strict = await sweep([...common, ...SPACE]);
    expect(strict.exitCode).toBe(1);
    expect(strict.stderr).toContain("opt.momentum");
  });
});

test.each(["tpe", "random"])("a search of %s that has ended gets more trials", async (name) => {
  const search = [`hydra/sweeper=${name}`, "hydra.sweeper.seed=3", "x=interval(-1.0,1.0)"];
  const whole = await sweep([...search, "hydra.sweeper.n_trials=16"]);
  const { cwd, run } = program(FILES);
  const jobs: string[] = [];
  const play = (...argv: readonly string[]) =>
    run(argv, (config, job) => {
      jobs.push(job.overrides.join(" "));
      return Number(config.get("x")) ** 2;
    });
  await play("-m", ...search, "hydra.sweeper.n_trials=11");
  const more = await play("--resume", "s", "hydra.sweeper.n_trials=+3");
  expect([more.exitCode, jobs.length], more.stderr).toEqual([0, 14]);
  expect(more.stdout).toContain("Best of 14 trials: ");
  await play("--resume", "s");
  expect(jobs).toHaveLength(14);
  await play("--resume", "s", "hydra.sweeper.n_trials=16");
  expect(jobs).toEqual(whole.jobs);
  // The first trial alone is not the best one.
  const fewer = await play("--resume", "s", "hydra.sweeper.n_trials=1");
  expect(fewer.stdout).toContain(
    "The best trial is worse than that of the earlier optimization_results.yaml, which is kept as optimization_results.yaml.before",
  );
  expect(more.stdout).not.toContain("worse");
  const valueIn = (file: string) =>
    Number(/best_value: (\S+)/.exec(readFileSync(join(cwd, "s", file), "utf8"))?.[1]);
  expect(valueIn("optimization_results.yaml.before")).toBe(
    Math.min(...jobs.map((job) => Number(job.slice(2)) ** 2)),
  );
  expect(valueIn("optimization_results.yaml")).toBe(Number(jobs[0]?.slice(2)) ** 2);
});

describe("hydra/sweeper=random", () => {
  test("asks for no job twice with `unique`, and for even points with sequence=sobol", async () => {
    const random = ["hydra/sweeper=random", "hydra.sweeper.seed=1"];
    const { exitCode, jobs } = await sweep([
      ...random,
      "hydra.sweeper.unique=true",
      "x=range(0,6)",
    ]);
    expect([exitCode, [...jobs].sort()]).toEqual([0, [0, 1, 2, 3, 4, 5].map((x) => `x=${x}`)]);
    const even = await sweep([
      ...random,
      ...["hydra.sweeper.sequence=sobol", "hydra.sweeper.n_trials=8", "x=interval(0.0,8.0)"],
    ]);
    expect(even.jobs.map((job) => Math.floor(Number(job.slice(2)))).sort()).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7,
    ]);
    const wrong = await sweep([...random, "hydra.sweeper.sequence=halton", "x=interval(0,8)"]);
    expect(wrong.stderr).toContain("must be random or sobol, not 'halton'");
  });

  test.each([
    [
      "hydra.sweeper.when={y: {opt: sgd}}",
      "hydra.sweeper.when names 'y', which this sweep does not set",
    ],
    ["hydra.sweeper.when=[1]", "hydra.sweeper.when must be a map from keys to rules"],
  ])("%s is refused", async (override, problem) => {
    const { exitCode, stderr } = await sweep(["hydra/sweeper=random", override, ...SPACE]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(problem);
  });
});
