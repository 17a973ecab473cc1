/**
 * What NVIDIA's library says about metrics and chips, without a driver or device: which metrics a chip has, and in how many
 * passes they are measured. A process of its own asks it (native/chip_metrics), so that whatever the library does stays there.
 */
import { ConfigError, nearest } from "../../engine/values/errors.ts";
import { askProgram } from "../../foundation/system/ask-program.ts";
import { ToolError } from "./tool-error.ts";

/** One metric of a chip. */
export interface MetricOfChip {
  /** With its rollup: `dram__bytes_read.sum`. */
  readonly name: string;
  /** The dimension of its values, e.g. `byte`; empty for none. */
  readonly unit: string;
  /** How often the work runs to measure it alone; null if it cannot be measured, e.g. without a rollup. */
  readonly passes: number | null;
}

/** Those of the requested metrics that a chip has. */
export interface ChipMetrics {
  /** NVIDIA's name: `GH100`. */
  readonly chip: string;
  readonly metrics: readonly MetricOfChip[];
  /** How often the work runs to measure all of them; null if none can be measured. */
  readonly passes: number | null;
}

/** The same, as the library has it. */
export interface DescribedMetrics extends ChipMetrics {
  readonly metrics: readonly (MetricOfChip & { readonly description: string })[];
}

/** How metrics are collected: of ranges, or in samples of a whole device. There are other metrics, and other passes. */
export type CollectionWay = "ranges" | "samples";

/** A range that the Range Profiler measured. */
export interface CountedRange {
  readonly name: string;
  /** In the order of the requested metrics; null for a metric without a value. */
  readonly values: readonly (number | null)[];
}

/** Metrics of a chip that take the same rollups. */
export interface MetricNames {
  readonly type: "counter" | "ratio" | "throughput";
  /** `.sum`, `.avg.pct_of_peak_sustained_elapsed`. */
  readonly rollups: readonly string[];
  /** Without a rollup: `dram__bytes_read`. */
  readonly names: readonly string[];
}

/**
 * NVIDIA's library of metrics. Questions throw
 * - ConfigError `profile.chip` for a chip that the library does not know
 * - ToolError `profile.metric_library` if it cannot be used, ends, or answers what cannot be true
 * - ToolError `profile.metric_library_version` if it is older than CUDA 12.6
 */
export interface MetricLibrary {
  /** The chips whose metrics it knows. */
  readonly chips: () => Promise<readonly string[]>;
  /** The chip of a CUDA device; null without a driver, or without such a device. */
  readonly chipOfDevice: (index: number) => Promise<string | null>;
  readonly names: (chip: string) => Promise<readonly MetricNames[]>;
  readonly describe: (
    chips: readonly string[],
    metrics: readonly string[],
    way?: CollectionWay,
  ) => Promise<readonly DescribedMetrics[]>;
}

/** The same library, for what the Range Profiler or PM Sampling of a run needs before and after it. */
export interface CounterLibrary extends MetricLibrary {
  /** Writes the configuration for metrics; returns how many passes it takes. */
  readonly configure: (
    chip: string,
    file: string,
    metrics: readonly string[],
    way?: CollectionWay,
  ) => Promise<number>;
  /** The ranges in a file that the Range Profiler wrote with such a configuration. */
  readonly valuesIn: (
    chip: string,
    file: string,
    metrics: readonly string[],
  ) => Promise<readonly CountedRange[]>;
  /** The values of so many samples in a file that PM Sampling wrote with such a configuration. */
  readonly samplesIn: (
    chip: string,
    file: string,
    count: number,
    metrics: readonly string[],
  ) => Promise<readonly CountedRange["values"][]>;
}

/** Where the library is, and the program that asks it. */
export interface MetricLibraryPlace {
  /** Path of the native part's `chip_metrics`. */
  readonly program: string;
  /** Path of libcupti. */
  readonly library: string;
}

