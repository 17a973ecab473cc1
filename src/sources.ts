/**
 * Sources of values beside YAML files. For `layers` of `compose`, `createEngine` and `hydraMain`: variables of the environment, `.env`
 * files, files with secrets. For `formats`: TOML, JSON and JSON5.
 *
 * @module hydraconf/sources
 */

export {
  type DotenvOptions,
  dotenv,
  type EnvironmentOptions,
  environment,
  type SecretFilesOptions,
  secretFiles,
} from "./engine/compose/layers/environment-layers.ts";
export type { ConfigFormat } from "./engine/compose/sources/formats.ts";
export { json, json5, toml } from "./engine/compose/sources/ready-formats.ts";
