import { join } from "node:path";
import { packageInfo } from "../../values/package-info.ts";

/** The contract file as OpenAPI 3.1 reads it; its schemas are JSON Schema 2020-12. */
export interface ContractDocument {
  readonly components: { readonly schemas: Readonly<Record<string, ContractSchema>> };
}

/** A JSON Schema of the contract, as far as our code reads it. */
export interface ContractSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, ContractSchema>>;
  readonly required?: readonly string[];
}

/** The absolute path of the contract, `region-report.openapi.yaml`, in this package. */
export const contractFile = (): string =>
  join(packageInfo().root, "schemas", "region-report.openapi.yaml");
