// Plans: parsing, and what they make of the list of files.
import { readFileSync } from "node:fs";
import { posix } from "node:path";

const { dirname, basename, join } = posix;

/** `src/{a,b}.ts` as `src/a.ts`, `src/b.ts`. */
export function expandBraces(word) {
  const match = /^(.*?)\{([^{}]*)\}(.*)$/.exec(word);
  if (match === null) return [word];
  const [, before, inner, after] = match;
  return inner.split(",").flatMap((part) => expandBraces(`${before}${part.trim()}${after}`));
}

/** Splits at blanks outside braces. */
const words = (text) => (text.match(/(?:\{[^}]*\}|\S)+/g) ?? []).flatMap(expandBraces);

export function parsePlan(file) {
  const ops = [];
  const lines = [];
  for (const [index, raw] of readFileSync(file, "utf8").split("\n").entries()) {
    const line = /^\s*doc\s/.test(raw) ? raw.trimEnd() : raw.replace(/(^|\s)#.*$/, "").trimEnd();
    if (line.trim() === "") continue;
    if (/^\s*#/.test(line)) continue;
    if (/^\s/.test(raw) && lines.length > 0) lines.at(-1).text += ` ${line.trim()}`;
    else lines.push({ text: line.trim(), place: `${basename(file)}:${index + 1}` });
  }
  for (const { text, place } of lines) {
    let m;
    if ((m = /^symbol(!?)\s+(\S+)\s+(\S+)\s+>\s+(\S+)$/.exec(text)))
      ops.push({ op: "symbol", public: m[1] === "!", file: m[2], from: m[3], to: m[4], place });
    else if ((m = /^doc\s+(\S+)\s+>?\s*(.+)$/.exec(text)))
      ops.push({ op: "doc", file: m[1], text: m[2], place });
    else if ((m = /^folder\s+(\S+)\s+>\s+(\S+)$/.exec(text)))
      ops.push({ op: "folder", from: m[1].replace(/\/$/, ""), to: m[2].replace(/\/$/, ""), place });
    else if ((m = /^(?:test\s+)?(\S+)\s+<\s+(.+)$/.exec(text)))
      ops.push({ op: "merge", to: m[1], from: words(m[2]), place });
    else if ((m = /^(?:test\s+)?(\S+)\s+>\s+(\S+)$/.exec(text)))
      ops.push({ op: "merge", to: m[2], from: [m[1]], place });
    else throw new Error(`${place}: cannot read '${text}'`);
  }
  return ops;
}

/**
 * Where every file goes.
 * @param files all tracked files
 * @returns groups: target -> its parts (original paths, in order); where: original path -> target
 */
export function layOut(ops, files, report) {
  const groups = new Map(files.map((file) => [file, [file]]));
  const where = new Map(files.map((file) => [file, file]));
  const folders = [];
  const explicit = new Set();
  const set = (target, parts) => {
    groups.set(target, parts);
    for (const part of parts) where.set(part, target);
  };
  const current = (path, place) => {
    if (groups.has(path)) return path;
    const now = where.get(path);
    if (now === undefined) throw new Error(`${place}: there is no file ${path}`);
    return now;
  };
  // Tests that a plan names itself are not moved along with what they test.
  for (const op of ops)
    if (op.op === "merge") for (const one of [...op.from, op.to]) if (one.startsWith("tests/")) explicit.add(one);

  const moveTests = (sources, target) => {
    if (!target.startsWith("src/")) return;
    const stemOf = (file) => `tests/${file.slice("src/".length).replace(/\.ts$/, "")}`;
    const found = sources
      .filter((one) => one.startsWith("src/"))
      .flatMap((source) =>
        [".test.ts", ".case.ts", ".slow.ts", ".slow.test.ts"].flatMap((ending) => {
          const test = `${stemOf(source)}${ending}`;
          const isNamed =
            explicit.has(test) || groups.get(test)?.some((part) => explicit.has(part));
          return groups.has(test) && !isNamed ? [{ test, ending, source }] : [];
        }),
      );
    for (const { test, ending, source } of found) {
      const alone = found.filter((one) => one.ending === ending).length === 1;
      const renamed = `${stemOf(target)}${ending}`;
      const kept = join(dirname(renamed), basename(test));
      const to = alone && !groups.has(renamed) ? renamed : source === target ? test : kept;
      if (to === test) continue;
      if (groups.has(to)) report.warn(`${test} is not moved to ${to}: that exists`);
      else moveOne(test, to);
      const beside = stemOf(source);
      const helpers = [...groups.keys()].filter((file) => file.startsWith(`${beside}/`));
      const isMirror = [...groups.keys()].some((file) => file.startsWith(`${source.replace(/\.ts$/, "")}/`));
      if (helpers.length > 0 && !isMirror) {
        const newBeside = to.slice(0, -ending.length);
        for (const helper of helpers) moveOne(helper, newBeside + helper.slice(beside.length));
        folders.push({ from: beside, to: newBeside });
      }
    }
  };
  const moveOne = (from, to) => {
    const parts = groups.get(from);
    groups.delete(from);
    set(to, parts);
    const snapshot = join(dirname(from), "__snapshots__", `${basename(from)}.snap`);
    if (from.startsWith("tests/") && groups.has(snapshot))
      moveOne(snapshot, join(dirname(to), "__snapshots__", `${basename(to)}.snap`));
  };

  for (const op of ops) {
    if (op.op === "folder") {
      const pairs = [[op.from, op.to]];
      if (op.from.startsWith("src/") && op.to.startsWith("src/"))
        pairs.push([op.from.replace(/^src/, "tests"), op.to.replace(/^src/, "tests")]);
      for (const [from, to] of pairs) {
        const inside = [...groups.keys()].filter((file) => file.startsWith(`${from}/`));
        if (inside.length === 0 && from === op.from) throw new Error(`${op.place}: there is no folder ${from}`);
        for (const file of inside) {
          const target = to + file.slice(from.length);
          if (groups.has(target)) throw new Error(`${op.place}: ${target} exists`);
          moveOne(file, target);
        }
        // The test of the folder as a whole.
        for (const ending of [".test.ts", ".case.ts", ".slow.ts"])
          if (from.startsWith("tests/") && groups.has(from + ending) && !explicit.has(from + ending))
            moveOne(from + ending, to + ending);
        folders.push({ from, to });
      }
    } else if (op.op === "merge") {
      const sources = op.from.map((one) => current(one, op.place));
      const doubled = sources.find((one, i) => sources.indexOf(one) !== i);
      if (doubled !== undefined) throw new Error(`${op.place}: ${doubled} is listed twice`);
      if (groups.has(op.to) && !sources.includes(op.to))
        throw new Error(`${op.place}: ${op.to} exists: list it among the sources`);
      if (sources.length === 1) {
        if (sources[0] !== op.to) moveOne(sources[0], op.to);
      } else {
        const parts = sources.flatMap((one) => groups.get(one));
        for (const one of sources) groups.delete(one);
        set(op.to, parts);
      }
      moveTests(sources, op.to);
    }
  }
  return { groups, where, folders };
}
