/** The collector around an nsys that behaves as told; `tests/e2e/nsys.test.ts` has the real one. */
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isCodedError } from "../../../../src/engine/values/errors.ts";
import type { Workload } from "../../../../src/profiler/machine/process.ts";
import { createNsys, keepDocument } from "../../../../src/profiler/tools/nsys/nsys-collector.ts";
import type { NsysSettings } from "../../../../src/profiler/tools/profiler-config.ts";
import { type CollectContext, silentProgress } from "../../../../src/profiler/tools/tool.ts";
import { growth } from "../../../growth.ts";
import { globalId, temporary, writeExport } from "./exports.ts";
import { settings } from "./settings.ts";

describe("nsys", () => {
  /** What the nsys of a test does; shell lines. `$out` is the report's path without extension. */
  interface Behaviour {
    readonly profile?: string;
    readonly export?: string;
    readonly stats?: string;
  }

  const RECORDS =
    'run_app; status=$?; echo "Generating report"; touch "$out.nsys-rep"; exit $status';

  /** Puts an nsys into a folder of its own and makes it the one that is found. */
  function installNsys({ profile = RECORDS, export: exports, stats = "exit 0" }: Behaviour): void {
    const folder = temporary();
    const sqlite = writeExport({
      NVTX_EVENTS: [{ start: 1, end: 5, eventType: 59, text: "A", globalTid: globalId(7, 7) }],
    });
    const script = `#!/bin/sh
command=$1; shift
case "$command $1" in
  "--version "*) echo "NVIDIA Nsight Systems version 2099.1.2.3-456v0"; exit 0 ;;
  "profile --help") printf '\\t--cpuctxsw=\\n\\t-t, --trace=\\n\\t(Experimental) --nic-metrics=\\n'; exit 0 ;;
esac
for word; do
  case "$word" in
    --output=*) out=\${word#--output=} ;;
    --*) ;;
    *) break ;;
  esac
done
run_app() { while case "$1" in --*) true ;; *) false ;; esac; do shift; done; "$@"; }
case "$command" in
  profile) ${profile.replaceAll("run_app", 'run_app "$@"')} ;;
  export) ${exports ?? `cp ${sqlite} "$out"`} ;;
  stats) ${stats} ;;
esac
`;
    writeFileSync(join(folder, "nsys"), script);
    chmodSync(join(folder, "nsys"), 0o755);
    vi.stubEnv("HYDRACONF_NSIGHT", folder);
  }

  function workload(script: string, stdout: Workload["stdout"] = "document"): Workload {
    return {
      label: "prog",
      argv: ["sh", "-c", script],
      cwd: temporary(),
      env: {},
      stdout,
      device: null,
      inputFiles: [],
    };
  }

  const DOCUMENT = `printf '{\\n  "layers": []\\n}\\n'`;

  async function collect(
    behaviour: Behaviour,
    program = DOCUMENT,
    changes: Partial<NsysSettings> = {},
  ) {
    installNsys(behaviour);
    const directory = temporary();
    const said: string[] = [];
    const never = new AbortController().signal;
    const context: CollectContext = {
      directory,
      interrupt: { stop: never, kill: never },
      progress: silentProgress,
      say: (line) => void said.push(line),
      earlier: [],
    };
    const collection = await createNsys(settings(changes)).collect(workload(program), context);
    const timeline = collection.measured.kind === "timeline" ? collection.measured.timeline : null;
    const file = (name: string) => readFileSync(join(directory, name), "utf8");
    return { ...collection, timeline, said, file };
  }

  beforeEach(() => vi.stubEnv("PATH", process.env["PATH"]));
  afterEach(() => vi.unstubAllEnvs());

  describe("the collector of Nsight Systems", () => {
    it("brings ranges, nsys's version and the program's outcome; keeps the commands", async () => {
      const { timeline, toolVersion, outcome, problem, file } = await collect({});
      expect(timeline?.processes[0]?.ranges.map(({ name }) => name)).toEqual(["A"]);
      expect(toolVersion).toBe("2099.1.2.3");
      expect(outcome).toMatchObject({ exitCode: 0, argv: ["sh", "-c", DOCUMENT] });
      expect(problem).toBeUndefined();
      const commands = file("cmd.txt").trimEnd().split("\n");
      expect(commands.map((line) => line.split(" ")[1])).toEqual(["profile", "export", "stats"]);
      // This nsys knows --cpuctxsw and not --cuda-graph-trace.
      expect(commands[0]).toContain("--cpuctxsw=none");
      expect(commands[0]).not.toContain("cuda-graph-trace");
    });

    it("keeps the program's document apart from what nsys prints around it", async () => {
      const profile = `printf 'Capture range started\\n[1/1] [0%%     ] run.nsys-rep'; ${RECORDS}`;
      const { file } = await collect({ profile });
      expect(JSON.parse(file("stdout.json"))).toEqual({ layers: [] });
    });

    it("keeps what was recorded of a program that fails, with its exit code", async () => {
      const { outcome, timeline, problem } = await collect({}, "exit 3");
      expect(outcome.exitCode).toBe(3);
      expect(timeline?.processes).toHaveLength(1);
      expect(problem).toBeUndefined();
    });

    it("reads every report of a capture range that repeats", async () => {
      const profile = 'run_app; touch "$out.1.nsys-rep" "$out.2.nsys-rep" "$out.10.nsys-rep"';
      const { timeline, file, partial } = await collect({ profile }, DOCUMENT, {
        capture_range: "nvtx",
        capture_range_end: "repeat:3",
      });
      expect(timeline?.processes).toHaveLength(3);
      expect(timeline?.notes).toContain("3 capture ranges were recorded one after the other");
      const summaries = [...file("cmd.txt").matchAll(/--output=\S*\/(summary\S*)/g)];
      expect(summaries.map(([, name]) => name)).toEqual(["summary.1", "summary.2", "summary.10"]);
      expect(partial).toBe(true);
    });

    it("removes summaries that nsys left empty", async () => {
      const stats = 'echo a,b > "${out}_nvtx_sum.csv"; : > "${out}_cuda_gpu_kern_sum.csv"';
      const { file } = await collect({ stats });
      expect(file("summary_nvtx_sum.csv")).toBe("a,b\n");
      expect(() => file("summary_cuda_gpu_kern_sum.csv")).toThrow("ENOENT");
    });

    it("goes on without nsys stats, and says so", async () => {
      const { notes, problem, timeline } = await collect({ stats: "exit 1" });
      expect(notes).toEqual(["nsys stats failed: its summaries are incomplete"]);
      expect([problem, timeline?.processes.length]).toEqual([undefined, 1]);
    });

    it("warns where the capture range has no range, and records the whole run", async () => {
      const { said, notes, timeline } = await collect({}, DOCUMENT, {
        capture_range: "nvtx",
        nvtx_capture: "",
      });
      const warning = expect.stringContaining("recording the whole run");
      expect([said, notes]).toEqual([[warning], [warning]]);
      expect(timeline?.processes).toHaveLength(1);
    });

    it("says what could not be sampled", async () => {
      const profile = `echo "WARNING: CPU IP/backtrace sampling not supported, disabling." >&2; ${RECORDS}`;
      const { notes, problem } = await collect({ profile });
      expect(notes).toEqual([expect.stringContaining("could not sample the CPU")]);
      expect(problem).toBeUndefined();
    });
  });

  describe("a warning of nsys", () => {
    it.each([
      ["- CPU IP/backtrace sampling will be disabled.", "could not sample the CPU"],
      ["- CPU context switch tracing will be disabled.", "could not trace context switches"],
      [
        "The target application terminated. One or more process it created re-parented.",
        "pipeline.nsys.extra_args=[--wait,primary]",
      ],
    ])("is a note: %s", async (line, words) => {
      const { notes, problem } = await collect({ profile: `echo "${line}" >&2; ${RECORDS}` });
      expect(notes).toEqual([expect.stringContaining(words)]);
      expect(problem).toBeUndefined();
    });
  });

  describe("a failure of nsys", () => {
    const cases: readonly (readonly [string, Behaviour, Partial<NsysSettings>, string, string])[] =
      [
        [
          "a capture range that never began",
          { profile: 'run_app; echo "Generated:"' },
          { capture_range: "nvtx", nvtx_capture: "nosuch" },
          "nsys recorded nothing: the range nosuch (pipeline.nsys.nvtx_capture) never began",
          "capture_range=none",
        ],
        [
          "a program that never starts the profiler",
          { profile: "run_app" },
          { capture_range: "cudaProfilerApi" },
          "nsys recorded nothing: the program never called cudaProfilerStart",
          "capture_range=none",
        ],
        [
          "a capture range that never began in a program that speaks of errors",
          {
            profile:
              'run_app; echo "0 errors in 3 steps" >&2; printf "Generated:\\n\\tNo reports were generated\\n" >&2',
          },
          { capture_range: "cudaProfilerApi" },
          "nsys recorded nothing: the program never called cudaProfilerStart",
          "capture_range=none",
        ],
        [
          "nothing to report (a public issue)",
          { profile: 'run_app; printf "Generated:\\n\\tNo reports were generated\\n" >&2' },
          {},
          "nsys wrote no report: nsys had nothing to report",
          "stderr.txt",
        ],
        [
          "events in a wrong order (many repositories, nsys 2023.4)",
          {
            profile: `run_app; printf 'Importer error status: Importation failed.\\n    Value: "Wrong event order has been detected when adding events to the collection"\\nGenerated:\\n    run.qdstrm\\n' >&2`,
          },
          {},
          "nsys wrote no report: nsys recorded, but cannot make a report: it considers",
          "2024.2",
        ],
        [
          "an importer that fails (a notebook's user)",
          { profile: 'run_app; echo "Importer error status: An unknown error occurred." >&2' },
          {},
          "nsys wrote no report: nsys recorded, but failed to make the report",
          "QdstrmImporter -i",
        ],
        [
          "GPU times that it cannot translate (a public issue on a rented container)",
          {
            profile:
              'run_app; echo "FATAL ERROR: TimeConversion.cpp(561): Throw in function ConvertGpuTicksToSyncNs" >&2; echo "std::exception::what: InternalErrorException" >&2; exit 139',
          },
          {},
          "nsys wrote no report: nsys could not convert the times of this GPU",
          "trace=nvtx",
        ],
        [
          "counters that another tool holds (a cluster with DCGM)",
          { profile: 'echo "NVIDIA L40S PCI[0] - Already under profiling" >&2; exit 1' },
          { extra_args: ["--gpu-metrics-devices=all"] },
          "nsys wrote no report: another tool holds the GPU counters",
          "dcgmi profile --pause",
        ],
        [
          "an option for root (the binary of 2023.4)",
          { profile: 'echo "ERROR: --ftrace option requires root privileges." >&2; exit 1' },
          {},
          "nsys wrote no report: nsys lacks a permission",
          "sample=none",
        ],
        [
          "an importer that does not run",
          {
            profile:
              'run_app; touch "$out.qdstrm"; echo "Importer error status: The importer binary and its dependencies were not found." >&2',
          },
          {},
          "nsys wrote no report: nsys recorded, but its importer",
          "install all of Nsight Systems",
        ],
        [
          "an option that this nsys does not know",
          {
            profile: `printf "unrecognised option '--bogus=1'\\n\\nusage: nsys profile [<args>] [application] [<application args>]\\nTry 'nsys profile --help' for more information.\\n" >&2; exit 1`,
          },
          { extra_args: ["--bogus=1"] },
          "nsys wrote no report: nsys does not accept an option or its value",
          "pipeline.nsys.extra_args",
        ],
        [
          "a lost agent",
          { profile: 'run_app; echo "Connection to Agent lost." >&2' },
          { capture_range: "nvtx" },
          "nsys wrote no report: nsys lost its own agent process",
          "capture_range_end=stop",
        ],
        [
          "a failure of which nothing is known",
          { profile: 'echo "the moon is full" >&2; exit 9' },
          {},
          "nsys wrote no report: last line of their output: the moon is full",
          "",
        ],
        [
          "a report of a newer version",
          {
            export:
              'echo "Report was created in version 2030, which is newer than your current version" >&2; exit 1',
          },
          {},
          "nsys could not export run.nsys-rep; the file is kept: the report was written by another version",
          "HYDRACONF_NSIGHT",
        ],
        [
          "an export that cannot be read",
          { export: 'echo nonsense > "$out"' },
          {},
          "run.sqlite is not a readable nsys export",
          "nsys export --type sqlite",
        ],
      ];

    it.each(cases)("%s is explained", async (_, behaviour, changes, message, hint) => {
      const { problem, timeline } = await collect(behaviour, DOCUMENT, changes);
      expect(problem?.message).toContain(message);
      expect(problem?.details.hint ?? "").toContain(hint);
      expect(timeline?.processes).toEqual([]);
    });

    it("an nsys that does not even tell its version is one before anything runs", async () => {
      installNsys({});
      writeFileSync(
        join(process.env["HYDRACONF_NSIGHT"] ?? "", "nsys"),
        "#!/bin/sh\necho 'libfoo.so is missing' >&2; exit 127\n",
      );
      const collecting = createNsys(settings({})).collect(workload("true"), {} as CollectContext);
      const error = await collecting.catch((caught: unknown) => caught);
      if (!isCodedError(error)) throw error;
      expect(error.code).toBe("nsys.failed");
      expect(error.message).toContain("libfoo.so is missing");
    });
  });
});

describe("own output", () => {
  const file = join(temporary(), "stdout.json");
  const kept = async (text: string) => {
    writeFileSync(file, text);
    const rest = await keepDocument(file);
    return { rest, document: readFileSync(file, "utf8") };
  };

  it.each([
    ['{\n "a": 1\n}\n', '{\n "a": 1\n}\n', "\n"],
    [
      'Collecting data...\n{\n "a": {\n  "b": 1\n }\n}\nGenerated:\n',
      '{\n "a": {\n  "b": 1\n }\n}\n',
      "Collecting data...\n\nGenerated:\n",
    ],
    ["{\n}", "{\n}\n", ""],
    ["{\nno JSON\n}\n", "{\nno JSON\n}\n", "{\nno JSON\n}\n"],
    ["nothing", "nothing", "nothing"],
  ])("of %j keeps the document", async (text, document, rest) => {
    expect(await kept(text)).toEqual({ document, rest });
  });

  it("takes no longer for a program that begins many documents and ends none", async () => {
    expect(await growth((lines) => kept("{\n".repeat(lines)), 5000)).toBeLessThan(40);
  });
});
