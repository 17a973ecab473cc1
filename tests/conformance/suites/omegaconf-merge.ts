import { mergeNodes } from "../../../src/values/edit/merge.ts";
import { withFlags } from "../../../src/values/place.ts";
import { createResolveContext } from "../../../src/values/resolution/context.ts";
import { createConfig } from "../../../src/values/yaml/reader.ts";
import { writeYaml } from "../../../src/values/yaml/writer.ts";
import { judge } from "../judge.ts";
import type { Suite } from "../suite.ts";
import { toTagged } from "../tagged.ts";

/** `docs`, with flags set on the roots of some → `OmegaConf.merge(*docs)` as YAML and as a tree. */
export const omegaconfMerge: Suite = {
  name: "omegaconf/merge",
  dependsOnVersionBase: false,
  matches: (path) => /(^|\/)omegaconf\/merge\.jsonl$/.test(path),
  run(testCase) {
    const { docs, yaml, json } = testCase;
    if (!Array.isArray(docs)) throw new Error("the case has no docs");
    const [readonly, struct] = [indices(testCase["readonly"]), indices(testCase["struct"])];
    return judge(testCase, { yaml, json }, () => {
      const nodes = docs.map((doc, index) =>
        withFlags(createConfig(String(doc)), {
          ...(readonly.has(index) && { readonly: true }),
          ...(struct.has(index) && { struct: true }),
        }),
      );
      const merged = mergeNodes(nodes, createResolveContext({ env: {} }));
      return { yaml: writeYaml(merged), json: toTagged(merged) };
    });
  },
};

const indices = (value: unknown): ReadonlySet<unknown> =>
  new Set(Array.isArray(value) ? value : []);
