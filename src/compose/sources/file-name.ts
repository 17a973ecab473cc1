/** `db/mysql` and `db/mysql.yaml` both name the file `db/mysql.yaml`; `.yml` is never looked for. */
export const yamlFileName = (configPath: string): string =>
  configPath.endsWith(".yaml") ? configPath : `${configPath}.yaml`;
