import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A tree of configs in a temporary directory, of any size. */
export interface GeneratedTree {
  readonly dir: string;
  /** The name of option `option` of group `group` on a command line. */
  choice(group: number, option: number): string;
  /** The texts of the files that a composition without overrides reads. */
  readonly composed: readonly string[];
  remove(): void;
}

/** The primary config chooses the first option of every group. */
export function generateTree(groups: number, options: number): GeneratedTree {
  const dir = mkdtempSync(join(tmpdir(), "hydraconf-bench-"));
  const names = Array.from({ length: groups }, (_, group) => `group_${group}`);
  const primary = `defaults:\n${names.map((name) => `  - ${name}: option_0\n`).join("")}  - _self_\nseed: 1\n`;
  writeFileSync(join(dir, "config.yaml"), primary);
  for (const name of names) {
    mkdirSync(join(dir, name));
    for (let option = 0; option < options; option++)
      writeFileSync(join(dir, name, `option_${option}.yaml`), optionText(name, option));
  }
  return {
    dir,
    choice: (group, option) => `group_${group}=option_${option}`,
    composed: [primary, ...names.map((name) => optionText(name, 0))],
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}

/**
 * A tree as projects have them: parts in groups, each with comments, lists of maps and references, and with a config below it that
 * some of the parts share, at packages of their own. What is composed of it has about `lines` lines.
 */
export function generateProject(lines: number): GeneratedTree {
  const dir = mkdtempSync(join(tmpdir(), "hydraconf-bench-"));
  const parts = Array.from({ length: Math.round(lines / PART_LINES) }, (_, part) => `part_${part}`);
  const files = new Map<string, string>();
  const primary = `defaults:\n  - _self_\n${parts.map((name) => `  - ${name}: base\n`).join("")}  - experiment: tuned\nseed: 1\nroot: /data\n`;
  files.set("config.yaml", primary);
  for (const [index, name] of parts.entries())
    files.set(`${name}/base.yaml`, partText(name, index));
  for (let kind = 0; kind < SHARED; kind++)
    files.set(`layer/kind_${kind}.yaml`, layerText(`kind_${kind}`, kind));
  files.set(
    "experiment/tuned.yaml",
    `# @package _global_\nseed: 2\n${parts.map((name) => `${name}:\n  batch: {size: 64, shuffle: true}\n`).join("")}`,
  );
  for (const [file, text] of files) {
    mkdirSync(join(dir, dirname(file)), { recursive: true });
    writeFileSync(join(dir, file), text);
  }
  return {
    dir,
    choice: (part) => `part_${part}=base`,
    composed: [...files.values()],
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}

/** Configs that several parts mount. */
const SHARED = 8;
/** What a part is when it is composed. */
const PART_LINES = 121;

function partText(name: string, index: number): string {
  const stage = (at: number): string => `stage_${at}:
  # how often, and how much at a time
  steps: ${1000 * (at + 1)}
  warmup: ${at / 10}
  name: "${name} ${at}"
  device: \${device}
  betas: [0.9, 0.99${at}]
  schedule:
    - {at: 0, rate: ${1 / (at + 2)}}
    - {at: ${500 + at}, rate: 1e-0${at + 2}}
`;
  return `# @package ${name}
defaults:
  - /layer@first: kind_${index % SHARED}
  - /layer@second: kind_${(index + 3) % SHARED}
  - _self_

# a part of the project
_target_: project.parts.${name}
enabled: true
device: cuda:${index % 4}
output: \${root}/${name}/\${seed}
batch:
  size: 32
  workers: \${oc.decode:"${index % 8}"}
${Array.from({ length: 4 }, (_, at) => stage(at)).join("")}`;
}

function layerText(kind: string, size: number): string {
  const block = (at: number): string => `block_${at}:
  _target_: project.layers.Block
  channels: ${64 * (at + 1)}
  kernel: [3, 3]
  norm: {kind: batch, eps: 1.0e-5}
`;
  return `_target_: project.layers.${kind}
size: ${size * 128}
${Array.from({ length: 3 }, (_, at) => block(at)).join("")}`;
}

/** Ten maps with numbers, lists and interpolations. */
function optionText(group: string, option: number): string {
  const map = (at: number): string => `map_${at}:
  size: ${option * 10 + at}
  rate: ${at / 8}
  name: ${group}-${at}
  layers: [${at}, ${at + 1}, 64, 128]
  parent: \${.name}/\${seed}
  scaled: \${${group}.map_${(at + 1) % 10}.rate}
`;
  return Array.from({ length: 10 }, (_, at) => map(at)).join("");
}
