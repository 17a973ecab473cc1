/** What `npm ci` installs is what the lock file was made from, on every platform and from every registry. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

interface LockedPackage {
  readonly integrity?: string;
  readonly link?: boolean;
  readonly resolved?: string;
}

const { packages } = JSON.parse(
  readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8"),
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
