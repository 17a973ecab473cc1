/**
 * Speed of composition beside the bare `yaml` parse of the same files in the same run, in CPU time:
 * `npm run bench compose`
 */
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { parse } from "yaml";
import { parseOverride } from "../src/engine/overrides/index.ts";
import { packageInfo } from "../src/engine/values/package-info.ts";
import { createEngine, type DialectName } from "../src/index.ts";
import { generateProject, generateTree } from "./generated-tree.ts";
import { cpuTimeOf, least, measure, median } from "./measure.ts";
import { createScore, ms, type Score } from "./score.ts";

const { root } = packageInfo();
const PROJECT = { configDir: `${root}/conf`, configName: "config" } as const;

export async function benchCompose(print: (line: string) => void): Promise<boolean> {
  const score = createScore(print);
  composeProject(score);
  composeInDialects(score);
  composeWideTrees(score);
  composeLongConfig(score);
  composeManyGroups(score);
  sweepValues(score);
  sweepGroups(score);
  parseManyOverrides(score);
  await composeManyFiles(score);
  return score.reached();
}

/** The files that a composition has read; Hydra's own groups are no files. */
function composedTexts(): readonly string[] {
  const { defaults } = createEngine().composition(PROJECT);
  const texts = defaults.flatMap(({ loaded: { origin, source } }) =>
    source.scheme === "file" && origin.kind === "file" ? [origin.source.text] : [],
  );
  return [...new Set(texts)];
}

/** Compositions that are timed together: one alone is too short for the clock. */
const BATCH = 20;

function composeProject(score: Score): void {
  const texts = composedTexts();
  const known = createEngine();
  known.compose(PROJECT);
  let count = 0;
  const times = measure(
    {
      bare: () => texts.map((text) => parse(text)),
      first: () => createEngine().compose(PROJECT),
      again: () => {
        for (let at = 0; at < BATCH; at++)
          known.compose({ ...PROJECT, overrides: [`infer.batch_size=${count++}`] });
      },
    },
    200,
    cpuTimeOf,
    least,
  );
  const again = times.again / BATCH;
  const detail = `${texts.length} files: ${ms(times.first)}, yaml.parse ${ms(times.bare)}`;
  score.atMost(
    "first composition of the project's tree",
    times.first / times.bare,
    1.5,
    "x",
    detail,
  );
  score.atMost("the same with another override", again, 1, "ms");
  score.atMost("the same, beside the first", again / times.first, 0.05, "x");
}

/** Each version of Hydra beside the default one, of the same tree in the same run. */
function composeInDialects(score: Score): void {
  const first = (dialect: DialectName) => () => createEngine({ dialect }).compose(PROJECT);
  const times = measure(
    { "1.1": first("1.1"), "1.2": first("1.2"), "1.3": first("1.3"), "1.4": first("1.4") },
    100,
    cpuTimeOf,
    least,
  );
  for (const name of ["1.1", "1.2", "1.4"] as const)
    score.atMost(`first composition in ${name} beside 1.3`, times[name] / times["1.3"], 1.1, "x");
}

function composeWideTrees(score: Score): void {
  const trees = [generateTree(100, 10), generateTree(300, 10)] as const;
  try {
    const [small, large] = trees;
    const compose = ({ dir }: typeof small) =>
      createEngine().compose({ configDir: dir, configName: "config" });
    const times = measure(
      {
        bare: () => large.composed.map((text) => parse(text)),
        small: () => compose(small),
        large: () => compose(large),
      },
      10,
      cpuTimeOf,
    );
    const detail = `${large.composed.length} files: ${ms(times.large)}, yaml.parse ${ms(times.bare)}`;
    score.atMost("a tree of 300 groups", times.large / times.bare, 2, "x", detail);
    const growth = `${ms(times.small)} for 100 groups`;
    score.atMost("300 groups beside 100", times.large / times.small, 3.5, "x", growth);
  } finally {
    for (const tree of trees) tree.remove();
  }
}

/** The tree of a large project, composed and not written. */
function composeLongConfig(score: Score): void {
  const tree = generateProject(LINES);
  try {
    const compose = () => createEngine().compose({ configDir: tree.dir, configName: "config" });
    const lines = compose().toYaml().split("\n").length;
    const times = measure(
      { bare: () => tree.composed.map((text) => parse(text)), compose },
      10,
      cpuTimeOf,
    );
    const detail = `${tree.composed.length} files: ${ms(times.compose)}, yaml.parse ${ms(times.bare)}`;
    score.atMost(`a config of ${lines} lines`, times.compose / times.bare, 2.5, "x", detail);
  } finally {
    tree.remove();
  }
}

