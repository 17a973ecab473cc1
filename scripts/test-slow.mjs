// `npm run test:slow`: what takes minutes rather than seconds, after `npm test`: the files `tests/**/*.slow.ts`. Arguments after `--` go to
// vitest.
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
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
// Thousands of directories are made and removed: in memory, where there is such a place.
const { TMPDIR = existsSync("/dev/shm") ? "/dev/shm" : tmpdir() } = process.env;
run([...tool("vitest"), "run", ...process.argv.slice(2)], { env: { HYDRACONF_SLOW: "1", TMPDIR } });
