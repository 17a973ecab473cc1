/** What nsys says when something went wrong, what it means, and what helps. */
import { ConfigError } from "../../../values/errors.ts";
import { lastLine } from "./tool.ts";

interface Failure {
  readonly says: RegExp;
  readonly means: string;
  readonly hint: string;
}

const FAILURES: readonly Failure[] = [
  {
    says: /newer than (?:your|the) current version|created (?:in|by) .* which is newer|Invalid version prefix/i,
    means:
      "the report was written by another version of Nsight Systems than the nsys that reads it",
    hint: "read it with an nsys at least as new (put its folder into HYDRACONF_NSIGHT), or give what such an nsys makes of it: nsys export --type sqlite REPORT.nsys-rep",
  },
  {
    says: /importer binary and its dependencies were not found|Importer error|importation of the QDSTRM/i,
    means: "nsys recorded, but its importer, which makes the report of it, does not run",
    hint: "install the whole of Nsight Systems (its host part, too); the .qdstrm file can be imported later",
  },
  {
    says: /unrecogni[sz]ed option|Illegal --|Invalid (?:value|argument)/i,
    means: "nsys does not know an option or its value",
    hint: "nsys profile --help lists those of this version; pipeline.nsys and pipeline.nsys.extra_args set them",
  },
  {
    says: /No space left on device/i,
    means: "the disk is full",
    hint: "nsys writes to TMPDIR first: choose one with more room, or record less (pipeline.nsys.capture_range)",
  },
  {
    says: /Permission denied|not permitted|paranoid/i,
    means: "nsys lacks a permission",
    hint: "pipeline.nsys.sample=none needs none; sampling needs kernel.perf_event_paranoid of at most 2 (sudo sysctl kernel.perf_event_paranoid=2)",
  },
  {
    says: /Connection to Agent lost|daemon (?:crashed|is not running)/i,
    means: "nsys lost its own agent process",
    hint: "run it again; with a capture range, pipeline.nsys.capture_range_end=stop lets the program run to its end",
  },
];

/** Makes an error of what nsys said when it brought nothing. */
export function nsysFailure(what: string, said: string): ConfigError {
  const failure = FAILURES.find(({ says }) => says.test(said));
  const words = lastLine(said);
  return new ConfigError({
    code: "nsys.failed",
    message: `${what}: ${failure?.means ?? (words === "" ? "nsys said nothing" : `nsys says: ${words}`)}`,
    ...(failure !== undefined && { hint: failure.hint }),
  });
}

/** A recording limited to ranges that never began. */
export const emptyCapture = (range: string): ConfigError =>
  new ConfigError({
    code: "nsys.failed",
    message: `nsys recorded nothing: ${range}`,
    hint: "the recorder lists a program's ranges (pipeline.nsys.enable=false); pipeline.nsys.capture_range=none records the whole run",
  });

/** Warnings of a recording that worked; each says what is missing from it. */
export function nsysWarnings(said: string): readonly string[] {
  const warnings: string[] = [];
  if (/CPU (?:IP\/backtrace )?sampling not supported|paranoid/i.test(said))
    warnings.push(
      "nsys could not sample the CPU (kernel.perf_event_paranoid): times of ranges and kernels are not affected",
    );
  if (/CPU context switch tracing not supported/i.test(said))
    warnings.push("nsys could not trace context switches: regions are not affected");
  return warnings;
}
