import { describe, expect, it } from "vitest";
import { nsysFailure, nsysWarnings } from "../../../../src/profiler/tools/nsys/program.ts";

const failureOf = (said: string, speakers: "nsys" | "nsys and program" = "nsys and program") =>
  nsysFailure("nsys wrote no report", said, speakers).message.replace("nsys wrote no report: ", "");

describe("why nsys wrote no report", () => {
  it.each([
    "mkdir: cannot create directory '/data': Permission denied",
    "[Errno 1] Operation not permitted",
    "a paranoid program",
    "OSError: [Errno 22] Invalid argument",
    "train.py: unrecognized option '--lr'",
    "write error: No space left on device",
    "lz4: LZ4 decompression failed",
    "objdump: bad section table",
  ])("is not what the program says: %s", (line) => {
    expect(failureOf(line)).toBe(`last line of their output: ${line}`);
  });

  it.each([
    ['boost::filesystem::create_directories: Permission denied: "/tmp/nvidia"', "a permission"],
    ["Cannot write '/tmp/nsys-report-1.qdstrm': Permission denied", "a permission"],
    [
      "ERROR: --ftrace option requires root privileges or a paranoid level of 0 or less.",
      "a permission",
    ],
    ['boost::filesystem::copy_file: No space left on device: "/tmp/x"', "the disk is full"],
    ["unrecognised option '--bogus=1'\n\nusage: nsys profile [<args>] [application]", "an option"],
    ["Illegal --trace argument 'bogus'", "an option"],
    [
      "Illegal --gpu-metrics-device argument: 0.\nThe user running nsys does not have permission to access NVIDIA GPU Performance Counters on the target device. For more details, please visit https://developer.nvidia.com/ERR_NVGPUCTRPERM\n\nusage: nsys profile [<args>] [application]",
      "may not read the GPU counters",
    ],
  ])("is what nsys says between its lines: %s", (text, means) => {
    expect(failureOf(`epoch 1\nPermission granted\n${text}\nepoch 2`)).toContain(means);
  });

  it("is not that it samples no CPU, of which it warns in recordings that work", () => {
    const warning =
      "Collection of CPU IP/backtrace samples or context switch data disabled. perf event paranoid level is 4.";
    expect(failureOf(`${warning}\nConnection to Agent lost`)).toContain("lost its own agent");
  });

  it("is in any words where nsys speaks alone", () => {
    expect(failureOf("open: Permission denied", "nsys")).toBe("nsys lacks a permission");
    expect(failureOf("Segmentation fault", "nsys")).toBe("nsys says: Segmentation fault");
    expect(failureOf("", "nsys")).toBe("nsys printed nothing");
  });

  it.each([
    "Exportation error: LZ4 decompression failed.",
    "std::exception::what: ProtobufParseException",
    "[boost::errinfo_api_function_*] = parseProtobufFromStream",
    "Exportation error: Section Table Reference magic number mismatch",
    "Exportation error: Failed to read section table.",
  ])("can be a damaged report: %s", (line) => {
    expect(failureOf(line, "nsys")).toBe("the report is damaged or truncated");
  });
});

it("what a program says is no warning of nsys", () => {
  expect(nsysWarnings("feeling paranoid today\nsampling not supported")).toEqual([]);
  const said =
    "Collection of CPU IP/backtrace samples or context switch data disabled. perf event paranoid level is 4.";
  expect(nsysWarnings(`epoch 1\n${said}\n`)).toEqual([
    expect.stringContaining("could not sample the CPU"),
  ]);
});
