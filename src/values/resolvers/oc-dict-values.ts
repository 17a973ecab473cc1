import { checkTree } from "../check-tree.ts";
import type { NodeType } from "../node.ts";
import { list, scalar } from "../node.ts";
import { fromCode } from "../origin.ts";
import { keyText } from "../python-text.ts";
import { expectMap } from "./oc-dict.ts";
import type { Resolver } from "./resolver.ts";

const ANY: NodeType = { kind: "any" };

/**
 * `${oc.dict.values:key}`: the values of a map, as a list of references to them, typed as the map is. A relative key
 * gets one more dot, because the references stand one level deeper than the interpolation.
 */
export const ocDictValues: Resolver = {
  name: "oc.dict.values",
  pure: true,
  resolve(args, call) {
    const { key, map } = expectMap(args, call);
    const origin = fromCode("resolver oc.dict.values");
    const prefix = key.startsWith(".") ? `.${key}` : key;
    const references = [...map.entries.values()].map((entry) =>
      scalar(`\${${prefix}.${keyText(entry.key)}}`, origin),
    );
    const element = map.type?.kind === "map" ? map.type.element : ANY;
    // Some keys cannot stand in an interpolation.
    const node = checkTree(list(references, origin));
    return call.create({ ...node, type: { kind: "list", element, optional: true } });
  },
};
