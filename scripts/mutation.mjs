/**
 * Mutation tests: small changes of the code, one at a time, and whether a test of the nearest suites fails of each (Stryker). Prints what
 * survived, and fails if fewer than 85 % of a folder's changes are noticed.
 *
 *   npm run mutation                       every folder below; takes hours: a part of `npm run nightly`
 *   npm run mutation -- sweep/sweepers     the folders whose name contains this
 *   npm run mutation -- report/compare gates change     only these files of them
 *   npm run mutation -- report/compare gates:10-20      only these lines of one (or `FILE:LINE:COLUMN-LINE:COLUMN`)
 *
 * With `HYDRACONF_MUTATION_AGAIN=1`, results of earlier calls are kept for what has not changed since, and its tests neither.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { scriptArguments } from "./script-arguments.mjs";
import {
  buildNativePart,
  buildTypeScript,
  installDependencies,
  requireNode,
  root,
} from "./setup.mjs";

const LEAST = 85;
const REPORT = join("tmp", "mutation");

/** What is mutated, and the tests that are nearest to it. */
const FOLDERS = {
  "report/compare": ["src/report/compare/**/*.ts", "tests/report/compare/!(browser).test.ts"],
  "profiler/analysis": ["src/profiler/analysis/**/*.ts", "tests/profiler/analysis/!(size).test.ts"],
  "recorder/clocks": [
    "src/profiler/tools/recorder/clocks.ts",
    "tests/profiler/{tools/recorder/{clocks,read,generated},analysis/program-numbers}.test.ts",
  ],
  "recorder/pairing": [
    "src/profiler/tools/recorder/pairing*.ts",
    "tests/profiler/{tools/recorder/{pairing,read,generated,growing,many-ranges},analysis/program-numbers}.test.ts",
  ],
  "sweep/sweepers": [
    "src/app/sweep/sweepers/**/*.ts",
    "tests/app/sweep/{changed-space,multirun,promotion,pruning,sweepers/!(optuna)}.test.ts",
  ],
  "launch/local": [
    "src/app/launch/local/**/*.ts",
    "tests/app/launch/local/!(basic-launcher).test.ts",
  ],
  record: ["src/app/record/**/*.ts", "tests/app/record/**/*.test.ts"],
  "slurm/queue": ["src/app/plugins/slurm/queue.ts", "tests/app/plugins/slurm/queue.test.ts"],
};

const [wanted = "", ...files] = scriptArguments(import.meta.url, {
  most: Number.POSITIVE_INFINITY,
}).words;
const chosen = Object.entries(FOLDERS).filter(([name]) =>
  wanted in FOLDERS ? name === wanted : name.includes(wanted),
);
if (chosen.length === 0) {
  console.error(`no folder of '${wanted}': ${Object.keys(FOLDERS).join(", ")}`);
  process.exit(2);
}
process.chdir(root);
requireNode();
await installDependencies();
// Some of the tests run commands, and show pages with their script.
await buildTypeScript();
buildNativePart();
const require = stryker();
const { Stryker } = await import(pathToFileURL(require.resolve("@stryker-mutator/core")).href);
const scores = [];
for (const [name, [mutate, tests]] of chosen)
  scores.push([name, await scoreOf(name, mutate, tests)]);
for (const [name, score] of scores) console.log(`${score.toFixed(1).padStart(5)} %  ${name}`);
process.exitCode = scores.every(([, score]) => score >= LEAST) ? 0 : 1;

/** As Stryker reads it, of `FILE` in any folder, or of `FILE:PLACE` with the file's folder. */
function pathOf(file, folder) {
  const [path, ...place] = file.split(":");
  if (place.length === 0) return `${folder}/${path}.ts`;
  return [`${folder.replace("/**", "")}/${path}.ts`, ...place].join(":");
}

/** `require` as Stryker's own folder has it: it is no dependency of the repository, since no other command needs it. */
function stryker() {
  const folder = join(root, "scripts", "mutation");
  if (!existsSync(join(folder, "node_modules"))) {
    const { status } = spawnSync("npm", ["ci"], { cwd: folder, stdio: "inherit" });
    if (status !== 0) process.exit(2);
  }
  return createRequire(join(folder, "package.json"));
}

async function scoreOf(name, mutate, tests) {
  // Where vitest.config.ts of tests/mutation looks for it: it runs in processes of Stryker's.
  process.env.HYDRACONF_MUTATION_TESTS = tests;
  process.env.HYDRACONF_MUTATION_CODE = mutate;
  // A change that no test notices runs all of them: few random cases each, so that a score is rather too low.
  process.env.HYDRACONF_PROPERTY_FACTOR ??= "0.1";
  const report = join(
    REPORT,
    `${[name, ...files].join("-").replaceAll(/[/:]/g, "-").slice(0, 100)}.json`,
  );
  const results = await new Stryker({
    testRunner: "kept-vitest",
    plugins: [pathToFileURL(join(root, "scripts", "mutation", "runner.mjs")).href],
    vitest: { configFile: "tests/mutation/vitest.config.ts", related: false },
    mutate: files.length === 0 ? [mutate] : files.map((file) => pathOf(file, dirname(mutate))),
    // What has no tests of its own: files of exports, and the wording of texts, which tests/ui shows.
    mutator: { excludedMutations: ["StringLiteral"] },
    disableTypeChecks: false,
    coverageAnalysis: "perTest",
    // What runs as a module is loaded: test files share processes, so that such a change would not be loaded again.
    ignoreStatic: true,
    // More than Stryker allows, so that a busy machine is not taken for an endless loop.
    timeoutMS: 30_000,
    dryRunTimeoutMinutes: 60,
    incremental: process.env.HYDRACONF_MUTATION_AGAIN === "1",
    incrementalFile: join(REPORT, `${name.replace("/", "-")}.incremental.json`),
    concurrency: Number(process.env.HYDRACONF_MUTATION_JOBS ?? availableParallelism()),
    tempDirName: join("tmp", "stryker"),
    ignorePatterns: ["/build", "/tmp", "/site"],
    reporters: ["clear-text", "json", "progress-append-only"],
    clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
    jsonReporter: { fileName: report },
    allowConsoleColors: false,
  }).runMutationTest();
  const count = (...statuses) => results.filter(({ status }) => statuses.includes(status)).length;
  const noticed = count("Killed", "Timeout");
  return (100 * noticed) / (noticed + count("Survived", "NoCoverage"));
}
