/** Hints of the composition, applied to random trees: what they propose works, and keeps what was there. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseOverride, sweepOverrides } from "../../../src/engine/overrides/index.ts";
import { dialectNamed } from "../../../src/engine/values/dialect.ts";
import type { ErrorDetails } from "../../../src/engine/values/error-details.ts";
import { isConfigError } from "../../../src/engine/values/errors.ts";
import { splitKey } from "../../../src/engine/values/key-path.ts";
import type { ConfigNode } from "../../../src/engine/values/node.ts";
import type { FileOrigin } from "../../../src/engine/values/origin.ts";
import { createResolveContext } from "../../../src/engine/values/resolution/context.ts";
import { writeYaml } from "../../../src/engine/values/yaml/writer.ts";
import { runs } from "../../runs.ts";
import { composeOn, type Files, snapshotOf } from "./in-memory.ts";

const name = fc.constantFrom("a", "ab", "b", "c_d", "lr", "Lr", "host", "port");
const value = fc.constantFrom(
  "1",
  "x",
  "null",
  "[1, 2]",
  "[{a: 1}]",
  "{a: {b: 1}, lr: 2}",
  "${src}",
  "${src.a}",
  "mysql",
  "'q'",
);
const body = fc
  .uniqueArray(fc.tuple(name, value), { selector: ([key]) => key, maxLength: 4 })
  .map((entries) => entries.map(([key, text]) => `${key}: ${text}\n`).join(""));
const packageOf = fc.constantFrom("", "@src", "@x.y");

const tree = fc
  .record({
    primary: body,
    mysql: body,
    pg: body,
    place: packageOf,
    group: fc.constantFrom("db", "net/db"),
  })
  .map(
    ({ primary, mysql, pg, place, group }): Files => ({
      config: `defaults:\n- ${group}${place}: mysql\n- _self_\nsrc: {a: {b: 1}, l: [{k: 1}]}\n${primary}`,
      [`${group}/mysql`]: mysql,
      [`${group}/pg`]: pg,
    }),
  );

const typed = fc
  .tuple(
    fc.constantFrom("", "", "", "+", "++", "~"),
    fc.oneof(
      fc.array(fc.oneof(name, fc.constantFrom("0", "src", "db", "net", "l", "A", "k")), {
        minLength: 1,
        maxLength: 3,
      }),
      fc.constant(["run_dir"]),
    ),
    fc.constantFrom(".", ".", ".", "/", "_", "-"),
    fc.constantFrom("1", "pg", "x", "[3]", "{a:1}", "mysqll", ""),
  )
  .map(([sign, parts, between, text]) => `${sign}${parts.join(between)}=${text}`);

/** The paths of all values, with what stands there. */
function valuesOf(node: ConfigNode, path = ""): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const walk = (at: ConfigNode, here: string): void => {
    // A map may take the place of null.
    if (at.kind === "scalar" && at.value === null) return;
    if (at.kind === "scalar") found.set(here, writeYaml(at));
    else if (at.kind === "list")
      for (const [index, item] of at.items.entries()) walk(item, `${here}.${index}`);
    else
      for (const { key, value: below } of at.entries.values())
        walk(below, `${here}.${String(key)}`);
  };
  walk(node, path);
  return found;
}

const detailsOf = (work: () => unknown): ErrorDetails | undefined => {
  try {
    work();
    return undefined;
  } catch (error) {
    if (isConfigError(error)) return error.details;
    throw error;
  }
};

describe.each(["1.3", "1.4"] as const)("an override that a hint of %s proposes", (dialect) => {
  it("composes, and keeps what was there", () => {
    let tried = 0;
    fc.assert(
      fc.property(tree, typed, (files, override) => {
        const snapshot = snapshotOf(files);
        const context = createResolveContext({ env: {}, dialect: dialectNamed(dialect) });
        const compose = (overrides: readonly string[]): ConfigNode =>
          composeOn(snapshot, overrides, context).config;
        let before: ReadonlyMap<string, string>;
        try {
          before = valuesOf(compose([]));
        } catch {
          return;
        }
        for (const proposal of detailsOf(() => compose([override]))?.proposals ?? []) {
          tried++;
          const { keyOrGroup, package: pkg, type } = parseOverride(proposal);
          const after = valuesOf(compose([proposal]));
          expect(type).not.toBe("delete");
          if (keyOrGroup.includes("db") && (pkg !== undefined || /=(pg|mysql)$/.test(proposal)))
            continue;
          const changed = `.${splitKey(keyOrGroup).join(".")}`;
          for (const [path, was] of before)
            if (path !== changed && !path.startsWith(`${changed}.`))
              expect([override, proposal, path, after.get(path)]).toEqual([
                override,
                proposal,
                path,
                was,
              ]);
        }
      }),
      { numRuns: runs(300) },
    );
    // Otherwise the property says nothing.
    expect(tried).toBeGreaterThan(30);
  });
});

