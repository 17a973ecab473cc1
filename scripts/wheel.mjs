// Writes a wheel, a package for pip (packaging.python.org, "Binary distribution format"): a zip of files with a list of their hashes.
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32, deflateRawSync } from "node:zlib";

/**
 * @param scripts programs by name, which pip puts where the environment has its own
 * @param modules Python files by path, which pip puts where Python finds packages
 * @param tag for which Python and system it is: py3-none-manylinux_2_28_x86_64
 * @returns the path of the wheel
 */
export function writeWheel(
  folder,
  { name, version, summary, license, readme, tag, scripts, modules, licences },
) {
  const info = `${name}-${version}.dist-info`;
  const metadata = [
    ...["Metadata-Version: 2.1", `Name: ${name}`, `Version: ${version}`, `Summary: ${summary}`],
    ...[`License: ${license}`, "Requires-Python: >=3.7"],
    ...Object.keys(licences).map((file) => `License-File: ${file}`),
    ...["Description-Content-Type: text/markdown", "", readme],
  ];
  const files = [
    ...Object.entries(scripts).map(([file, bytes]) => ({
      path: `${name}-${version}.data/scripts/${file}`,
      bytes,
      mode: 0o755,
    })),
    ...Object.entries(modules).map(([path, text]) => ({ path, bytes: Buffer.from(text) })),
    ...Object.entries(licences).map(([file, bytes]) => ({
      path: `${info}/licenses/${file}`,
      bytes,
    })),
    { path: `${info}/METADATA`, bytes: Buffer.from(metadata.join("\n")) },
    {
      path: `${info}/WHEEL`,
      bytes: Buffer.from(
        `Wheel-Version: 1.0\nGenerator: ${name} (scripts/wheel.mjs)\nRoot-Is-Purelib: false\nTag: ${tag}\n`,
      ),
    },
  ];
  const record = `${info}/RECORD`;
  const lines = files.map(({ bytes, path }) => {
    const hash = createHash("sha256").update(bytes).digest("base64url");
    return `${path},sha256=${hash},${bytes.length}\n`;
  });
  const wheel = join(folder, `${name}-${version}-${tag}.whl`);
  const all = [...files, { path: record, bytes: Buffer.from(`${lines.join("")}${record},,\n`) }];
  writeFileSync(wheel, zipOf(all));
  return wheel;
}

/** 1 January 1980, as zip counts: the same files make the same wheel. */
const DATE = 33;
const DEFLATE = 8;
const UNIX = 3 << 8;

function zipOf(files) {
  const parts = [];
  const directory = [];
  let offset = 0;
  for (const { bytes, mode = 0o644, path } of files) {
    const name = Buffer.from(path);
    const packed = deflateRawSync(bytes, { level: 9 });
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(DEFLATE, 4);
    common.writeUInt16LE(DATE, 8);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(bytes.length, 18);
    common.writeUInt16LE(name.length, 22);
    const entry = Buffer.alloc(14);
    // A regular file with its rights, in the upper half.
    entry.writeUInt32LE(((0o100000 | mode) << 16) >>> 0, 6);
    entry.writeUInt32LE(offset, 10);
    const local = [Buffer.from("PK\x03\x04"), common, name, packed];
    const version = Buffer.alloc(2);
    version.writeUInt16LE(UNIX | 20, 0);
    directory.push(Buffer.from("PK\x01\x02"), version, common, entry, name);
    parts.push(...local);
    offset += local.reduce((sum, { length }) => sum + length, 0);
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, ...directory, end]);
}
