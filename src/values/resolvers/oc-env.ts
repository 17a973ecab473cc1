import { shellQuote } from "../../text/shell-words.ts";
import { ConfigError } from "../errors.ts";
import { pyStr } from "../python-text.ts";
import { expectArguments, expectText } from "./arguments.ts";
import type { Resolver } from "./resolver.ts";

/**
 * `${oc.env:NAME}` or `${oc.env:NAME,default}`: an environment variable as a string. The default
 * is turned into a string too, except null.
 */
export const ocEnv: Resolver = {
  name: "oc.env",
  pure: true,
  resolve(args, { context, node, fullKey }) {
    expectArguments(args, { required: ["key"], optional: ["default"] });
    const key = expectText("the name of the variable", args[0]);
    const value = Object.hasOwn(context.env, key) ? context.env[key] : undefined;
    if (value !== undefined) return value;
    const fallback = args[1]?.node;
    if (fallback === undefined)
      throw new ConfigError({
        code: "resolver.failed",
        message: `Resolver 'oc.env' failed: Environment variable '${key}' not found`,
        key: fullKey(),
        origin: node.origin,
        hint: `${toSet(key)}give a default: \${oc.env:${written(key)},VALUE}`,
      });
    return fallback.kind === "scalar" && fallback.value === null ? null : pyStr(fallback);
  },
};

/** How a variable is set before a command, as far as there can be one of this name. */
function toSet(name: string): string {
  if (name === "" || name.includes("=")) return "";
  // A shell itself sets no variable of another name.
  const byEnv = `env ${name.startsWith("-") ? "-- " : ""}${shellQuote(name)}=VALUE`;
  const setting = /^[A-Za-z_]\w*$/.test(name) ? `${name}=VALUE` : byEnv;
  return `put ${setting} before the command (a Python program or torchrun may set it itself), or `;
}

/** The name as an interpolation can have it; one that would need escapes goes without saying. */
function written(name: string): string {
  if (/['"\\$]/.test(name)) return "NAME";
  return PLAIN.test(name) ? name : `'${name}'`;
}

/** What needs no quotes, and is not the word for another value. */
const PLAIN = /^(?!(?:null|true|false|inf|nan)$)[a-z_][\w./-]*$/i;
