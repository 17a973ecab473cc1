// `npm run build`: TypeScript and native; `-- ts` or `-- native` for one of them.

import { scriptArguments } from "./script-arguments.mjs";
import { buildNativePart, buildTypeScript, installDependencies, requireNode } from "./setup.mjs";

// The options of the native part are its own: scripts/native.mjs.
const [first, ...rest] = process.argv.slice(2);
const isNative = first === "native";
const part = isNative ? first : scriptArguments(import.meta.url, { most: 1 }).words[0];
if (part !== undefined && part !== "ts" && part !== "native") {
  console.error(`unknown part '${part}': ts or native`);
  process.exit(2);
}
requireNode();
await installDependencies();
if (part !== "native") await buildTypeScript({ force: true });
if (part !== "ts") buildNativePart(["--afresh", ...(isNative ? rest : [])]);
