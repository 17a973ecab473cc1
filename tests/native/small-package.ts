import { chmodSync, cpSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";

const repository = fileURLToPath(new URL("../..", import.meta.url));

const gypOf = (more: string): string => `{
  'includes': ['native/settings.gypi'],
  'targets': [{
    'target_name': 'hello',
    'type': 'executable',
    'sources': ['<!@("<(python)" native/detect.py sources native/hello)'],${more}
  }],
}`;

/** The rule of the real binding.gyp, in short. */
const CUDA_RULE = `
    'conditions': [['cuda==1', {
      'sources': ['<!@("<(python)" native/detect.py sources native/hello .cu)'],
      'rules': [{
        'rule_name': 'nvcc',
        'extension': 'cu',
        'outputs': ['<(INTERMEDIATE_DIR)/<(RULE_INPUT_ROOT).cu.o'],
        'process_outputs_as_sources': 1,
        'action': ['<(nvcc)', '<@(cuda_gencode)', '-c', '<(RULE_INPUT_PATH)', '-o', '<@(_outputs)'],
      }],
    }]],`;

/** A package of one small program `hello`, built by the real settings, detection and node-gyp. */
export function writeSmallPackage(): string {
  const root = mkdtempSync(join(tmpdir(), "native build ü-"));
  mkdirSync(join(root, "native/hello"), { recursive: true });
  for (const name of [
    "native/detect.py",
    "native/detection",
    "native/settings.gypi",
    "native/node-settings",
  ])
    cpSync(join(repository, name), join(root, name), { recursive: true });
  cpSync(join(repository, "package.json"), join(root, "package.json"));
  symlinkSync(join(repository, "node_modules"), join(root, "node_modules"));
  writeFileSync(join(root, "binding.gyp"), gypOf(""));
  writeFileSync(join(root, "native/hello/main.cc"), program("one"));
  return root;
}

export const program = (text: string): string =>
  `#include <cstdio>\n#include <stdexcept>\nint main() { std::puts("${text}"); return 0; }\n`;

/** Runs it. */
export const hello = async (binDir: string): Promise<string> =>
  (await execa(join(binDir, "hello"))).stdout;

export interface FakeToolkit {
  /** What CUDA_HOME says of it. */
  readonly home: string;
  /** Directory of nvidia-smi, for PATH. */
  readonly smi: string;
}

/**
 * Gives the package a kernel, and a toolkit that is real enough to be found: it knows GPUs of 8.0 and 9.0.
 *
 * @param compiles whether its compiler works
 * @param gpu the compute capability of this machine's GPU; null for none
 */
export function addFakeToolkit(
  root: string,
  { compiles, gpu }: { readonly compiles: boolean; readonly gpu: string | null },
): FakeToolkit {
  const home = join(root, "fake");
  const smi = join(root, "smi");
  for (const file of ["include/cuda_runtime_api.h", "lib64/libcudart_static.a"])
    writeInto(join(home, file), "");
  writeTool(
    join(home, "bin/nvcc"),
    `case "$*" in
      *--list-gpu-arch*) echo compute_80; echo compute_90 ;;
      *--dryrun*) echo "#$ _HERE_=${home}/bin" ;;
      *--version*) echo "release 13.0, V13.0.88" ;;
      *) ${compiles ? COMPILE : 'echo "nvcc fatal: unsupported host compiler" >&2; exit 1'} ;;
    esac`,
  );
  setGpu(smi, gpu);
  writeInto(join(root, "native/hello/kernel.cu"), "");
  writeFileSync(join(root, "binding.gyp"), gypOf(CUDA_RULE));
  return { home, smi };
}

/** The host compiler, of the same arguments but for those that it does not know. */
const COMPILE = `shift $(($# - 4)); exec c++ -x c++ "$@"`;

export const setGpu = (smi: string, gpu: string | null): void =>
  writeTool(join(smi, "nvidia-smi"), gpu === null ? "exit 9" : `echo ${gpu}`);

function writeTool(path: string, script: string): void {
  writeInto(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}

function writeInto(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
