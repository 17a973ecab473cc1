/**
 * Hardware counters of whole devices at an interval, by CUPTI's PM Sampling in the recorder: one run of the program, whose ranges and
 * samples are on one timeline.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../../../engine/values/errors.ts";
import { writeFileAtomic } from "../../../foundation/system/atomic-write.ts";
import { makeDirectory } from "../../../foundation/system/files.ts";
import { plural } from "../../../foundation/text/plural.ts";
import type { Workload } from "../../machine/process.ts";
import type { Timeline } from "../../model/timeline.ts";
import type { SamplingEvent } from "../recorder/events.ts";
import { rereadRecording } from "../recorder/recorder-collector.ts";
import type { CollectionSource } from "../run-types.ts";
import type { CollectContext, Collection, Measured, Reread, ToolParts } from "../tool.ts";
import {
  type CounterTarget,
  countersOf,
  counterTarget,
  failuresOf,
  metricsOn,
  problemOf,
  recorderFor,
  rulesOf,
} from "./counters-collector.ts";
import { type ProcessMeasurements, readMeasurements } from "./read-measurements.ts";
import { writeCounterRequest } from "./request.ts";
import {
  clockOffset,
  type DeviceSamples,
  encodeSamples,
  lossNotes,
  readDeviceSamples,
  SAMPLES_FILE,
  type SampleFile,
  timesIn,
  withDeviceSamples,
} from "./samples.ts";

const RESULTS = "results";

export async function sampleDevices(
  workload: Workload,
  context: CollectContext,
  parts: ToolParts,
): Promise<Collection> {
  const { directory } = context;
  const { timeline_metrics, interval_us, most_samples } = countersOf(parts.config);
  const target = await counterTarget(workload, parts);
  const metrics = await metricsOn(target, timeline_metrics, "samples");
  const images = join(directory, "configurations");
  const results = join(directory, RESULTS);
  makeDirectory(images);
  makeDirectory(results);
  const image = join(images, `${target.chip}.config`);
  await refuseSeveralPasses(
    await target.library.configure(target.chip, image, metrics, "samples"),
    metrics,
    target,
  );
  context.say(
    `counters: ${plural(metrics.length, "metric")} of whole devices, ${every(interval_us)}`,
  );
  const request = join(directory, "request");
  await writeCounterRequest(request, {
    ...{ level: 0, pass: 0, passes: 1, metrics, images, results, previous: null },
    ...{ intervalNs: interval_us * 1000, mostRanges: most_samples },
    ...rulesOf(parts.config),
  });
  const collection = await recorderFor(request, parts).collect(workload, context);
  const processes = readMeasurements(directory, rulesOf(parts.config));
  const { files, notes } = await keepSamples(processes, metrics, target, directory);
  const samples: DeviceSamples = { chip: target.chip, metrics, files };
  await writeFileAtomic(join(directory, SAMPLES_FILE), `${JSON.stringify(samples)}\n`);
  const failures = failuresOf(processes);
  const [failure] = failures;
  return {
    ...collection,
    collector: "counters",
    ...measuredWith(collection, samples, directory),
    notes: [
      ...new Set([
        ...collection.notes,
        ...notes,
        ...failures.map((text) => `counters were not read: ${text}`),
      ]),
    ],
    ...problemOf(collection, files.length === 0 ? failure : undefined),
  };
}

const every = (microseconds: number): string => `every ${microseconds} µs`;

/** @throws ConfigError `profile.unsupported` */
async function refuseSeveralPasses(
  passes: number,
  metrics: readonly string[],
  { library, chip }: CounterTarget,
): Promise<void> {
  if (passes === 1) return;
  const [described] = await library.describe([chip], metrics, "samples");
  const large = described?.metrics.filter((metric) => metric.passes !== 1) ?? [];
  throw new ConfigError({
    code: "profile.unsupported",
    key: "pipeline.counters.timeline_metrics",
    message: `the metrics take ${plural(passes, "pass", "passes")} on ${chip}, and a device is sampled in one`,
    hint:
      large.length > 0
        ? `leave out what takes several alone: ${large.map(({ name }) => name).join(", ")}`
        : "take fewer metrics: each takes one pass alone",
  });
}

