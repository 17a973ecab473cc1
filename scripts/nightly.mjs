// `npm run nightly`: what takes too long for every change. 100,000 random interpolations and YAML texts
// (HYDRACONF_FUZZ_RUNS), every property on ten times as many cases (HYDRACONF_PROPERTY_FACTOR), the ShallowResNet and the
// recorder in it with the compiler's sanitizers, and the benchmarks.
// All parts run, whatever fails; the exit code is 1 if one did.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { scriptArguments } from "./script-arguments.mjs";
import {
  buildNativePart,
  buildTypeScript,
  installDependencies,
  requireNode,
  root,
  tool,
} from "./setup.mjs";

scriptArguments(import.meta.url);

const { HYDRACONF_FUZZ_RUNS = "100000", HYDRACONF_PROPERTY_FACTOR = "10" } = process.env;

requireNode();
await installDependencies();
await buildTypeScript();
buildNativePart();

const sanitized = join(root, "build", "sanitized");
const vitest = [...tool("vitest"), "run", "--testTimeout", String(60 * 60 * 1000)];
const parts = [
  {
    name: `values, on ${HYDRACONF_FUZZ_RUNS} random texts each`,
    argv: [...vitest, "tests/engine/values"],
    env: { HYDRACONF_FUZZ_RUNS, HYDRACONF_PROPERTY_FACTOR },
  },
  {
    name: `all other tests, properties on ${HYDRACONF_PROPERTY_FACTOR} times the cases`,
    argv: [...vitest, "--exclude", "tests/engine/values/**"],
    env: { HYDRACONF_PROPERTY_FACTOR, HYDRACONF_FUZZ_RUNS: undefined },
  },
  {
    name: "the native part with AddressSanitizer and UndefinedBehaviorSanitizer: build",
    argv: [
      ...[process.execPath, "scripts/native.mjs", "--out", sanitized],
      ...["--sanitize", "address,undefined"],
    ],
    env: {},
  },
  {
    name: "the native part with AddressSanitizer and UndefinedBehaviorSanitizer: tests",
    argv: [...vitest, "tests/native/shallow_resnet"],
    env: {
      HYDRACONF_NATIVE_BIN: join(sanitized, "build", "Release"),
      HYDRACONF_PROPERTY_FACTOR,
    },
  },
  {
    name: "what is slow, whole: every fault, ten times as much of each program under the recorder, ten full disks of each kind",
    argv: [process.execPath, "scripts/test-slow.mjs"],
    env: {
      HYDRACONF_FAULT_STEP: undefined,
      HYDRACONF_HARMLESS_SCALE: undefined,
      HYDRACONF_KILL_ROUNDS: "200",
      HYDRACONF_DISK_ROUNDS: "10",
    },
  },
  {
    name: "30,000 simulated sweeps",
    argv: [...vitest, "tests/app/sweep/simulation.slow.ts"],
    env: {
      HYDRACONF_SLOW: "1",
      HYDRACONF_SIMULATIONS: "30000",
      HYDRACONF_SIMULATION_SEED: "2000000",
    },
  },
  {
    name: "the packed package under the newest Nodes",
    argv: [process.execPath, "scripts/newest-nodes.mjs"],
    env: {},
  },
  {
    name: "mutations: in each folder, at least 85 % are noticed by a test",
    argv: [process.execPath, "scripts/mutation.mjs"],
    env: {},
  },
  {
    name: "benchmarks",
    argv: [process.execPath, "--import", "./scripts/typescript-loader.mjs", "bench/run.ts"],
    env: {},
  },
];

const results = parts.map(({ name, argv, env }) => {
  console.log(`\n# ${name}\n`);
  const [program, ...args] = argv;
  const { status } = spawnSync(program, args, {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  return { name, passed: status === 0 };
});

console.log();
for (const { name, passed } of results) console.log(`${passed ? "passed" : "FAILED"}  ${name}`);
process.exitCode = results.every(({ passed }) => passed) ? 0 : 1;
