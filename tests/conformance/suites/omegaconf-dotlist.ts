import { isMissingAt, maskedCopy } from "../../../src/engine/values/edit/children.ts";
import { fromDotlist, mergeDotlist, updateNode } from "../../../src/engine/values/edit/update.ts";
import { isConfigError } from "../../../src/engine/values/errors.ts";
import {
  type ConfigNode,
  list,
  map,
  scalar,
  writtenScalar,
} from "../../../src/engine/values/node.ts";
import { fromCode } from "../../../src/engine/values/origin.ts";
import { withFlags } from "../../../src/engine/values/place.ts";
import {
  createResolveContext,
  type ResolveContext,
} from "../../../src/engine/values/resolution/context.ts";
import { IN_PLACE, resolveTree } from "../../../src/engine/values/resolution/resolve-tree.ts";
import { missingKeys, selectNode } from "../../../src/engine/values/resolution/select.ts";
import { createConfig } from "../../../src/engine/values/yaml/reader.ts";
import { writeYaml } from "../../../src/engine/values/yaml/writer.ts";
import type { CorpusCase } from "../corpus.ts";
import { judge } from "../judge.ts";
import type { Outcome, Suite } from "../suite.ts";
import { fromTagged, toTagged } from "../tagged.ts";
import { corpusResolvers } from "./omegaconf-resolvers.ts";

/** Everything that works on one tree by keys: `op` says which function the case is about. */
export const omegaconfDotlist: Suite = {
  name: "omegaconf/dotlist_update",
  dependsOnVersionBase: false,
  matches: (path) => /(^|\/)omegaconf\/dotlist_update\.jsonl$/.test(path),
  run(testCase, { dialect }) {
    const operation = OPERATIONS[textOf(testCase, "op")];
    if (operation === undefined) throw new Error(`unknown op ${String(testCase["op"])}`);
    const context = createResolveContext({ env: {}, dialect, resolvers: corpusResolvers() });
    return operation(testCase, context);
  },
};

type Operation = (testCase: CorpusCase, context: ResolveContext) => Outcome;

const OPERATIONS: Readonly<Record<string, Operation>> = {
  from_dotlist: (testCase, context) =>
    judgeTree(testCase, context, () => fromDotlist(textsOf(testCase, "dotlist"), context)),
  merge_with_dotlist: (testCase, context) =>
    judgeTree(testCase, context, () =>
      mergeDotlist(rootOf(testCase, context), textsOf(testCase, "dotlist"), context),
    ),
  update: (testCase, context) => judgeTree(testCase, context, () => update(testCase, context)),
  resolve: (testCase, context) =>
    judgeTree(testCase, context, () => resolveTree(rootOf(testCase, context), context, IN_PLACE)),
  masked_copy: (testCase, context) => judgeTree(testCase, context, () => mask(testCase, context)),
  select: (testCase, context) => judgeValue(testCase, () => select(testCase, context)),
  can_select: (testCase, context) => judgeValue(testCase, () => canSelect(testCase, context)),
  is_missing: (testCase, context) =>
    judgeValue(testCase, () =>
      scalar(isMissingAt(rootOf(testCase, context), textOf(testCase, "key")), ORIGIN),
    ),
  missing_keys: (testCase, context) => judgeValue(testCase, () => missing(testCase, context)),
};

const ORIGIN = fromCode("corpus");
const NULL = scalar(null, ORIGIN);

function judgeTree(
  testCase: CorpusCase,
  { dialect }: ResolveContext,
  produce: () => ConfigNode,
): Outcome {
  const { result_yaml, json } = testCase;
  return judge(testCase, json === undefined ? { result_yaml } : { result_yaml, json }, () => {
    const node = produce();
    const result = { result_yaml: writeYaml(node, { dialect }) };
    return json === undefined ? result : { ...result, json: toTagged(node) };
  });
}

const judgeValue = (testCase: CorpusCase, produce: () => ConfigNode): Outcome =>
  judge(testCase, testCase["value"], () => toTagged(produce()));

const update = (testCase: CorpusCase, context: ResolveContext): ConfigNode =>
  updateNode(
    rootOf(testCase, context),
    textOf(testCase, "key"),
    asWritten(fromTagged(testCase["value"]), context),
    { merge: testCase["merge"] !== false, forceAdd: testCase["force_add"] === true },
    context,
  );

/** A value as Python passes it: its texts are as they are written. */
function asWritten(node: ConfigNode, context: ResolveContext): ConfigNode {
  if (node.kind === "scalar")
    return { ...node, ...writtenScalar(node.value, ORIGIN, context.dialect) };
  if (node.kind === "list")
    return { ...node, items: node.items.map((item) => asWritten(item, context)) };
  return map(
    [...node.entries.values()].map(({ key, value }) => [key, asWritten(value, context)] as const),
    ORIGIN,
  );
}

function select(testCase: CorpusCase, context: ResolveContext): ConfigNode {
  const fallback = testCase["default"];
  const found = selectNode(rootOf(testCase, context), textOf(testCase, "key"), context, {
    throwOnMissing: testCase["throw_on_missing"] === true,
    throwOnResolutionFailure: testCase["throw_on_resolution_failure"] !== false,
    ...(fallback !== undefined && { default: fromTagged(fallback) }),
  });
  return found ?? NULL;
}

/** Whether something can be selected: what OmegaConf answers without saying why it cannot. */
function canSelect(testCase: CorpusCase, context: ResolveContext): ConfigNode {
  const options = { throwOnMissing: testCase["throw_on_missing"] === true };
  try {
    const found = selectNode(rootOf(testCase, context), textOf(testCase, "key"), context, options);
    return scalar(found !== undefined, ORIGIN);
  } catch (error) {
    if (isConfigError(error)) return scalar(false, ORIGIN);
    throw error;
  }
}

const mask = (testCase: CorpusCase, context: ResolveContext): ConfigNode =>
  maskedCopy(rootOf(testCase, context), [testCase["keys"]].flat().map(String));

const missing = (testCase: CorpusCase, context: ResolveContext): ConfigNode =>
  list(
    [...missingKeys(rootOf(testCase, context), context)].sort().map((key) => scalar(key, ORIGIN)),
    ORIGIN,
  );

function rootOf(testCase: CorpusCase, { dialect }: ResolveContext): ConfigNode {
  return withFlags(createConfig(textOf(testCase, "yaml"), { dialect }), {
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
