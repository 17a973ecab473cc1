/**
 * `npm run bench`: every benchmark, or those whose names are given, as a whole or in part (`search/hartmann`). Each compares with a
 * baseline of its own run and says whether its goal is reached; a missed goal makes the exit code 1.
 */
import { benchAb, benchCompare } from "./ab.ts";
import { benchAssembly } from "./assembly.ts";
import { benchBounded } from "./bounded.ts";
import { benchCompose } from "./compose.ts";
import { benchHtml } from "./html.ts";
import { benchLibraries } from "./libraries.ts";
import { benchNativeResnet } from "./native-resnet.ts";
import { benchNcu } from "./ncu.ts";
import { benchProcess } from "./process.ts";
import { benchRecorder } from "./recorder.ts";
import { benchRecording } from "./recording.ts";
import { benchSearch, PROBLEM_NAMES } from "./search.ts";
import { benchSweep } from "./sweep.ts";
import { benchValues } from "./values.ts";

interface Benchmark {
  readonly name: string;
  readonly about: string;
  /** What it can measure alone. */
  readonly parts?: readonly string[];
  /** Prints its table, of all its parts or of some; true when its goals are reached. */
  readonly run: (print: (line: string) => void, parts?: readonly string[]) => Promise<boolean>;
}

const benchmarks: readonly Benchmark[] = [
  {
    name: "ab",
    about: "gates of deep-profile ab on a busy machine: false alarms, and 10 % more work",
    run: benchAb,
  },
  {
    name: "compare",
    about:
      "compare --fail-on auto of stored runs on a busy machine: false alarms, and 10 % more work",
    run: benchCompare,
  },
  {
    name: "values",
    about: "reading, writing and resolving beside yaml.parse and JSON.stringify",
    run: benchValues,
  },
  {
    name: "bounded",
    about: "reports of 20 million ranges, and of a million labels: memory, time, size",
    run: benchBounded,
  },
  {
    name: "compose",
    about: "composition and overrides beside yaml.parse of the same files",
    run: benchCompose,
  },
  {
    name: "sweep",
    about:
      "CPU time of a sweep of 1,000 jobs that do nothing, beside a script that prints and writes its files; of a command, beside GNU parallel; of a program of Hydra, beside its own -m",
    run: benchSweep,
  },
  {
    name: "search",
    about: "what hydra/sweeper=tpe finds in 60 trials, beside Optuna's multivariate TPE",
    parts: PROBLEM_NAMES,
    run: benchSearch,
  },
  {
    name: "process",
    about: "start-up of the commands beside node -e 0",
    run: benchProcess,
  },
  {
    name: "libraries",
    about: "import and first value beside c12, and zod with dotenv",
    run: benchLibraries,
  },
  {
    name: "recorder",
    about: "cost of a recorded NVTX range beside an unrecorded one",
    run: benchRecorder,
  },
  {
    name: "recording",
    about: "reading a recording of a million ranges and kernels beside a sum of its words",
    run: benchRecording,
  },
  {
    name: "assembly",
    about: "a million kernels to the report document, beside a script that parses and sums them up",
    run: benchAssembly,
  },
  {
    name: "html",
    about:
      "the page of 1,000 regions and 100,000 kernel records beside JSON.stringify of the report",
    run: benchHtml,
  },
  {
    name: "ncu",
    about: "reading ncu's CSV beside a scan for line ends, and assembling its results",
    run: benchNcu,
  },
  {
    name: "resnet",
    about: "GFLOP/s of the CPU convolution beside the machine's multiply-add rate",
    run: benchNativeResnet,
  },
];

const wanted = process.argv.slice(2);
const namesOf = ({ name, parts = [] }: Benchmark): readonly string[] => [
  name,
  ...parts.map((part) => `${name}/${part}`),
];
const unknown = wanted.filter((name) => !benchmarks.flatMap(namesOf).includes(name));
if (unknown.length > 0) {
  console.error(`unknown benchmark: ${unknown.join(", ")}`);
  for (const benchmark of benchmarks) {
    console.error(`  ${benchmark.name.padEnd(12)}${benchmark.about}`);
    for (const name of namesOf(benchmark).slice(1)) console.error(`    ${name}`);
  }
  process.exit(2);
}

for (const benchmark of benchmarks) {
  const { about, name, parts = [], run } = benchmark;
  const chosen = parts.filter((part) => wanted.includes(`${name}/${part}`));
  if (wanted.length > 0 && !wanted.includes(name) && chosen.length === 0) continue;
  console.log(`# ${name}: ${about}\n`);
  const reached = await (wanted.length === 0 || wanted.includes(name)
    ? run(console.log)
    : run(console.log, chosen));
  if (!reached) process.exitCode = 1;
  console.log();
}
