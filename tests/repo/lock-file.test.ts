/** What `npm ci` installs is what the lock file was made from, on every platform and from every registry. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

interface LockedPackage {
  readonly integrity?: string;
  readonly link?: boolean;
  readonly resolved?: string;
}

/** That of the repository, and that of what only `npm run mutation` installs. */
describe.each(["package-lock.json", "scripts/mutation/package-lock.json"])("%s", (file) => {
  const { packages } = JSON.parse(
    readFileSync(new URL(`../../${file}`, import.meta.url), "utf8"),
  ) as { readonly packages: Readonly<Record<string, LockedPackage>> };

  const installed = Object.entries(packages).filter(([path]) => path !== "");

  it("every package has a checksum, those of other platforms too", () => {
    expect(installed.length).toBeGreaterThan(0);
    const without = installed.filter(
      ([, { integrity, link }]) => link !== true && !/^sha512-\S{86}==$/.test(integrity ?? ""),
    );
    expect(without.map(([path]) => path)).toEqual([]);
  });

  it("no package has the address of a registry", () => {
    expect(installed.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  });
});
