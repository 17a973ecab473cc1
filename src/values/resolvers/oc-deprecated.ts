import { expectArguments, expectText } from "./arguments.ts";
import type { Resolver } from "./resolver.ts";

const MESSAGE = "'$OLD_KEY' is deprecated. Change your code and config to use '$NEW_KEY'";

/**
 * `${oc.deprecated:new.key}` or `${oc.deprecated:new.key,message}`: stands at the old key of
 * something that moved. Gives what stands at the new key and warns at every use.
 */
export const ocDeprecated: Resolver = {
  name: "oc.deprecated",
  resolve(args, call) {
    expectArguments(args, { required: ["key"], optional: ["message"] });
    const key = expectText("interpolation key type", args[0]);
    const message = args.length > 1 ? expectText("interpolation message type", args[1]) : MESSAGE;
    const oldKey = call.fullKey();
    const target = call.select(key);
    if (target === undefined) throw new Error(`At '${oldKey}': Key not found: '${key}'`);
    call.context.warn(substitute(message, { OLD_KEY: oldKey, NEW_KEY: call.fullKey(target) }));
    return target;
  },
};

/** Python's `string.Template.safe_substitute`: unknown names stay, `$$` is a dollar. */
function substitute(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(
    /\$(?:(\$)|([_a-zA-Z][_a-zA-Z0-9]*)|\{([_a-zA-Z][_a-zA-Z0-9]*)\})/g,
    (all: string, dollar?: string, name?: string, braced?: string) => {
      if (dollar !== undefined) return "$";
      const key = name ?? braced ?? "";
      return Object.hasOwn(values, key) ? (values[key] ?? all) : all;
    },
  );
}
