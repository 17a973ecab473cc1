/** The metrics of chips, as far as they are known here: by NVIDIA's library, or else by what it once said. */
import { join } from "node:path";
import { packageInfo } from "../../engine/values/package-info.ts";
import {
  type ChipMetrics,
  type MetricLibrary,
  openMetricLibrary,
  unknownChip,
} from "./chip-metrics.ts";
import { probeCupti } from "./doctor/cupti.ts";
import type { Machine } from "./doctor/machine.ts";
import { nativeBuilder } from "./native.ts";
import { RECORDED_METRICS, type RecordedMetrics } from "./recorded-metrics.ts";

export interface MetricSource {
  /** NVIDIA's library; null where only the record answers. */
  readonly library: MetricLibrary | null;
  /** The chips whose metrics are known. */
  readonly chips: () => Promise<readonly string[]>;
  /**
   * The record knows few metrics, and for other sets than those of the presets only the least that they take.
   *
   * @throws ConfigError `profile.chip`
   */
  readonly describe: (
    chips: readonly string[],
    metrics: readonly string[],
  ) => Promise<readonly ChipMetrics[]>;
}

/**
 * @param program path of `chip_metrics`; null where the native part is not built
 */
export async function openMetricSource(
  machine: Machine,
  program: string | null,
): Promise<MetricSource> {
  const cupti = program === null ? null : await probeCupti(machine);
  if (program === null || cupti?.state !== "ok") return recordedSource();
  const library = openMetricLibrary({ program, library: cupti.detail });
  return { library, chips: library.chips, describe: library.describe };
}

/** As `openMetricSource`, with the native part as it is: nothing is built. */
export async function openReadyMetricSource(machine: Machine): Promise<MetricSource> {
  const { root } = packageInfo();
  const { nativeStatus } = await nativeBuilder(root);
  const { state, binDir } = await nativeStatus(root, { parts: "recorder" });
  return openMetricSource(machine, state === "ready" ? join(binDir, "chip_metrics") : null);
}

export function recordedSource(record: RecordedMetrics = RECORDED_METRICS): MetricSource {
  return {
    library: null,
    chips: async () => record.chips,
    describe: async (chips, metrics) =>
      chips.map((chip) => {
        const column = record.chips.indexOf(chip);
        if (column < 0) throw unknownChip(chip, record.chips);
        return recordedOn(chip, column, metrics, record);
      }),
  };
}

function recordedOn(
  chip: string,
  column: number,
  metrics: readonly string[],
  { metrics: recorded, presets }: RecordedMetrics,
): ChipMetrics {
  const found = metrics.flatMap((name) => {
    const metric = recorded[name];
    const passes = metric?.passes[column] ?? null;
    return metric === undefined || passes === null ? [] : [{ name, unit: metric.unit, passes }];
  });
  const alike = Object.values(presets).find(
    (preset) =>
      preset.metrics.length === metrics.length &&
      preset.metrics.every((name) => metrics.includes(name)),
  );
  const least = found.length === 0 ? null : Math.max(...found.map(({ passes }) => passes));
  return { chip, metrics: found, passes: alike?.passes[column] ?? least };
}