/** The values of a sweep, and the sweep as it may be typed. */
const swept = fc
  .uniqueArray(fc.constantFrom("1", "x", "[3]", "{a:1}", "'a,b'", "pg", "mysql", "pgg"), {
    minLength: 2,
    maxLength: 3,
  })
  .chain((values) => {
    const list = values.join(",");
    return fc.constantFrom({ values, text: list }, { values, text: `choice(${list})` });
  });

describe.each(["1.3", "1.4"] as const)("what a hint of %s proposes for a job", (dialect) => {
  it("is the whole sweep, whose jobs all compose", () => {
    const context = createResolveContext({ env: {}, dialect: dialectNamed(dialect) });
    const jobsOf = (text: string): readonly string[] =>
      [...sweepOverrides(parseOverride(text, { dialect: context.dialect }))].flat();
    let tried = 0;
    fc.assert(
      fc.property(tree, typed, swept, (files, override, { values, text }) => {
        const snapshot = snapshotOf(files);
        const sweep = override.replace(/=.*$/, `=${text}`);
        if (sweep.startsWith("~") || detailsOf(() => parseOverride(sweep)) !== undefined) return;
        const compose = (job: string, whole: string) =>
          composeOn(snapshot, [job], context, { sweep: [whole] });
        for (const job of jobsOf(sweep)) {
          const { hint, proposals = [] } = detailsOf(() => compose(job, sweep)) ?? {};
          for (const proposal of proposals) {
            tried++;
            const jobs = jobsOf(proposal);
            expect([sweep, hint, jobs.length]).toEqual([sweep, hint, values.length]);
            // Each job may have another mistake in its value; none has this one.
            const again = detailsOf(() =>
              compose(jobs[jobsOf(sweep).indexOf(job)] ?? "", proposal),
            );
            expect([sweep, proposal, again?.hint]).toEqual([sweep, proposal, undefined]);
          }
        }
      }),
      { numRuns: runs(80) },
    );
    // Otherwise the property says nothing.
    expect(tried).toBeGreaterThan(30);
  });
});

/** An override that is right, and what a slip makes of it. */
const slip = fc
  .record({
    key: fc.constantFrom("lr", "max_steps", "tags", "db.host", "db.tags", "db", "empty", "name"),
    text: fc.constantFrom(
      "1",
      "x",
      "[a,b]",
      "{host:h,port:2}",
      "{tags:[a]}",
      "'it is'",
      "${lr}",
      "",
    ),
    item: fc.constantFrom("", "", ".0", ".2", ".9"),
    sign: fc.constantFrom("", "", "+", "++"),
    at: fc.nat(12),
    letter: fc.constantFrom(..."aest_"),
  })
  .chain(({ key, text, item, sign, at, letter }) => {
    const place = at % key.length;
    const inText = /[a-z]/.exec(text.slice(at % Math.max(text.length, 1)))?.index ?? 0;
    const typo = (word: string, from: number) =>
      word.slice(0, from) + letter + word.slice(from + 1);
    return fc.constantFrom(
      `${sign}${typo(key, place)}${item}=${text}`,
      `${sign}${key.slice(0, place)}${key.slice(place + 1)}${item}=${text}`,
      `${sign}${key}${item}=${text}`,
      `${sign}${key}${item}=${text.replace(/^\[(.*)\]$/, "$1")}`,
      `${sign}${key}${item}=${text.replace(/[\]}']$/, "")}`,
      `${sign}${key}${item}=${text.replace(/^[[{']/, "")}`,
      `${sign}${key}${item}=${typo(text, (at % Math.max(text.length, 1)) + inText)}`,
      `${sign}${key}=[${text.replace(/\}$/, "")}]`,
      `${sign}${key}={host:${text.replace(/\}$/, "")},${typo("port", at % 4)}:2,ports:3}`,
    );
  });

const slipTree = fc
  .record({
    tags: fc.constantFrom("[]", "[a, b]", "[a b, 'true', 1.5]", "[{k: 1}]", "[null, true]", "null"),
    host: fc.constantFrom("h", "null", "???", "${name}"),
  })
  .map(
    ({ tags, host }): Files => ({
      config: `lr: 0.1\nname: n\nmax_steps: 5\nempty: null\ntags: ${tags}\ndb: {host: ${host}, port: 1, tags: ${tags}}\n`,
    }),
  );

describe.each(["1.3", "1.4"] as const)("a slip that a hint of %s corrects", (dialect) => {
  it("is gone: what the hint proposes parses, and no error is about its key", () => {
    const context = createResolveContext({ env: {}, dialect: dialectNamed(dialect) });
    const refusalOf = (files: Files, override: string) =>
      detailsOf(() => composeOn(snapshotOf(files), [override], context));
    let tried = 0;
    fc.assert(
      fc.property(slipTree, slip, (files, override) => {
        const { code, hint, proposals = [] } = refusalOf(files, override) ?? {};
        for (const proposal of proposals) {
          tried++;
          const wrong = refusalOf(files, proposal);
          // A sweep needs --multirun besides.
          if (code === "override.sweep_not_allowed" && wrong?.code === code) continue;
          // A syntax error is corrected first, whatever the tree has.
          const isSame =
            code !== "override.syntax" ||
            /^(?:override|interpolation)\.syntax/.test(wrong?.code ?? "") ||
            wrong?.message.includes("Invalid interpolation");
          expect([override, hint, proposal, isSame ? wrong?.message : undefined]).toEqual([
            override,
            hint,
            proposal,
            undefined,
          ]);
          expect(parseOverride(proposal, { dialect: context.dialect }).warnings ?? []).toEqual([]);
        }
      }),
      { numRuns: runs(300), seed: 20 },
    );
    // Otherwise the property says nothing.
    expect(tried).toBeGreaterThan(100);
  });
});