/** Reads CUPTI's files, which are large, and keeps their samples in place of them. */
async function keepSamples(
  processes: readonly ProcessMeasurements[],
  metrics: readonly string[],
  { library, chip }: CounterTarget,
  directory: string,
): Promise<{ readonly files: readonly SampleFile[]; readonly notes: readonly string[] }> {
  const files: SampleFile[] = [];
  const notes: string[] = [];
  for (const process of processes) {
    const counts = new Map<number, number>();
    for (const [name, { device, complete }] of process.files) {
      const path = join(directory, RESULTS, name);
      const count = complete?.ranges ?? 0;
      const times = count === 0 ? [] : timesIn(`${path}.times`).slice(0, count);
      const [first] = times;
      const values =
        first === undefined ? [] : await library.samplesIn(chip, path, times.length, metrics);
      for (const file of [path, `${path}.times`]) rmSync(file, { force: true });
      if (first === undefined) continue;
      const sampling = process.sampled.find((event) => event.device === device);
      const offset = sampling && clockOffset(first[0], clocksOf(process, sampling));
      if (offset === undefined || offset === null) {
        notes.push(
          `cuda:${device}: ${plural(times.length, "sample")} of counters cannot be placed: CUPTI gives times of a clock that is neither CLOCK_MONOTONIC nor CLOCK_REALTIME`,
        );
        continue;
      }
      const file = join(RESULTS, `${name}.samples`).replaceAll("\\", "/");
      await writeFileAtomic(join(directory, file), encodeSamples(times, values));
      files.push({ pid: process.pid, device, begin_ns: String(first[0] - offset), file });
      counts.set(device, (counts.get(device) ?? 0) + times.length);
    }
    notes.push(...notesOf(process, counts, chip));
  }
  return { files, notes };
}

const clocksOf = (
  { startNs, endNs }: ProcessMeasurements,
  { realtimeOffsetNs }: SamplingEvent,
) => ({ startNs, endNs: endNs ?? startNs, realtimeOffsetNs });

function notesOf(
  { files, sampled, tally }: ProcessMeasurements,
  counts: ReadonlyMap<number, number>,
  chip: string,
): readonly string[] {
  const unfinished = [...files.values()].filter(({ complete }) => complete === null).length;
  return [
    ...sampled.flatMap(({ device, trigger, interval }) => {
      const deviceFiles = [...files.values()].filter((file) => file.device === device);
      const lost = deviceFiles.reduce((sum, { complete }) => sum + (complete?.dropped ?? 0), 0);
      return [
        `counters of cuda:${device} by CUPTI's PM Sampling on ${chip}: ${plural(counts.get(device) ?? 0, "sample")}, ${trigger === 1 ? every(interval / 1000) : `every ${interval} cycles of the system clock`}. They are of the whole device: a range has the mean of the samples that overlap with it, by the time that they do, whoever's work ran then; work that runs after the end of its range counts there`,
        ...lossNotes(device, lost, tally.beyondLimit > 0),
      ];
    }),
    ...(unfinished === 0
      ? []
      : [
          `${plural(unfinished, "file of samples was", "files of samples were")} not completed (the process was ended, or CUPTI failed): up to 10,000 samples of each are missing`,
        ]),
  ];
}

/** What was recorded, with the samples; both are read when they are needed if they are large. */
function measuredWith(
  { measured, beginning }: Pick<Collection, "measured" | "beginning">,
  samples: DeviceSamples,
  directory: string,
): { readonly measured: Measured } {
  if (measured.kind !== "timeline") throw new Error("the recorder gives a timeline");
  if (beginning === undefined) {
    const timeline = withDeviceSamples(measured.timeline, samples, directory);
    return { measured: { kind: "timeline", timeline } };
  }
  let timeline: Timeline | null = null;
  return {
    measured: {
      kind: "timeline",
      get timeline() {
        timeline ??= withDeviceSamples(measured.timeline, samples, directory);
        return timeline;
      },
    },
  };
}

export function rereadSamples(
  source: CollectionSource,
  directory: string,
  how: { readonly onlyBeginning?: boolean },
): Reread {
  const reread = rereadRecording(source, directory, how);
  return { ...reread, ...measuredWith(reread, readDeviceSamples(directory), directory) };
}
