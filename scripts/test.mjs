// `npm test`: sets up what is missing, checks style and types meanwhile, and then runs the tests.
// Arguments after `--` go to vitest, and then only vitest runs.
import {
  buildNativePart,
  buildTypeScript,
  installDependencies,
  requireNode,
  run,
  runBeside,
  tool,
} from "./setup.mjs";

requireNode();
await installDependencies();
const only = process.argv.slice(2);
const checks = [
  [...tool("@biomejs/biome", "biome"), "check", "--error-on-warnings", "."],
  [process.execPath, "scripts/typecheck.mjs"],
];
const checked = Promise.all(only.length > 0 ? [] : checks.map(runBeside));
await buildTypeScript();
buildNativePart();
if ((await checked).includes(false)) process.exit(1);
run([...tool("vitest"), "run", ...only]);