/** An entry of a defaults list, and what people write in place of it. */
const entry = fc
  .record({
    group: fc.constantFrom("db", "net/http", "net/ftp"),
    option: fc.constantFrom("mysql", "pg"),
    pkg: fc.constantFrom("", "", "@src"),
    flag: fc.constantFrom("", "", "optional "),
  })
  .chain(({ group, option, pkg, flag }) => {
    const right = `${flag}${group}${pkg}: ${option}`;
    const wrong = [
      right.replaceAll("/", "."),
      right.replaceAll("/", "\\"),
      right.replace(": ", ":"),
      right.replace(": ", "="),
      right.replace(option, `${option}l`),
      right.replace(option, option.toUpperCase()),
      right.replace(option, `conf/${group}/${option}`),
      right.replace(group, group.toUpperCase()),
      right.replace(group, group.split("/").at(-1) ?? ""),
      right.replace(group, `${group}s`),
      `${group}: ${option}${pkg}`,
      `${group}${pkg.replace("@", " @")}: ${option}`,
      `${group}${pkg.replace("@", ":")}: ${option}`,
      `${group}: ${option} ${flag.trim()}`,
      `${group}: ${flag}${option}`,
      `${group}: mysql, pg`,
      `${group}: ''`,
      group,
      `${group}/${option}l`,
      `${group}.${option}`,
      `override ${right}`,
      "_self",
      "-self_",
      "_self_: true",
    ];
    return fc.constantFrom(right, ...wrong);
  });

const lists = fc.record({
  primary: fc.array(entry, { minLength: 1, maxLength: 2 }),
  nested: fc.array(entry, { maxLength: 2 }),
});

describe.each(["1.3", "1.4"] as const)("a line that a hint of %s proposes", (dialect) => {
  it("is right in place of the wrong one", () => {
    const linesOf = (entries: readonly string[]) =>
      entries.length === 0 ? "" : `defaults:\n${entries.map((one) => `- ${one}\n`).join("")}`;
    const options = Object.fromEntries(
      ["db", "net/http", "net/ftp"].flatMap((group) => [
        [`${group}/mysql`, "a: 1\n"],
        [`${group}/pg`, "a: 2\n"],
      ]),
    );
    let tried = 0;
    fc.assert(
      fc.property(lists, ({ primary, nested }) => {
        const files: Files = {
          ...options,
          config: linesOf([...primary, "exp: e"]),
          "exp/e": `# @package _global_\n${linesOf(nested)}`,
        };
        const context = createResolveContext({ env: {}, dialect: dialectNamed(dialect) });
        const errorOf = (tree: Files) => {
          try {
            composeOn(snapshotOf(tree), [], context);
            return undefined;
          } catch (error) {
            if (isConfigError(error)) return error.details;
            throw error;
          }
        };
        /** What is still wrong at a place when its hints were followed; each corrects one mistake. */
        const wrongAt = (tree: Files, rounds: number, place?: FileOrigin): string | undefined => {
          const error = errorOf(tree);
          const { hint = "", message = "", origin } = error ?? {};
          if (origin?.kind !== "file") return undefined;
          const { start, source } = origin;
          const isSame =
            place === undefined || (source.name === place.source.name && start === place.start);
          // Another entry may be wrong, too; two entries for one group may both be.
          if (!isSame || /Multiple values|is defined before|Duplicate _self_/.test(message))
            return undefined;
          if (!/(^|: )write `/.test(hint) || rounds === 0)
            return place === undefined ? undefined : `${message}: ${hint}`;
          const name = Object.keys(tree).find((one) => source.name.endsWith(`${one}.yaml`)) ?? "";
          const text = tree[name] ?? "";
          const before = text.slice(0, text.lastIndexOf("\n", start) + 1);
          const after = text.slice(text.indexOf("\n", start));
          for (const [, line = ""] of hint.matchAll(/`([^`]+)`/g)) {
            tried++;
            const changed = { ...tree, [name]: `${before}- ${line}${after}` };
            const wrong = wrongAt(changed, rounds - 1, origin);
            if (wrong !== undefined) return `${line}: ${wrong}`;
          }
          return undefined;
        };
        expect([files, wrongAt(files, 3)]).toEqual([files, undefined]);
      }),
      { numRuns: runs(150) },
    );
    expect(tried).toBeGreaterThan(40);
  });
});
