// `npm run build`: TypeScript and native; `-- ts` or `-- native` for one of them.
import { buildNativePart, buildTypeScript, installDependencies, requireNode } from "./setup.mjs";

const [part, ...rest] = process.argv.slice(2);
if (part !== undefined && part !== "ts" && part !== "native") {
  console.error(`unknown part '${part}': ts or native`);
  process.exit(2);
}
requireNode();
await installDependencies();
if (part !== "native") await buildTypeScript({ force: true });
if (part !== "ts") buildNativePart(["--afresh", ...rest]);
