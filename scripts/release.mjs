// `npm run release`: builds the packages, and shows what `npm publish` would publish. With `-- --publish`, which is for CI, it
// publishes them. CONTRIBUTING.md has the steps around it.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { scriptArguments } from "./script-arguments.mjs";
import { buildTypeScript, root } from "./setup.mjs";

const { values } = scriptArguments(import.meta.url, { options: { publish: { type: "boolean" } } });
const publishes = values.publish === true;
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const problems = publishes ? obstacles() : [];
if (problems.length > 0) {
  for (const problem of problems) console.error(problem);
  process.exit(1);
}
await buildTypeScript();
const place = join(root, "tmp", "packages");
execFileSync(process.execPath, [join(root, "scripts", "pack.mjs"), place], { stdio: "inherit" });
// The others depend on hydraconf of the same version.
for (const name of ["hydraconf", "hydraconf-playground", "deep-profile"]) {
  const tarball = readdirSync(place).find((file) => file === `${name}-${version}.tgz`);
  if (tarball === undefined) throw new Error(`${name} ${version} was not packed`);
  execFileSync("npm", ["publish", ...(publishes ? [] : ["--dry-run"]), join(place, tarball)], {
    stdio: "inherit",
  });
}

/** Why this is no release. */
function obstacles() {
  const { GITHUB_REF_NAME: tag = "not known", GITHUB_REPOSITORY: repository } = process.env;
  const changes = readFileSync(join(root, "CHANGELOG.md"), "utf8");
  return [
    ...(!repository
      ? ["GITHUB_REPOSITORY is not set: only CI can sign where a package comes from"]
      : []),
    ...(tag === `v${version}` ? [] : [`the tag is ${tag}, not v${version}`]),
    ...(changes.includes(`\n## ${version} (`)
      ? []
      : [`CHANGELOG.md has no section '## ${version} (YYYY-MM-DD)'`]),
  ];
}
