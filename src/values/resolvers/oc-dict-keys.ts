import { list, scalar } from "../node.ts";
import { fromCode } from "../origin.ts";
import { expectMap } from "./oc-dict.ts";
import type { Resolver } from "./resolver.ts";

/** `${oc.dict.keys:key}`: the keys of a map, as a list. */
export const ocDictKeys: Resolver = {
  name: "oc.dict.keys",
  pure: true,
  resolve(args, call) {
    const { map } = expectMap(args, call);
    const origin = fromCode("resolver oc.dict.keys");
    const keys = [...map.entries.values()].map(({ key }) => scalar(key, origin));
    return call.create(list(keys, origin));
  },
};
