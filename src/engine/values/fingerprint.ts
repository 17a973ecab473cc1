/** The fingerprint of a config, by which runs of the same one are recognised. */
import { createHash } from "node:crypto";
import type { ConfigNode } from "./node.ts";
import { toObject } from "./plain-objects.ts";

/**
 * Identifies a resolved config by its content: `sha256:` and a hash. The run directory is left out, so that two runs of
 * one config have the same fingerprint.
 *
 * @param checkpoint the directory of the checkpoint that the run continues with, which is left out, too
 */
export function configFingerprint(
  resolved: ConfigNode,
  runDirectory: string,
  checkpoint?: string,
): string {
  const text = JSON.stringify(toObject(resolved), (_, value: unknown) => {
    if (typeof value === "bigint") return { bigint: String(value) };
    if (typeof value !== "string") return value;
    // First: the run directory may be the beginning of the other one.
    const text = checkpoint === undefined ? value : value.replaceAll(checkpoint, "<checkpoint>");
    return text.replaceAll(runDirectory, "<run directory>");
  });
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}
