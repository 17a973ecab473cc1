import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { packageInfo } from "../package-root.ts";
import type { RegionReportBundle } from "../report/document.ts";
import type { Collection, Collector } from "./collectors/collector.ts";
import { createRecorder } from "./collectors/recorder.ts";
import type { ProfileConfig } from "./config.ts";
import { resolveDevice } from "./device.ts";
import { describeInputs, type RunInputs } from "./inputs.ts";
import { describeMachine, type MachineEnvironment } from "./machine/environment.ts";
import { queryGpus } from "./machine/gpu.ts";
import {
  describeOutcome,
  type ProcessOutcome,
  type StopRequests,
  succeeded,
} from "./machine/process.ts";
import { hasGpuBackend, type NativePart, requireNative } from "./native.ts";
import type { Progress } from "./progress.ts";
import { buildRegionModel } from "./regions/index.ts";
import { toReportBundle } from "./regions/to-report.ts";
import { createWorkload } from "./workload/index.ts";
import type { Workload } from "./workload/workload.ts";

export interface ProfileRequest {
  /** Composed, resolved and validated. */
  readonly config: ProfileConfig;
  /** `sha256:` and the hash of the resolved config. */
  readonly fingerprint: string;
  /** Absolute path of the run directory; exists. */
  readonly runDirectory: string;
  /** Where the user stands. */
  readonly cwd: string;
  readonly progress: Progress;
  /** Told a line at a time what goes on, e.g. the native build. */
  readonly say: (line: string) => void;
  readonly interrupt: StopRequests;
}

/** What a run found out, whether its workload succeeded or not. */
export interface ProfileResult {
  readonly collector: Collector["name"];
  readonly workload: Workload;
  readonly environment: MachineEnvironment;
  readonly inputs: RunInputs;
  readonly outcome: ProcessOutcome;
  readonly bundle: RegionReportBundle;
}

/**
 * Profiles: prepares the workload, runs it under the collector, and attributes what was seen to
 * regions. Writes only below the run directory's folder of the collector.
 *
 * @throws ConfigError before anything was measured: a device that is not there, nothing to run, a
 *   native part that cannot be built
 */
export async function profile(request: ProfileRequest): Promise<ProfileResult> {
  const { config, runDirectory } = request;
  const [gpus, native] = await Promise.all([queryGpus(), requireNative(request.say)]);
  const device = resolveDevice(config.device, gpus, hasGpuBackend(native));
  const workload = createWorkload(config, {
    cwd: request.cwd,
    device,
    shallowResnet: native.shallowResnet,
  });
  const { version } = packageInfo();
  const environment = describeMachine(gpus, { hydraconf: version, native: native.info });
  const inputs = await describeInputs(workload);

  const collector = createCollector(config, native);
  request.say(`recording ${workload.label} with the ${collector.name}`);
  const directory = join(runDirectory, collector.name);
  mkdirSync(directory, { recursive: true });
  const collection = await collector.collect(workload, {
    directory,
    interrupt: request.interrupt,
    progress: request.progress,
  });

  return {
    collector: collector.name,
    workload,
    environment,
    inputs,
    outcome: collection.outcome,
    bundle: attribute(collection, request, { workload, environment }),
  };
}

/** The recorder is the only collector so far; `checkRequest` has turned the others away. */
function createCollector(config: ProfileConfig, native: NativePart): Collector {
  return createRecorder({
    library: native.regionRecorder,
    operationDomains: config.pipeline.recorder.operation_domains,
  });
}

function attribute(
  collection: Collection,
  { config, fingerprint }: ProfileRequest,
  { workload, environment }: Pick<ProfileResult, "workload" | "environment">,
): RegionReportBundle {
  const { recorder, report } = config.pipeline;
  const model = buildRegionModel(collection.timeline, {
    operationDomains: recorder.operation_domains,
    selection: { include: recorder.include, exclude: recorder.exclude },
    aggregate: report.aggregate,
  });
  return toReportBundle(model, {
    generatedAt: new Date().toISOString(),
    configFingerprint: fingerprint,
    collectorVersion: environment.hydraconf,
    environment: {
      hostname: environment.hostname,
      os: environment.os,
      cpu: environment.cpu,
      gpus: environment.gpus.map((gpu) => gpu.name),
      command: workload.argv,
      device: workload.device,
      hydraconf_version: environment.hydraconf,
    },
    notes: [...collection.notes, ...outcomeNotes(collection.outcome)],
  });
}

/** A report of a workload that did not end well must say so. */
function outcomeNotes(outcome: ProcessOutcome): readonly string[] {
  if (succeeded(outcome)) return [];
  return [`${describeOutcome(outcome)}: the report covers what was recorded until then`];
}
