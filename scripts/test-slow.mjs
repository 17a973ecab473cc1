// `npm run test:slow`: what takes minutes rather than seconds, after `npm test`: the files `tests/**/*.slow.ts`. Arguments after `--` go to
// vitest.
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
await buildTypeScript();
buildNativePart();
run([...tool("vitest"), "run", ...process.argv.slice(2)], { env: { HYDRACONF_SLOW: "1" } });
