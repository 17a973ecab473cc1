/** The fingerprint of a config, by which runs of the same one are recognised. */
import { createHash } from "node:crypto";
import type { ConfigNode } from "./node.ts";
import { toObject } from "./plain-objects.ts";

/**
 * Identifies a resolved config by its content: `sha256:` and a hash. The run directory is left out, so that two runs of
 * one config have the same fingerprint.
 */
export function configFingerprint(resolved: ConfigNode, runDirectory: string): string {
  const text = JSON.stringify(toObject(resolved), (_, value: unknown) => {
    if (typeof value === "bigint") return { bigint: String(value) };
    return typeof value === "string" ? value.replaceAll(runDirectory, "<run directory>") : value;
  });
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}