const LINES = 16_000;

/** Whether the time grows with the number of groups and no faster. */
function composeManyGroups(score: Score): void {
  const [small, large] = [generateTree(3_000, 1), generateTree(10_000, 1)] as const;
  try {
    const compose = ({ dir }: typeof small) =>
      createEngine().compose({ configDir: dir, configName: "config" });
    const times = measure(
      { small: () => compose(small), large: () => compose(large) },
      4,
      cpuTimeOf,
      least,
    );
    const detail = `${ms(times.large)}, ${ms(times.small)} for 3,000`;
    score.atMost("10,000 groups beside 3,000", times.large / times.small, 3.5, "x", detail);
  } finally {
    for (const tree of [small, large]) tree.remove();
  }
}

const JOBS = 1000;

function sweepValues(score: Score): void {
  const engine = createEngine();
  const compose = (job: number) =>
    engine.compose({
      ...PROJECT,
      overrides: [`infer.batch_size=${job}`, `infer.iterations=${job % 7}`],
    });
  atMostOneMillisecond(score, "a job of a sweep over values", compose);
}

/** Every job chooses options that were never composed together; all files have been read before. */
function sweepGroups(score: Score): void {
  const engine = createEngine();
  const names = (group: string) =>
    engine
      .snapshot(PROJECT)
      .repository.list(group, "config")
      .map((name) => `=${name}`);
  const alternatives: readonly (readonly string[])[] = [
    names("workload").map((name) => `workload${name}`),
    names("runners").map((name) => `runners${name}`),
    names("profiling/ncu").map((name) => `profiling/ncu@pipeline.ncu${name}`),
    names("profiling/ncu").map((name) => `+profiling/ncu@other${name}`),
    names("workload").map((name) => `+workload@second${name}`),
  ];
  const overridesOf = (job: number): readonly string[] => {
    let rest = job;
    return alternatives.map((options) => {
      const option = options[rest % options.length] ?? "";
      rest = Math.floor(rest / options.length);
      return option;
    });
  };
  const compose = (job: number) => engine.compose({ ...PROJECT, overrides: overridesOf(job) });
  atMostOneMillisecond(score, "a job of a sweep over groups", compose);
}

function atMostOneMillisecond(score: Score, what: string, compose: (job: number) => unknown): void {
  for (let job = JOBS; job < JOBS + 50; job++) compose(job);
  const times = Array.from({ length: JOBS }, (_, job) => cpuTimeOf(() => compose(job)));
  const mean = times.reduce((sum, time) => sum + time, 0) / JOBS;
  score.atMost(what, mean, 1, "ms", `mean of ${JOBS}, median ${ms(median(times))}`);
}

function parseManyOverrides(score: Score): void {
  const texts = [
    "infer.batch_size=8",
    "+db@backup=mysql",
    "model.layers=[64,128,{kind:conv,size:3}]",
    "optimizer.lr=0.001",
    "~trainer.logger",
    "name='run ${now:%H} of \\'it\\''",
    "lr=choice(0.1,0.01,0.001)",
    "steps=range(1,10,2)",
  ];
  const each = 500;
  const { all } = measure(
    {
      all: () => {
        for (let at = 0; at < each; at++) for (const text of texts) parseOverride(text);
      },
    },
    20,
    cpuTimeOf,
  );
  score.atMost("parsing an override", (all * 1000) / (each * texts.length), 5, "µs");
}

/** In a process of its own: what the others left behind is no part of it. */
async function composeManyFiles(score: Score): Promise<void> {
  const tree = generateTree(2000, 1);
  try {
    const program = `
      const { createEngine } = await import(${JSON.stringify(`${root}/dist/index.js`)});
      createEngine().compose({ configDir: ${JSON.stringify(tree.dir)}, configName: "config" });
      console.log(process.resourceUsage().maxRSS);`;
    const { stdout } = await execa(process.execPath, ["--input-type=module", "-e", program]);
    score.atMost("peak memory of composing 2,000 files", Number(stdout) / 1024, 200, "MB");
  } finally {
    tree.remove();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.exitCode = (await benchCompose(console.log)) ? 0 : 1;