export function openMetricLibrary(place: MetricLibraryPlace): CounterLibrary {
  const ask = async <Answer>(question: readonly string[]): Promise<Answer> => {
    const answer = await questionTo<Answer>(place, question);
    if ("answer" in answer) return answer.answer;
    const { kind, message } = answer.failure;
    if (kind !== "chip") throw libraryError(kind, message, place);
    const chipNames = await chips();
    throw unknownChip(question.slice(1).find((chip) => !chipNames.includes(chip)) ?? "", chipNames);
  };
  const chips = async () => (await ask<{ chips: readonly string[] }>(["chips"])).chips;
  return {
    chips,
    chipOfDevice: async (index) => {
      const told = await questionTo<{ chip: string }>(place, ["device", String(index)]);
      return "answer" in told ? told.answer.chip : null;
    },
    names: async (chip) =>
      (await ask<{ metrics: readonly MetricNames[] }>(["names", chip])).metrics,
    describe: async (wanted, metrics, way = "ranges") => {
      const question = [askedOf("metrics", way), ...wanted, "--", ...metrics];
      return (await ask<{ chips: readonly DescribedMetrics[] }>(question)).chips;
    },
    configure: async (chip, file, metrics, way = "ranges") =>
      (await ask<{ passes: number }>([askedOf("image", way), chip, file, "--", ...metrics])).passes,
    valuesIn: async (chip, file, metrics) => {
      const question = ["values", chip, file, "--", ...metrics];
      const { files } = await ask<{ files: readonly { ranges: readonly CountedRange[] }[] }>(
        question,
      );
      return files.flatMap(({ ranges }) => ranges);
    },
    samplesIn: async (chip, file, count, metrics) =>
      (
        await ask<{ samples: readonly CountedRange["values"][] }>([
          ...["samples", chip, file, String(count), "--"],
          ...metrics,
        ])
      ).samples,
  };
}

const askedOf = (question: string, way: CollectionWay): string =>
  way === "ranges" ? question : `sampling_${question}`;

/** Why there is no answer, as native/chip_metrics tells it. */
interface Failure {
  readonly kind: string;
  readonly message: string;
}

type Told<Answer> = { readonly answer: Answer } | { readonly failure: Failure };

/** The library answers within a second; a machine may be busy. */
const LIMIT_MS = 60_000;
/** All names of a chip take 200 kB. */
const MAX_BYTES = 32e6;

async function questionTo<Answer>(
  { program, library }: MetricLibraryPlace,
  question: readonly string[],
): Promise<Told<Answer>> {
  const { stdout, why } = await askProgram({
    argv: [program, library, ...question],
    limitMs: LIMIT_MS,
    maxBytes: MAX_BYTES,
  });
  const document = documentIn<Answer & { readonly failure?: Failure }>(stdout);
  if (document === null)
    return { failure: { kind: "ended", message: why === "" ? "it did not answer" : why } };
  return document.failure === undefined ? { answer: document } : { failure: document.failure };
}

function documentIn<Document>(text: string): Document | null {
  try {
    return JSON.parse(text) as Document;
  } catch {
    // What a program that was ended had printed until then.
    return null;
  }
}

const libraryError = (kind: string, message: string, { library }: MetricLibraryPlace): ToolError =>
  kind === "library_version"
    ? new ToolError({
        tool: "CUPTI",
        code: "profile.metric_library_version",
        message,
        hint: "install CUPTI of CUDA 12.6 or newer (Python package nvidia-cuda-cupti), and set HYDRACONF_CUPTI_PATH to its path",
      })
    : new ToolError({
        tool: "CUPTI",
        code: "profile.metric_library",
        message: `${library}: ${message}`,
        hint: "set HYDRACONF_CUPTI_PATH to the path of another libcupti, of CUDA 12.6 or newer",
      });

/** @param chips those that can be asked about */
export function unknownChip(chip: string, chips: readonly string[]): ConfigError {
  const near = nearest(chip.toUpperCase(), chips);
  return new ConfigError({
    code: "profile.chip",
    key: "pipeline.ncu.chip",
    message: `NVIDIA's library does not know chip '${chip}'`,
    available: chips,
    ...(near !== undefined && { nearest: near }),
  });
}
