import { checkObject, wrongArgument } from "../../values/check-arguments.ts";
import type { OptionCheck } from "../../values/check-options.ts";
import {
  anything,
  fn,
  mapOf,
  optional,
  shape,
  text,
  trueOrFalse,
} from "../../values/option-kinds.ts";

/** An entry of a store: a text, a tree, data, or what makes a tree. */
export const storeEntry: OptionCheck = (by, name, value) => {
  checkObject(by, name, value, HINT);
  MEMBERS(by, name, value);
  if (!["text", "create", "node", "value"].some((member) => member in value))
    throw wrongArgument(by, name, "an entry of a store", value, HINT);
};

const HINT =
  'give the config of an entry as one of: { value: data }, { text: "yaml" }, { node: tree }, { create: () => tree }';

/** A JSON Schema, or the validator of a library, which may be a function. */
const configSchema: OptionCheck = (by, name, value) => {
  if (typeof value !== "boolean" && typeof value !== "function") checkObject(by, name, value);
};

const MEMBERS = shape({
  text: optional(text),
  create: optional(fn),
  node: anything,
  value: anything,
  package: optional(text),
  replaceable: optional(trueOrFalse),
  schema: optional(configSchema),
});

export const configStore: OptionCheck = mapOf("configs", storeEntry);
