import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  containerNote,
  type Host,
  injectionFor,
} from "../../../../src/profiler/tools/recorder/injection.ts";

const X86_64 = 62;
const AARCH64 = 183;
const HOST: Host = { machine: X86_64, is64: true, isMusl: false };

interface Sketch {
  readonly machine?: number;
  readonly is64?: boolean;
  readonly little?: boolean;
  /** Null: linked statically. */
  readonly interpreter?: string | null;
  readonly text?: string;
}

/** The header of a program, and what it needs to be loaded. */
function elf({
  machine = X86_64,
  is64 = true,
  little = true,
  interpreter = "/lib64/ld-linux-x86-64.so.2",
  text = "",
}: Sketch): Buffer {
  const bytes = Buffer.alloc(512);
  const u16 = (value: number, at: number) =>
    little ? bytes.writeUInt16LE(value, at) : bytes.writeUInt16BE(value, at);
  const u32 = (value: number, at: number) =>
    little ? bytes.writeUInt32LE(value, at) : bytes.writeUInt32BE(value, at);
  const word = (value: number, at: number) => {
    if (!is64) u32(value, at);
    else if (little) bytes.writeBigUInt64LE(BigInt(value), at);
    else bytes.writeBigUInt64BE(BigInt(value), at);
  };
  bytes.write("\x7fELF", 0, "latin1");
  bytes[4] = is64 ? 2 : 1;
  bytes[5] = little ? 1 : 2;
  u16(machine, 18);
  word(64, is64 ? 32 : 28);
  u16(is64 ? 56 : 32, is64 ? 54 : 42);
  u16(1, is64 ? 56 : 44);
  u32(interpreter === null ? 1 : 3, 64);
  word(256, 64 + (is64 ? 8 : 4));
  word((interpreter ?? "").length + 1, 64 + (is64 ? 32 : 16));
  bytes.write(`${interpreter ?? ""}\0`, 256, "latin1");
  return Buffer.concat([bytes, Buffer.from(text)]);
}

const folder = mkdtempSync(join(tmpdir(), "injection-"));
const library = join(folder, "region_recorder.so");

function program(name: string, content: Buffer | string, mode = 0o755): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

const noteOf = (path: string, host = HOST) => injectionFor([path], folder, library, host).note;

describe.runIf(process.platform === "linux")("injectionFor", () => {
  it("loads the recorder into programs of this system's C library", () => {
    const path = program("usual", elf({}));
    expect(injectionFor([path], folder, library, HOST)).toEqual({ library, note: null });
    expect(injectionFor(["./usual", "x"], folder, library, HOST).library).toBe(library);
    expect(injectionFor(["/bin/sh"], folder, library)).toEqual({ library, note: null });
  });

  it("never loads it into those of another one, or of another machine", () => {
    const musl = elf({ interpreter: "/lib/ld-musl-x86_64.so.1" });
    expect(noteOf(program("alpine", musl))).toContain(
      "alpine uses another C library (musl) than the recorder (glibc",
    );
    expect(noteOf(program("usual", elf({})), { ...HOST, isMusl: true })).toContain("(glibc)");
    expect(noteOf(program("alpine", musl), { ...HOST, isMusl: true })).toBeNull();
    expect(noteOf(program("arm", elf({ machine: AARCH64 })))).toBe(
      "arm is a program for aarch64 (64 bits), not for x86_64 (64 bits): it runs without the recorder, and no ranges are recorded",
    );
    expect(noteOf(program("small", elf({ machine: 3, is64: false })))).toContain("x86 (32 bits)");
    expect(noteOf(program("big", elf({ machine: 22, little: false })))).toContain("s390");
  });

  it("loads the one for musl where it was built", () => {
    const other = mkdtempSync(join(tmpdir(), "injection-"));
    writeFileSync(join(other, "region_recorder_musl.so"), "");
    const path = program("alpine", elf({ interpreter: "/lib/ld-musl-x86_64.so.1" }));
    expect(injectionFor([path], folder, join(other, "region_recorder.so"), HOST)).toEqual({
      library: join(other, "region_recorder_musl.so"),
      note: null,
    });
  });

  it("leaves static programs alone that would load it, and lets others pass it on", () => {
    const launcher = program("launcher", elf({ interpreter: null }));
    expect(noteOf(launcher)).toBeNull();
    const text = "...NVTX_INJECTION64_PATH...";
    expect(noteOf(program("static", elf({ interpreter: null, text })))).toContain(
      "static is statically linked",
    );
  });

  it("looks at what a script is run by", () => {
    program("alpine", elf({ interpreter: "/lib/ld-musl-x86_64.so.1" }));
    const script = program("script", `#! ${join(folder, "alpine")} -x\necho`);
    expect(noteOf(script)).toContain("alpine uses");
    expect(noteOf(program("by-env", "#!/usr/bin/env -S A=1 sh -e\n"))).toBeNull();
    expect(noteOf(program("endless", `#!${join(folder, "endless")}\n`))).toBeNull();
    expect(noteOf(program("no-header", "echo\n"))).toBeNull();
    expect(noteOf(join(folder, "absent"))).toBeNull();
  });

  it("takes damaged headers for programs that the system refuses", () => {
    for (const length of [0, 3, 20, 60, 70])
      expect(noteOf(program("cut", elf({}).subarray(0, length)))).toBeNull();
  });
});

describe("containerNote", () => {
  it("says what a container must be told", () => {
    expect(containerNote(["docker", "run", "x"], library)).toContain(
      `docker runs its program where the recorder's library may not be: make ${folder}`,
    );
    expect(containerNote(["srun", "/usr/bin/apptainer", "exec"], library)).toContain("apptainer");
    expect(containerNote(["./my_program"], library)).toBeNull();
  });
});
