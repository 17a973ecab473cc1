// node engine-prepare.mjs REPO: small edits before engine.plan is applied. Commit them first.
// 1. values/interpolation/parse-node.ts declares InterpolationNode and isInterpolationNode (from resolution.ts), so that the YAML
//    reader needs the syntax of interpolations only.  2. values/index.ts, a second face that only src/ and tests use, goes.
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { posix, join } from "node:path";
const repo = process.argv[2];
const read = (f) => readFileSync(join(repo, f), "utf8");
const write = (f, t) => writeFileSync(join(repo, f), t);
const files = execFileSync("git", ["ls-files", "src", "tests", "bench", "scripts"], { cwd: repo, encoding: "utf8" })
  .split("\n").filter((f) => /\.(ts|mts)$/.test(f) && !f.startsWith("tests/fixtures/"));
const changed = new Set();
const spec = (from, to) => {
  const r = posix.relative(posix.dirname(from), to);
  return r.startsWith(".") ? r : `./${r}`;
};
/** Rewrites named imports and exports of one file. */
function redirect(target, homeOf) {
  for (const file of files) {
    if (file === target) continue;
    const text = read(file);
    const after = text.replace(/^(import|export)( type)? \{([^}]*)\} from "(\.[^"]+)";$/gm, (all, kw, type, names, from) => {
      if (posix.join(posix.dirname(file), from) !== target) return all;
      const by = new Map();
      for (const one of names.split(",").map((n) => n.trim()).filter(Boolean)) {
        const name = one.replace(/^type /, "").split(" as ")[0].trim();
        const home = homeOf(name) ?? target;
        by.set(home, [...(by.get(home) ?? []), one]);
      }
      return [...by].map(([home, list]) => `${kw}${type ?? ""} { ${list.join(", ")} } from "${spec(file, home)}";`).join("\n");
    });
    if (after !== text) { write(file, after); changed.add(file); }
  }
}
const RES = "src/values/interpolation/resolution.ts";
const PARSE = "src/values/interpolation/parse-node.ts";
redirect(RES, (name) => (["InterpolationNode", "isInterpolationNode"].includes(name) ? PARSE : undefined));
const swap = (text, from, to) => { if (!text.includes(from)) throw new Error(`not found: ${from}`); return text.replace(from, () => to); };
const BLOCK = `export interface InterpolationNode extends ScalarNode {
  readonly value: string;
}

export const isInterpolationNode = (node: ConfigNode): node is InterpolationNode =>
  node.kind === "scalar" && typeof node.value === "string" && hasInterpolation(node.value);

`;
let t = read(RES);
t = swap(t, BLOCK, "");
t = swap(t, 'import type { ConfigNode, ScalarNode } from "../node.ts";', 'import type { ConfigNode } from "../node.ts";');
t = swap(t, 'import { hasInterpolation } from "./parser.ts";', 'import { type InterpolationNode, isInterpolationNode } from "./parse-node.ts";');
write(RES, t);
t = read(PARSE);
t = t.replace(/^import type \{ InterpolationNode \} from "[^"]*";\n/m, "");
t = swap(t, 'import type { ScalarNode } from "../node.ts";', 'import type { ConfigNode, ScalarNode } from "../node.ts";');
t = swap(t, 'import { parseInterpolation } from "./parser.ts";', 'import { hasInterpolation, parseInterpolation } from "./parser.ts";');
t = swap(t, "/** Nodes are immutable and shared", `/** A text with an interpolation. */\n${BLOCK}/** Nodes are immutable and shared`);
write(PARSE, t);
changed.add(RES).add(PARSE);

const INDEX = "src/values/index.ts";
const homes = new Map();
for (const [, names, from] of read(INDEX).matchAll(/^export (?:type )?\{([^}]*)\} from "(\.[^"]+)";$/gm))
  for (const one of names.split(",").map((n) => n.trim()).filter(Boolean)) homes.set(one, posix.join("src/values", from));
redirect(INDEX, (name) => homes.get(name));
rmSync(join(repo, INDEX));
execFileSync("npx", ["biome", "check", "--write", ...changed], { cwd: repo, stdio: "inherit" });
console.log([...changed].join("\n"));
