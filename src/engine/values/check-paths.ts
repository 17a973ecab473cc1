/** The check of an argument that is a place on this machine. */
import { directoryAt } from "../../foundation/system/files.ts";
import { type OptionCheck, path, wrongArgument } from "./check-options.ts";

/** As `directoryAt` takes it: a path, or the URL of a file of this machine. */
export const pathOrFileUrl: OptionCheck = (by, name, value) => {
  path(by, name, value);
  try {
    directoryAt(String(value));
  } catch {
    throw wrongArgument(by, name, "a path or the URL of a file (import.meta.url)", value);
  }
};
