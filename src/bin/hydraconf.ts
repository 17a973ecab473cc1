#!/usr/bin/env node
import { hydraMain } from "../app/hydra-main.ts";
import { packageVersion } from "../app/version.ts";

// Composes any Hydra tree and prints it; it writes nothing.
process.exitCode = await hydraMain(
  {
    name: "hydraconf",
    version: packageVersion(),
    configPath: "conf",
    configName: "config",
    whenBare: "show",
  },
  () => undefined,
);
