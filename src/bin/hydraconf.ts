import { hydraMain } from "../app/hydra-main.ts";
import { packageInfo } from "../package-root.ts";

// Composes any Hydra tree and prints it; it writes nothing.
void hydraMain(
  {
    name: "hydraconf",
    version: packageInfo().version,
    configPath: "conf",
    configName: "config",
    whenBare: "show",
  },
  () => undefined,
).then((code) => {
  process.exitCode = code;
});
