import { mergeNodes } from "../../../src/engine/values/edit/merge.ts";
import { withFlags } from "../../../src/engine/values/place.ts";
import { createResolveContext } from "../../../src/engine/values/resolution/context.ts";
import { createConfig } from "../../../src/engine/values/yaml/reader.ts";
import { writeYaml } from "../../../src/engine/values/yaml/writer.ts";
import { judge } from "../judge.ts";
import { PASS, type Suite } from "../suite.ts";
import { toTagged } from "../tagged.ts";
import { corpusResolvers } from "./omegaconf-resolvers.ts";

/** `docs`, with flags set on the roots of some → `OmegaConf.merge(*docs)` as YAML and as a tree. */
export const omegaconfMerge: Suite = {
  name: "omegaconf/merge",
  dependsOnVersionBase: false,
  matches: (path) => /(^|\/)omegaconf\/merge\.jsonl$/.test(path),
  run(testCase, { dialect }) {
    const { docs, list_merge_mode, yaml, json } = testCase;
    if (!Array.isArray(docs)) throw new Error("the case has no docs");
    // A way of merging that the recorded OmegaConf does not know, and neither do we: nothing to replay.
    if (list_merge_mode !== undefined && testCase["ok"] === false) return PASS;
    const [readonly, struct] = [indices(testCase["readonly"]), indices(testCase["struct"])];
    return judge(testCase, { yaml, json }, () => {
      const nodes = docs.map((doc, index) =>
        withFlags(createConfig(String(doc), { dialect }), {
          ...(readonly.has(index) && { readonly: true }),
          ...(struct.has(index) && { struct: true }),
        }),
      );
      const merged = mergeNodes(
        nodes,
        createResolveContext({ env: {}, dialect, resolvers: corpusResolvers() }),
      );
      return { yaml: writeYaml(merged, { dialect }), json: toTagged(merged) };
    });
  },
};

const indices = (value: unknown): ReadonlySet<unknown> =>
  new Set(Array.isArray(value) ? value : []);
