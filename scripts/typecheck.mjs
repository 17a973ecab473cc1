// `npm run typecheck`: the types of all TypeScript here, by the native compiler. One project after the other and each in one
// thread, since the tests' set-up has other work for the processors meanwhile.

import { scriptArguments } from "./script-arguments.mjs";
import { run, tool } from "./setup.mjs";

scriptArguments(import.meta.url);

const PROJECTS = [
  "tsconfig.json",
  ...["app/sweep", "playground", "report"].map((room) => `src/${room}/client/tsconfig.json`),
];

// The compiler is written in Go, whose collector would take a third of its time: it may have four times what is in use.
const env = { GOGC: "400" };
for (const project of PROJECTS)
  run([...tool("@typescript/native", "tsc"), "--noEmit", "--singleThreaded", "-p", project], {
    env,
  });
