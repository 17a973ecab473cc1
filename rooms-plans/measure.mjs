#!/usr/bin/env node
// node measure.mjs [--repo DIR] [--list] [--json] [--check]: runs the repository's scripts/measures.mjs, or this worktree's copy of it.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
const args = process.argv.slice(2);
const at = args.indexOf("--repo");
const repo = resolve(at < 0 ? "." : args[at + 1]);
const rest = args.filter((_, i) => at < 0 || (i !== at && i !== at + 1));
const candidates = [join(repo, "scripts/measures.mjs"), "./lib/measures.mjs", "REPO/scripts/measures.mjs"];
const script = candidates.find(existsSync);
process.exitCode = spawnSync(process.execPath, [script, "--repo", repo, ...rest], { stdio: "inherit" }).status ?? 1;
