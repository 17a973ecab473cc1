/** Where the user's own settings are. */
import { homedir } from "node:os";
import { join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** The user's folder of configs. As in the XDG Base Directory Specification, a relative path is ignored. */
export const userFolder = (env: Environment): string =>
  folderIn(env, env["XDG_CONFIG_HOME"], ".config");

/** The user's folder of what can be made again. */
export const userCache = (env: Environment): string =>
  folderIn(env, env["XDG_CACHE_HOME"], ".cache");

const folderIn = ({ HOME }: Environment, named: string | undefined, usual: string): string =>
  join(named?.startsWith("/") ? named : join(HOME ?? homedir(), usual), "hydraconf");
