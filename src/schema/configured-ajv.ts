import type { Ajv2020, Options } from "ajv/dist/2020.js";

/** What there is of ajv, however it was loaded. */
export interface LoadedAjv {
  readonly Ajv2020: typeof Ajv2020;
  readonly addFormats: (ajv: Ajv2020) => void;
}

/** An ajv for JSON Schema 2020-12 with the standard formats, reporting all errors with their data. */
export function configuredAjv({ Ajv2020, addFormats }: LoadedAjv, options: Options): Ajv2020 {
  const ajv = new Ajv2020({ allErrors: true, verbose: true, allowUnionTypes: true, ...options });
  addFormats(ajv);
  return ajv;
}
