import type { MapNode } from "../node.ts";
import { pyTypeName } from "../python-text.ts";
import { expectArguments, expectText } from "./arguments.ts";
import type { ResolverArgument, ResolverCall } from "./resolver.ts";

/** The map that `oc.dict.keys` and `oc.dict.values` are asked about, and the key it was found at. */
export function expectMap(
  args: readonly ResolverArgument[],
  call: ResolverCall,
): { readonly key: string; readonly map: MapNode } {
  expectArguments(args, { required: ["key"] });
  const key = expectText("the key", args[0]);
  const place = call.select(key, { throwOnMissing: true });
  if (place === undefined) throw new Error(`Key not found: '${key}'`);
  const { node, result } = place;
  if (node.kind !== "map" || result === true)
    throw new TypeError(`cannot be applied to objects of type: ${pyTypeName(node)}`);
  return { key, map: node };
}
