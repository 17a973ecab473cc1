import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packFolder, unpackInto } from "../packed-folder.ts";
import { CORPUS_NAMES, isOwnSample, PACKED_SAMPLES, packedCorpus, sharedDir } from "../shared.ts";

const HELP = `npm run corpora -- pack           renews the packed corpora and samples from ../shared (or HYDRACONF_SHARED)
npm run corpora -- unpack DIR     writes them as folders into DIR, to read or to replay with --corpus
`;

/** Each packed file with what it is made of. */
const PACKED = [
  ...CORPUS_NAMES.map((name) => ({ name, file: packedCorpus(name), includes: () => true })),
  { name: "samples/nsight", file: PACKED_SAMPLES, includes: isOwnSample },
];

process.exitCode = main(process.argv.slice(2));

function main([command, directory]: readonly string[]): number {
  if (command === "pack") return pack();
  if (command === "unpack" && directory !== undefined) return unpack(directory);
  process.stderr.write(HELP);
  return command === "--help" ? 0 : 2;
}

function pack(): number {
  const shared = sharedDir();
  if (shared === null) {
    process.stderr.write(
      "there is no ../shared to renew the corpora from; HYDRACONF_SHARED may name it\n",
    );
    return 1;
  }
  for (const { file, includes, name } of PACKED) {
    const packed = packFolder(join(shared, name), includes);
    const isOld = existsSync(file) && readFileSync(file).equals(packed);
    if (!isOld) writeFileSync(file, packed);
    process.stdout.write(`${name}: ${packed.length} bytes${isOld ? ", unchanged" : ""}\n`);
  }
  return 0;
}

function unpack(directory: string): number {
  for (const { file, name } of PACKED) {
    const target = join(directory, name);
    if (existsSync(target)) {
      process.stderr.write(`${target} exists already\n`);
      return 1;
    }
    unpackInto(target, readFileSync(file));
    process.stdout.write(`${target}\n`);
  }
  return 0;
}
