import { readFileSync } from "node:fs";
import type { ValidateFunction } from "ajv";
import { createAjv } from "../../schema/ajv.ts";
import { toObject } from "../../values/plain-objects.ts";
import { readYaml } from "../../values/yaml/reader.ts";
import { type ContractDocument, contractFile } from "../model/contract.ts";
import type { RegionReportBundle } from "../model/document.ts";

const CONTRACT_ID = "urn:hydraconf:region-report";

/** Reads the contract that ships with the package. */
export const readContract = (): ContractDocument =>
  toObject(
    readYaml(readFileSync(contractFile(), "utf8"), { name: contractFile() }),
  ) as unknown as ContractDocument;

/** The contract's schema of a bundle as a function. Loads ajv and YAML: import it when needed. */
export function compileContract(): ValidateFunction<RegionReportBundle> {
  const ajv = createAjv();
  // OpenAPI's place for schemas, not a keyword of JSON Schema.
  ajv.addKeyword("components");
  ajv.addSchema({ $id: CONTRACT_ID, components: readContract().components });
  return ajv.compile({ $ref: `${CONTRACT_ID}#/components/schemas/RegionReportBundle` });
}
