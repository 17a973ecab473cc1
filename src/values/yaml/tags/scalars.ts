import { buildForeign, buildScalar } from "../construction.ts";
import { TAG } from "../syntax-node.ts";
import { invalid, textOf, type ValueTag } from "./tag-constructor.ts";

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ["yes", true],
  ["no", false],
  ["true", true],
  ["false", false],
  ["on", true],
  ["off", false],
]);

export const STRING: ValueTag = {
  kind: "value",
  tag: TAG.string,
  construct: (node, construction) => buildScalar(node, textOf(node, construction), construction),
};

/** Whatever the text is: `!!null abc` is null too. */
export const NULL: ValueTag = {
  kind: "value",
  tag: TAG.null,
  construct(node, construction) {
    textOf(node, construction);
    return buildScalar(node, null, construction);
  },
};

export const BOOLEAN: ValueTag = {
  kind: "value",
  tag: TAG.boolean,
  construct(node, construction) {
    const text = textOf(node, construction);
    const value = BOOLEANS.get(text.toLowerCase());
    if (value === undefined) throw invalid(node, construction, `'${text}' is not a boolean`);
    return buildScalar(node, value, construction);
  },
};

/** OmegaConf knows no dates: only an explicit tag makes one, and it is refused. */
export const TIMESTAMP: ValueTag = {
  kind: "value",
  tag: "tag:yaml.org,2002:timestamp",
  construct(node, construction) {
    const text = textOf(node, construction);
    return buildForeign(node, text.length > 10 ? "datetime" : "date", construction);
  },
};
