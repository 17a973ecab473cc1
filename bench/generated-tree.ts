import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

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
