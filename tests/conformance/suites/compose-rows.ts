import type { DefaultsRow } from "../../../src/engine/compose/index.ts";

/** A row of the defaults list as the corpus writes it. */
export const rowOf = (row: DefaultsRow) => ({
  config_path: row.configPath,
  package: row.package,
  parent: row.parent,
  is_self: row.isSelf,
  primary: row.primary,
  override_key: row.overrideKey,
});
