import { describe, expect, test } from "vitest";
import { hydraResolver } from "../../src/app/resolvers/hydra.ts";
import { nowResolver } from "../../src/app/resolvers/now.ts";
import { pythonVersionResolver } from "../../src/app/resolvers/python-version.ts";
import {
  type ConfigNode,
  createResolveContext,
  readYaml,
  resolveTree,
  toObject,
} from "../../src/values/index.ts";

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
