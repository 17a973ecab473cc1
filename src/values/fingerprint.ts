import { createHash } from "node:crypto";
import type { ConfigNode } from "./node.ts";
import { toObject } from "./plain-objects.ts";

/**
 * Names a resolved config by its content: `sha256:` and a hash. Where the results go is no part of
 * what was run, so that two runs of one config have one fingerprint.
 */
export function configFingerprint(resolved: ConfigNode, runDirectory: string): string {
  const text = JSON.stringify(toObject(resolved), (_, value: unknown) => {
    if (typeof value === "bigint") return { bigint: String(value) };
    return typeof value === "string" ? value.replaceAll(runDirectory, "<run directory>") : value;
  });
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}
