/** Where the user's own settings are. */
import { homedir } from "node:os";
import { join } from "node:path";

/** The user's folder of configs. As in the XDG Base Directory Specification, a relative path is ignored. */
export function userFolder(env: Readonly<Record<string, string | undefined>>): string {
  const { HOME, XDG_CONFIG_HOME } = env;
  const folder = XDG_CONFIG_HOME?.startsWith("/")
    ? XDG_CONFIG_HOME
    : join(HOME ?? homedir(), ".config");
  return join(folder, "hydraconf");
}
