import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { isCodedError } from "../../../../src/engine/values/errors.ts";
import { importFiles } from "../../../../src/profiler/run/import-files.ts";
import { openSource } from "../../../../src/profiler/tools/source-file.ts";
import { nsightEnvironment, nsightOrSkip } from "../../../nsight.ts";
import { samplesOrSkip } from "../../../shared.ts";
import { globalId, temporary, writeExport } from "./exports.ts";

afterEach(() => vi.unstubAllEnvs());

async function importOne(path: string) {
  const { reports, directory } = await importAll([path]);
  const [report] = reports;
  if (report === undefined) throw new Error("nothing was imported");
  return { ...report, directory };
}

async function importAll(paths: readonly string[]) {
  const directory = join(temporary(), "out");
  mkdirSync(directory);
  const said: string[] = [];
  const reports = await importFiles({
    sources: paths.map((path) => openSource(path, "/")),
    directory,
    reader: "auto",
    numberFormat: null,
    pushPopScope: "thread",
    kernels: { include: [], exclude: [], nameBase: "demangled", top: null },
    include: [],
    exclude: [],
    aggregate: true,
    now: new Date(2026, 0, 2),
    withTool: (work) => work(new AbortController().signal),
    say: (line) => said.push(line),
  });
  return { reports, directory, said };
}

const export7 = () =>
  writeExport({
    NVTX_EVENTS: [{ start: 1, end: 5e6, eventType: 59, text: "A", globalTid: globalId(7, 7) }],
  });

describe("an SQLite export of Nsight Systems", () => {
  it("is known by its content, whatever it is called", async () => {
    const path = export7();
    const renamed = join(dirname(path), "capture.bin");
    copyFileSync(path, renamed);
    const { collector, folder, bundle } = await importOne(renamed);
    expect([collector, folder]).toEqual(["nsys", "nsys"]);
    const [whole] = bundle.reports;
    expect(whole?.regions.map(({ name, wall_ms }) => [name, wall_ms])).toEqual([["A", 4.999999]]);
    expect(whole?.collector).toMatchObject({ name: "nsys", version: "1.2" });
  });

  it("is read once, however often and by whatever names it is given", async () => {
    const path = export7();
    const link = join(dirname(path), "link.sqlite");
    symlinkSync(path, link);
    const { reports, said } = await importAll([path, path, link]);
    expect(reports.map(({ folder }) => folder)).toEqual(["nsys"]);
    expect(said).toEqual([
      `${path} is given twice and is read once`,
      `${link} is the same file as ${path} and is read once`,
      `reading ${path}`,
    ]);
  });

  it("is read once where a copy of it is given, too, and not where another is as long", async () => {
    const path = export7();
    const [copy, other] = [join(temporary(), "copy.sqlite"), join(temporary(), "other.sqlite")];
    copyFileSync(path, copy);
    const bytes = readFileSync(path);
    bytes.writeUInt8(1, bytes.length - 1);
    writeFileSync(other, bytes);
    const { reports, said } = await importAll([path, copy, other]);
    expect(reports.map(({ folder }) => folder)).toEqual(["nsys", "nsys-2"]);
    expect(said).toEqual([
      `${copy} has the same content as ${path} and is read once`,
      `reading ${path}`,
      `reading ${other}`,
    ]);
  });

  it("tells of the machine that was recorded", async () => {
    const path = writeExport({
      TARGET_INFO_GPU: [{ id: 0, name: "Tesla T4", busLocation: "0" }],
      TARGET_INFO_SYSTEM_ENV: [{ name: "Hostname", value: "node7" }],
    });
    const [whole] = (await importOne(path)).bundle.reports;
    const known = { hostname: "node7", gpus: ["Tesla T4"], cpu: "unknown", os: "unknown" };
    expect(whole?.environment).toMatchObject(known);
  });

  const sample = samplesOrSkip("import of a real export");
  it.skipIf(sample === null)("of two GPUs gives a report for each process and device", async () => {
    const path = sample?.("pub-nsysai-h100-2gpu-2026.2-schema3.25.sqlite") ?? "";
    const { bundle } = await importOne(path);
    const scopes = bundle.reports.map(({ scope }) => scope);
    expect(scopes).toEqual([
      "aggregate",
      "process:111",
      "process:112",
      "device:cuda:0",
      "device:cuda:1",
    ]);
  });
});

describe("a report of Nsight Systems", () => {
  it("cannot be read without nsys, which the error says together with what to do", async () => {
    const path = join(temporary(), "run.nsys-rep");
    writeFileSync(path, "NVIDIA Tegra Profiler Report 2023@4");
    vi.stubEnv("HYDRACONF_NSIGHT", "");
    vi.stubEnv("PATH", "");
    const error = await importOne(path).catch((caught: unknown) => caught);
    if (!isCodedError(error)) throw error;
    expect(error.code).toBe("nsys.not_found");
    expect(error.message).toContain("run.nsys-rep can only be read by nsys");
    expect(error.details.hint).toContain("HYDRACONF_NSIGHT");
  });

  const nsys = nsightOrSkip("nsys", "the failing export of a damaged report");
  it.skipIf(nsys === null)("that the real nsys cannot read is an error in its words", async () => {
    for (const [name, value] of Object.entries(nsightEnvironment())) vi.stubEnv(name, value);
    const path = join(temporary(), "run.nsys-rep");
    for (const [text, of] of [
      ["no report at all", ""],
      [
        "NVIDIA Tegra Profiler Report 2091@1@2@63-261237296639v0.",
        ", a report from Nsight Systems 2091.1.2.63",
      ],
    ] as const) {
      writeFileSync(path, text);
      const error = await importOne(path).catch((caught: unknown) => caught);
      if (!isCodedError(error)) throw error;
      expect(error.code).toBe("nsys.failed");
      expect(error.message).toContain(`nsys could not export ${path}${of}: `);
      expect(existsSync(path)).toBe(true);
    }
  });
});
