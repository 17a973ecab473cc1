#!/usr/bin/env node
import { hydraMain } from "../app/hydra-main.ts";
import { packageInfo } from "../package-root.ts";

// Composes any Hydra tree and prints it; it writes nothing.
process.exitCode = await hydraMain(
  {
    name: "hydraconf",
    version: packageInfo().version,
    configPath: "conf",
    configName: "config",
    whenBare: "show",
  },
  () => undefined,
);
