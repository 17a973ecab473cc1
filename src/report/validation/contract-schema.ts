/** The contract of region reports as it ships, apart from what validates by it: the types of that need none of ajv's. */
import { readFileSync } from "node:fs";
import type { ShippedSchema } from "../../engine/schema/ajv.ts";
import { toObject } from "../../engine/values/plain-objects.ts";
import { readYaml } from "../../engine/values/yaml/reader.ts";
import { type ContractDocument, contractFile } from "../model/contract.ts";
import type { RegionReportBundle } from "../model/document.ts";

const CONTRACT_ID = "urn:hydraconf:region-report";

/** Reads the contract that ships with the package. */
export const readContract = (): ContractDocument => contractOf(contractText());

const contractText = (): string => readFileSync(contractFile(), "utf8");

const contractOf = (text: string): ContractDocument =>
  toObject(
    readYaml(text, { name: contractFile(), env: process.env }),
  ) as unknown as ContractDocument;

/** The contract's schema of a bundle. */
export function contractSchema(): ShippedSchema<RegionReportBundle> {
  const text = contractText();
  return {
    text,
    compile(ajv) {
      // The place of schemas in OpenAPI, which is no keyword of JSON Schema.
      ajv.addKeyword("components");
      ajv.addSchema({ $id: CONTRACT_ID, components: contractOf(text).components });
      return ajv.compile({ $ref: `${CONTRACT_ID}#/components/schemas/RegionReportBundle` });
    },
  };
}
