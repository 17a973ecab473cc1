/**
 * Renews what NVIDIA's library said about the metrics that this project names: `node --import
 * ./scripts/typescript-loader.mjs scripts/record-metrics.ts`. It needs CUPTI of CUDA 12.6 or newer, and the native part.
 */
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { openComposer } from "../src/app/job/composer.ts";
import { STANDARD_PLUGINS } from "../src/app/plugins/standard-plugins.ts";
import { toPlain } from "../src/engine/compose/index.ts";
import { writeFileAtomicSync } from "../src/foundation/system/atomic-write.ts";
import type { MetricLibrary } from "../src/profiler/machine/chip-metrics.ts";
import { thisMachine } from "../src/profiler/machine/doctor/machine.ts";
import { withOtherNames } from "../src/profiler/machine/metric-names.ts";
import { openReadyMetricSource } from "../src/profiler/machine/metric-source.ts";
import type { RecordedMetrics } from "../src/profiler/machine/recorded-metrics.ts";
import { metricsOf, type NcuConfig } from "../src/profiler/tools/profiler-config.ts";
import { scriptArguments } from "./script-arguments.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const FILE = "src/profiler/machine/recorded-metrics.ts";

/** What reports read beside the metrics of the presets. */
const METRICS_OF_REPORTS = [
  "dram__bytes.sum",
  "dram__bytes.sum.peak_sustained",
  "dram__bytes.sum.per_second",
  "dram__bytes_op_read.sum",
  "dram__bytes_op_write.sum",
  "dram__cycles_elapsed.avg.per_second",
  "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
  "l1tex__t_sector_hit_rate.pct",
  "lts__t_sector_hit_rate.pct",
  "sm__cycles_elapsed.avg.per_second",
  "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active",
  "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
];

/** The metrics of each preset of ncu that has some. */
function presets(): readonly { readonly name: string; readonly metrics: readonly string[] }[] {
  const composer = openComposer(
    {
      plugins: STANDARD_PLUGINS,
      jobName: "deep-profile",
      configPath: join(root, "conf"),
      configName: "config",
    },
    {
      argv: [],
      env: {},
      cwd: root,
      now: new Date(2026, 0, 1),
      console: { stdout: () => {}, stderr: () => {} },
    },
  );
  return readdirSync(join(root, "conf/profiling/ncu"))
    .filter((file) => file.endsWith(".yaml"))
    .sort()
    .flatMap((file) => {
      const name = file.replace(/\.yaml$/, "");
      const { config } = composer.compose([`profiling/ncu@pipeline.ncu=${name}`]);
      const plain: object = Object(toPlain(config));
      const { pipeline } = plain as { readonly pipeline: { readonly ncu: NcuConfig } };
      const metrics = metricsOf(pipeline.ncu.ncu_cli);
      return metrics.length === 0 ? [] : [{ name, metrics: withOtherNames(metrics) }];
    });
}

/** What the library says now. */
export async function askForRecord(library: MetricLibrary): Promise<RecordedMetrics> {
  const chips = await library.chips();
  const sets = presets();
  const names = [
    ...new Set([...sets.flatMap(({ metrics }) => metrics), ...METRICS_OF_REPORTS]),
  ].sort();
  const alone = await library.describe(chips, names);
  const together = await Promise.all(
    sets.map(async ({ name, metrics }) => {
      const answers = await library.describe(chips, metrics);
      return [name, { metrics, passes: answers.map(({ passes }) => passes) }] as const;
    }),
  );
  const metrics = names.map((name) => {
    const found = alone.map((chip) => chip.metrics.find((metric) => metric.name === name));
    const unit = found.find((metric) => metric !== undefined)?.unit ?? "";
    return [name, { unit, passes: found.map((metric) => metric?.passes ?? null) }] as const;
  });
  return { chips, metrics: Object.fromEntries(metrics), presets: Object.fromEntries(together) };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  scriptArguments(import.meta.url);
  const { library } = await openReadyMetricSource(thisMachine(process.env));
  if (library === null) throw new Error("no CUPTI, or the native part is not built");
  const text = `/** What NVIDIA's library says about the metrics that this project names: made by scripts/record-metrics.ts. */

/** A null stands for a metric that the chip has not, or cannot measure. */
export interface RecordedMetrics {
  readonly chips: readonly string[];
  /** Passes that each metric takes alone, in the order of the chips. */
  readonly metrics: Readonly<Record<string, { readonly unit: string; readonly passes: readonly (number | null)[] }>>;
  /** Passes that all metrics of a preset of ncu take together, as far as the chip has them. */
  readonly presets: Readonly<Record<string, { readonly metrics: readonly string[]; readonly passes: readonly (number | null)[] }>>;
}

export const RECORDED_METRICS: RecordedMetrics = ${JSON.stringify(await askForRecord(library))};
`;
  const biome = join(root, "node_modules/@biomejs/biome/bin/biome");
  const formatted = execFileSync(process.execPath, [biome, "format", `--stdin-file-path=${FILE}`], {
    cwd: root,
    input: text,
    encoding: "utf8",
  });
  writeFileAtomicSync(join(root, FILE), formatted);
}
