/** The recorder alone, or all: the built-in workload, too. */
export type NativeParts = "recorder" | "all";

/** How to build; the defaults are what the commands use. */
export interface NativeBuildOptions {
  /** What is needed; `all` by default. What is there beyond that stays. */
  readonly parts?: NativeParts;
  /** Build here instead of in the package: the programs come to lie in `<out>/build/Release`. */
  readonly out?: string;
  /** Use the NVTX client of our own even where NVIDIA's headers are present. */
  readonly ownNvtx?: boolean;
  /** Instrument with sanitizers, e.g. `address,undefined`. */
  readonly sanitize?: string;
}

export interface NativeBuildRequest extends NativeBuildOptions {
  /** The package's directory: the one with package.json, binding.gyp and native/. */
  readonly root: string;
  /** Say nothing at all. */
  readonly quiet?: boolean;
  /** Gets one line at a time; standard error by default. */
  readonly log?: (line: string) => void;
  /** Take what this machine and the environment say alone, and nothing from the last build. */
  readonly afresh?: boolean;
  /** Compute capabilities of GPUs that it is to be for beside those that answer the build: `[90]` for 9.0. */
  readonly gpus?: readonly number[];
  /** Ends what builds, with all that it started; what was half built is removed. */
  readonly signal?: NativeBuildStop;
}

/** The platform's `AbortSignal`; where no types declare it, what is used of it. */
export type NativeBuildStop = typeof globalThis extends {
  AbortSignal: { prototype: infer Platform };
}
  ? Platform
  : { readonly aborted: boolean; readonly reason: unknown };

/** What native/detect.py found on this machine. */
export interface NativeDetection {
  readonly version: string;
  readonly compiler: {
    readonly command: string;
    readonly version: string | null;
    readonly banner: string | null;
  };
  readonly nvcc: {
    readonly path: string;
    readonly version: string;
    readonly root: string;
    /** Directories of cuda_runtime_api.h and libcudart_static.a. */
    readonly include: string | null;
    readonly library: string | null;
  } | null;
  readonly nvtx: {
    readonly include: string;
    readonly source: "NVTX_ROOT" | "toolkit";
    readonly cuda: string | null;
  } | null;
  readonly cudnn: {
    readonly include: string;
    readonly version: string | null;
    /** Directory of libcudnn.so.9. */
    readonly library: string | null;
    /** Directories of what it loads while it runs. */
    readonly search: readonly string[];
    /** Why it cannot be used; null where it can. */
    readonly unusable: string | null;
  } | null;
  /** Whether the GPU backend is to be built: decided by HYDRACONF_CUDA, nvcc and the GPUs here. */
  readonly cuda:
    | {
        readonly build: false;
        readonly required: false;
        readonly reason: string;
        readonly gpus: readonly number[] | null;
      }
    | {
        readonly build: true;
        /** Asked for: a failure is an error. */
        readonly required: boolean;
        readonly reason: null;
        /** Compute capabilities that it was made for; null where that was not left to the GPUs that are there. */
        readonly gpus: readonly number[] | null;
        readonly gencode: readonly string[];
        readonly targets: string;
      };
}

/** What was built for GPUs. */
export interface NativeGpuPart {
  readonly built: boolean;
  /** `sm_90+compute_90`: machine code for the first, intermediate code of the last. */
  readonly targets: string | null;
  /** What convolutions can be computed with: `cudnn`, `cuda`. */
  readonly libraries: readonly ("cudnn" | "cuda")[];
  /** Why not, or why without cuDNN. */
  readonly reason: string | null;
}

/** The content of `build/Release/build-info.json`. */
export interface NativeBuildInfo {
  readonly version: string;
  readonly parts: NativeParts;
  /** Fingerprint of sources, options and build environment. */
  readonly sources: string;
  /** The variables of the environment that it was built with; the next build takes those that are not set then. */
  readonly environment: Readonly<Record<string, string>>;
  readonly detected: NativeDetection;
  /** Device kinds that shallow_resnet can use; none if only the recorder was built. */
  readonly backends: readonly string[];
  readonly gpu: NativeGpuPart;
  readonly nvtx: "nvtx3 headers" | "own client";
  readonly sanitize: string | null;
  /** One line for people. */
  readonly summary: string;
  /** File names in the directory of programs. */
  readonly outputs: readonly string[];
}

export interface NativeBuildResult {
  /** Whether anything had to be compiled. */
  readonly built: boolean;
  /** Absolute directory of `shallow_resnet`, `region_recorder.so`, ... */
  readonly binDir: string;
  readonly info: NativeBuildInfo;
}

export interface NativeStatus {
  readonly state: "ready" | "stale" | "absent";
  readonly binDir: string;
  readonly info: NativeBuildInfo | null;
}

export declare class NativeBuildError extends Error {
  constructor(message: string, log?: string, hint?: string | null);
  /** What node-gyp and the compiler printed. */
  readonly log: string;
  /** What to do about it; null: see that the tools that are needed are there. */
  readonly hint: string | null;
}

/** The programs of which the first that is a Python 3 is built with: as node-gyp takes it from the environment. */
export declare function pythonCandidates(
  env: Readonly<Record<string, string | undefined>>,
): readonly string[];

/**
 * The first of them that runs and is new enough, in full, null where none is; and those before it that are too old, in words.
 *
 * @param ask what a command prints; null where it does not run
 */
export declare function findPython(
  env: Readonly<Record<string, string | undefined>>,
  ask: (argv: readonly string[]) => Promise<string | null>,
): Promise<{ readonly path: string | null; readonly tooOld: readonly string[] }>;

/** What is said where there is none. */
export declare function pythonNeeded(tooOld: readonly string[]): string;

/** Whether the native part stands ready; runs nothing. */
export declare function nativeStatus(
  root: string,
  options?: NativeBuildOptions,
): Promise<NativeStatus>;

/**
 * Whether a build is for GPUs of these compute capabilities, as far as it can be: one that was left to what is there may have been
 * made on a machine without them.
 */
export declare function servesGpus(info: NativeBuildInfo, gpus: readonly number[]): boolean;

/** Builds what is not up to date. Throws NativeBuildError, and where `signal` aborts its reason. */
export declare function buildNative(request: NativeBuildRequest): Promise<NativeBuildResult>;
