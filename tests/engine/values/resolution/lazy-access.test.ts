import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { type ConfigNode, child } from "../../../../src/engine/values/node.ts";
import { toObject } from "../../../../src/engine/values/plain-objects.ts";
import type { Resolver } from "../../../../src/engine/values/resolution/resolver.ts";
import { loadYaml, select } from "../../../../src/index.ts";
import { composeFiles, refusal } from "../../compose/in-memory.ts";

const TEXT = `model:
  name: net
  width: \${size}
  data: \${nope}
  open: ???
  to_open: \${model.open}
  inner: {deep: "\${size}", broken: "\${oc.env:NOT_THERE}"}
  layers: [1, "\${size}", "\${nope}"]
size: 4
alias: \${model}
self: {name: me, other: "\${other}"}
other: {back: "\${self}"}
`;

/*
 * OmegaConf: `cfg.model` and `OmegaConf.select(cfg, "model")` give a container whatever cannot be resolved below it, with and without
 * `throw_on_resolution_failure`; `cfg.model.width` is 4; `cfg.model.data` raises InterpolationKeyError, `cfg.model.inner.broken`
 * InterpolationResolutionError, `cfg.model.to_open` InterpolationToMissingValueError; `cfg.self.other.back.name` is "me".
 */
describe.each(["model", "alias"])("select of %s", (key) => {
  const tree = loadYaml(TEXT);
  const at = (node: ConfigNode | undefined, ...path: readonly string[]): ConfigNode => {
    const found = path.reduce<ConfigNode | undefined>(
      (within, part) => (within === undefined ? within : child(within, part)),
      node,
    );
    if (found === undefined) throw new Error("nothing there");
    return found;
  };

  it.each([{}, { throwOnResolutionFailure: false }])(
    "with %j gives a node that resolves what is read",
    (options) => {
      const model = select(tree, key, options);
      expect(toObject(at(model, "name"))).toBe("net");
      expect(toObject(at(model, "width"))).toBe(4);
      expect(toObject(at(model, "inner", "deep"))).toBe(4);
      expect(refusal(() => at(model, "data")).code).toBe("interpolation.not_found");
      expect(refusal(() => at(model, "data")).details.key).toBe("model.data");
      expect(refusal(() => at(model, "inner", "broken")).code).toBe("resolver.failed");
      expect(refusal(() => at(model, "to_open")).code).toBe("interpolation.to_missing");
      expect(refusal(() => toObject(at(model))).code).toBe("interpolation.not_found");
    },
  );
});

describe("get of a map", () => {
  const config = composeFiles({ config: TEXT });

  it.each(["model", "alias"])("%s resolves what is read", (key) => {
    const model = config.get(key) as {
      name: string;
      width: number;
      data: unknown;
      open: unknown;
      inner: { deep: number; broken: unknown };
      layers: readonly unknown[];
    };
    expect([model.name, model.width, model.inner.deep, model.layers[1]]).toEqual(["net", 4, 4, 4]);
    expect(model.open).toBe("???");
    expect(Object.keys(model.inner)).toEqual(["deep", "broken"]);
    expect(Array.isArray(model.layers) && model.layers.length).toBe(3);
    expect(refusal(() => model.data).code).toBe("interpolation.not_found");
    expect(refusal(() => model.inner.broken).code).toBe("resolver.failed");
    expect(refusal(() => model.layers[2]).code).toBe("interpolation.not_found");
    expect(refusal(() => JSON.stringify(model)).code).toBe("interpolation.not_found");
    expect(inspect(model.inner)).toBe("{ deep: 4, broken: '${oc.env:NOT_THERE}' }");
  });

  it("resolves all or nothing where that is asked for", () => {
    expect(config.get("model.inner", { resolve: false })).toEqual({
      deep: "${size}",
      broken: "${oc.env:NOT_THERE}",
    });
    expect(refusal(() => config.get("model", { resolve: true })).code).toBe(
      "interpolation.not_found",
    );
    expect(config.get("size", { resolve: true })).toBe(4);
  });

  it("leads back into itself as far as one reads", () => {
    const self = config.get("self") as never as { other: { back: { name: string } } };
    expect(self.other.back.name).toBe("me");
    expect(refusal(() => config.get("self", { resolve: true })).code).toBe("interpolation.cycle");
    const node = select(loadYaml(TEXT), "self");
    expect(refusal(() => toObject(node as ConfigNode)).code).toBe("yaml.depth_limit");
  });

  it("is plain data, comparable and copied", () => {
    const small = composeFiles({ config: "a: {b: '${c}', d: [x, '${c}']}\nc: 1\n" });
    expect(small.get("a")).toEqual({ b: 1, d: ["x", 1] });
    expect({ ...(small.get("a") as object) }).toEqual({ b: 1, d: ["x", 1] });
    expect(structuredClone(small.get("a"))).toEqual({ b: 1, d: ["x", 1] });
  });

  it("asks a resolver when its value is read, and again where it may say something else", () => {
    const asked: string[] = [];
    const count = (name: string, pure: boolean): Resolver => ({
      name,
      pure,
      resolve: () => {
        asked.push(name);
        return asked.length;
      },
    });
    const { get } = composeFiles({ config: "a: {p: '${pure:}', q: '${any:}'}" }, [], {
      resolvers: [count("pure", true), count("any", false)],
    });
    const a = get("a") as { readonly p: number; readonly q: number };
    expect(asked).toEqual([]);
    expect([a.p, a.p, a.q, a.q]).toEqual([1, 1, 2, 3]);
  });
});
