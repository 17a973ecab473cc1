import { describe, expect, test } from "vitest";
import {
  hydraResolver,
  nowResolver,
  pythonVersionResolver,
} from "../../../src/app/job/resolvers.ts";
import type { ConfigNode } from "../../../src/engine/values/node.ts";
import { toObject } from "../../../src/engine/values/plain-objects.ts";
import { createResolveContext } from "../../../src/engine/values/resolution/context.ts";
import { IN_PLACE, resolveTree } from "../../../src/engine/values/resolution/resolve-tree.ts";
import { readYaml } from "../../../src/engine/values/yaml/reader.ts";

const HYDRA = readYaml(
  "hydra:\n  runtime: {cwd: /w, output_dir: '???', choices: {db: pg}}\n  job: {name: '${app}', num: null}\napp: prog\n",
);

function resolved(text: string, hydra: ConfigNode | undefined = HYDRA): unknown {
  const context = createResolveContext({
    resolvers: [
      nowResolver(new Date(2026, 0, 2, 3, 4, 5)),
      pythonVersionResolver,
      hydraResolver(() => hydra),
    ],
    env: {},
  });
  const tree = toObject(resolveTree(readYaml(`x: "${text}"`), context));
  return (tree as { x: unknown }).x;
}

describe("resolvers of a program", () => {
  const SWEEP = readYaml(
    "hydra: {run: {dir: o}, sweep: {dir: 's/${app}', subdir: '${hydra.job.num}'}, job: {num: 3, self: '${hydra:job.self}'}}\napp: prog\n",
  );
  const whole = (text: string, options = {}): unknown => {
    const context = createResolveContext({ resolvers: [hydraResolver(() => SWEEP)], env: {} });
    return toObject(resolveTree(readYaml(text), context, options));
  };

  test("a map of the hydra node is resolved where it stands, not where it is used", () => {
    expect(whole("app: other\na: ${hydra:sweep}")).toEqual({
      app: "other",
      a: { dir: "s/prog", subdir: 3 },
    });
  });

  test.each([
    ["what is in a map of the hydra node can be referred to", "${a.dir}", "s/prog"],
    ["a dot before the key changes nothing", "${hydra:.job.num}", 3],
    ["two dots lead out of the hydra node", "${hydra:..app}", "prog"],
  ])("%s", (_, text, expected) => {
    expect(whole(`a: "\${hydra:sweep}"\nx: "${text}"`)).toMatchObject({ x: expected });
  });

  test("a value of the hydra node that asks for itself is a cycle", () => {
    expect(() => whole("a: ${hydra:job.self}")).toThrow("Recursive interpolation detected");
  });

  test("an error in the hydra node names the key there", () => {
    const broken = readYaml("hydra: {sweep: {subdir: '${nope}'}}");
    const context = createResolveContext({ resolvers: [hydraResolver(() => broken)], env: {} });
    const key = "hydra.sweep.subdir";
    const about = expect.objectContaining({ details: expect.objectContaining({ key }) });
    for (const text of ["x: ${hydra:sweep.subdir}", "a: {b: 'x/${c}'}\nc: ${hydra:sweep.subdir}"])
      expect(() => resolveTree(readYaml(text), context)).toThrowError(about);
  });

  test("a map of the hydra node is written in place, unless it were changed itself by that", () => {
    expect(whole("a: ${hydra:run}", IN_PLACE)).toEqual({ a: { dir: "o" } });
    expect(() => whole("a: ${hydra:sweep}", IN_PLACE)).toThrowError(
      expect.objectContaining({ code: "value.readonly" }),
    );
  });

  test.each([
    ["${now:%Y%m%d-%H%M%S}", "20260102-030405"],
    ["${now:%H:%M}", "03:04"],
    ["${python_version:}", "3.11"],
    ["${python_version:major}", "3"],
    ["${python_version:micro}", "3.11.2"],
    ["${python_version:patch}", null],
    ["${hydra:runtime.cwd}", "/w"],
    ["in ${hydra:runtime.cwd}/tmp", "in /w/tmp"],
    ["${hydra:job.name}", "prog"],
    ["${hydra:job.num}", null],
    ["${hydra:runtime.output_dir}", null],
    ["${hydra:runtime.nope}", null],
    ["out ${hydra:runtime.output_dir}", "out None"],
    ["${hydra:runtime.choices}", { db: "pg" }],
  ])("%s", (text, expected) => {
    expect(resolved(text)).toEqual(expected);
  });

  test.each(["${now:}", "${now:a,b}", "${hydra:}", "${hydra:a,b}", "${python_version:a,b}"])(
    "%s is refused",
    (text) => {
      expect(() => resolved(text)).toThrow(/takes one argument/);
    },
  );

  test("hydra: before there is a hydra node is an error, not a crash", () => {
    const context = createResolveContext({ resolvers: [hydraResolver(() => undefined)], env: {} });
    expect(() => resolveTree(readYaml("x: ${hydra:job.name}"), context)).toThrow(
      "HydraConfig was not set",
    );
  });
});
