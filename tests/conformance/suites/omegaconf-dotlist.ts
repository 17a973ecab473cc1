import { isMissingAt, maskedCopy } from "../../../src/values/edit/children.ts";
import { fromDotlist, mergeDotlist, updateNode } from "../../../src/values/edit/update.ts";
import type { ConfigNode } from "../../../src/values/node.ts";
import { list, scalar } from "../../../src/values/node.ts";
import { fromCode } from "../../../src/values/origin.ts";
import { withFlags } from "../../../src/values/place.ts";
import { createResolveContext } from "../../../src/values/resolution/context.ts";
import { IN_PLACE, resolveTree } from "../../../src/values/resolution/resolve-tree.ts";
import { missingKeys, selectNode } from "../../../src/values/resolution/select.ts";
import { createConfig } from "../../../src/values/yaml/reader.ts";
import { writeYaml } from "../../../src/values/yaml/writer.ts";
import type { CorpusCase } from "../corpus.ts";
import { judge } from "../judge.ts";
import type { Outcome, Suite } from "../suite.ts";
import { fromTagged, toTagged } from "../tagged.ts";

/** Everything that works on one tree by keys: `op` says which function the case is about. */
export const omegaconfDotlist: Suite = {
  name: "omegaconf/dotlist_update",
  dependsOnVersionBase: false,
  matches: (path) => /(^|\/)omegaconf\/dotlist_update\.jsonl$/.test(path),
  run(testCase) {
    const operation = OPERATIONS[textOf(testCase, "op")];
    if (operation === undefined) throw new Error(`unknown op ${String(testCase["op"])}`);
    return operation(testCase);
  },
};

const OPERATIONS: Readonly<Record<string, (testCase: CorpusCase) => Outcome>> = {
  from_dotlist: (testCase) => judgeTree(testCase, () => fromDotlist(textsOf(testCase, "dotlist"))),
  merge_with_dotlist: (testCase) =>
    judgeTree(testCase, () => mergeDotlist(rootOf(testCase), textsOf(testCase, "dotlist"))),
  update: (testCase) => judgeTree(testCase, () => update(testCase)),
  resolve: (testCase) =>
    judgeTree(testCase, () => resolveTree(rootOf(testCase), context(), IN_PLACE)),
  masked_copy: (testCase) => judgeTree(testCase, () => mask(testCase)),
  select: (testCase) => judgeValue(testCase, () => select(testCase)),
  is_missing: (testCase) =>
    judgeValue(testCase, () =>
      scalar(isMissingAt(rootOf(testCase), textOf(testCase, "key")), ORIGIN),
    ),
  missing_keys: (testCase) => judgeValue(testCase, () => missing(testCase)),
};

const ORIGIN = fromCode("corpus");
const NULL = scalar(null, ORIGIN);
const context = () => createResolveContext({ env: {} });

function judgeTree(testCase: CorpusCase, produce: () => ConfigNode): Outcome {
  const { result_yaml, json } = testCase;
  return judge(testCase, json === undefined ? { result_yaml } : { result_yaml, json }, () => {
    const node = produce();
    const result = { result_yaml: writeYaml(node) };
    return json === undefined ? result : { ...result, json: toTagged(node) };
  });
}

const judgeValue = (testCase: CorpusCase, produce: () => ConfigNode): Outcome =>
  judge(testCase, testCase["value"], () => toTagged(produce()));

const update = (testCase: CorpusCase): ConfigNode =>
  updateNode(rootOf(testCase), textOf(testCase, "key"), fromTagged(testCase["value"]), {
    merge: testCase["merge"] !== false,
    forceAdd: testCase["force_add"] === true,
  });

function select(testCase: CorpusCase): ConfigNode {
  const fallback = testCase["default"];
  const found = selectNode(rootOf(testCase), textOf(testCase, "key"), context(), {
    throwOnMissing: testCase["throw_on_missing"] === true,
    throwOnResolutionFailure: testCase["throw_on_resolution_failure"] !== false,
    ...(fallback !== undefined && { default: fromTagged(fallback) }),
  });
  return found ?? NULL;
}

const mask = (testCase: CorpusCase): ConfigNode =>
  maskedCopy(rootOf(testCase), [testCase["keys"]].flat().map(String));

const missing = (testCase: CorpusCase): ConfigNode =>
  list(
    [...missingKeys(rootOf(testCase), context())].sort().map((key) => scalar(key, ORIGIN)),
    ORIGIN,
  );

function rootOf(testCase: CorpusCase): ConfigNode {
  return withFlags(createConfig(textOf(testCase, "yaml")), {
    ...(testCase["struct"] === true && { struct: true }),
    ...(testCase["readonly"] === true && { readonly: true }),
  });
}

function textOf(testCase: CorpusCase, field: string): string {
  const value = testCase[field];
  if (typeof value !== "string") throw new Error(`the case has no ${field}`);
  return value;
}

function textsOf(testCase: CorpusCase, field: string): readonly string[] {
  const value = testCase[field];
  if (!Array.isArray(value)) throw new Error(`the case has no ${field}`);
  return value.map(String);
}
