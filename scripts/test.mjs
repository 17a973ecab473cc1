// `npm test`: sets up what is missing, then every check, in the order in which failures are cheap.
// Arguments after `--` go to vitest, and then only vitest runs.
import {
  buildNativePart,
  buildTypeScript,
  installDependencies,
  requireNode,
  run,
  tool,
} from "./setup.mjs";

requireNode();
await installDependencies();
const only = process.argv.slice(2);
if (only.length === 0) {
  run([...tool("@biomejs/biome", "biome"), "check", "--error-on-warnings", "."]);
  run([...tool("typescript", "tsc"), "-p", "tsconfig.json"]);
  run([...tool("typescript", "tsc"), "-p", "src/report/client/tsconfig.json"]);
}
await buildTypeScript();
buildNativePart();
run([...tool("vitest"), "run", ...only]);
