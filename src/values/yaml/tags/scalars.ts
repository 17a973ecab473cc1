import { TAG } from "../syntax-node.ts";
import { invalid, type TagConstructor, textOf } from "./tag-constructor.ts";

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ["yes", true],
  ["no", false],
  ["true", true],
  ["false", false],
  ["on", true],
  ["off", false],
]);

export const STRING: TagConstructor = {
  tag: TAG.string,
  construct: (node, construction) => construction.scalar(node, textOf(node, construction)),
};

/** Whatever the text is: `!!null abc` is null too. */
export const NULL: TagConstructor = {
  tag: TAG.null,
  construct(node, construction) {
    textOf(node, construction);
    return construction.scalar(node, null);
  },
};

export const BOOLEAN: TagConstructor = {
  tag: TAG.boolean,
  construct(node, construction) {
    const text = textOf(node, construction);
    const value = BOOLEANS.get(text.toLowerCase());
    if (value === undefined) throw invalid(node, construction, `'${text}' is not a boolean`);
    return construction.scalar(node, value);
  },
};

/** OmegaConf knows no dates: only an explicit tag makes one, and it is refused. */
export const TIMESTAMP: TagConstructor = {
  tag: "tag:yaml.org,2002:timestamp",
  construct(node, construction) {
    const text = textOf(node, construction);
    return construction.foreign(node, text.length > 10 ? "datetime" : "date");
  },
};
