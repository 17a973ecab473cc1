// Makes screenshots small: the pixels of a PNG with at most 256 colours, packed as tightly as zlib can.
// Pages have few colours besides the edges of letters, so that nobody sees a difference.
import { deflateSync, inflateSync } from "node:zlib";

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const MOST_COLORS = 256;

/** @param png 8 bits per channel, RGB or RGBA, not interlaced: as browsers write screenshots */
export function shrinkPng(png) {
  const { width, height, pixels } = decode(png);
  const palette = mostFrequent(pixels);
  const known = new Map(palette.map((color, index) => [color, index]));
  const rows = Buffer.alloc((width + 1) * height);
  for (let at = 0; at < pixels.length; at++) {
    const color = pixels[at];
    let index = known.get(color);
    if (index === undefined) {
      index = nearest(color, palette);
      known.set(color, index);
    }
    // Each row begins with its filter: 0, none, which suits palettes.
    rows[Math.floor(at / width) * (width + 1) + 1 + (at % width)] = index;
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  header[9] = 3;
  const colors = Buffer.from(
    palette.flatMap((color) => [color >> 16, (color >> 8) & 255, color & 255]),
  );
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", header),
    chunk("PLTE", colors),
    chunk("IDAT", deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** Colours as numbers 0xRRGGBB, a row after the other. */
function decode(png) {
  if (!png.subarray(0, 8).equals(SIGNATURE)) throw new Error("not a PNG file");
  const data = [];
  let header = null;
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const type = png.toString("latin1", at + 4, at + 8);
    const body = png.subarray(at + 8, at + 8 + length);
    if (type === "IHDR") header = body;
    if (type === "IDAT") data.push(body);
    at += length + 12;
  }
  const [depth, kind, , , interlaced] = header.subarray(8);
  if (depth !== 8 || (kind !== 2 && kind !== 6) || interlaced !== 0)
    throw new Error(`PNG of depth ${depth} and colour type ${kind} is not expected here`);
  const width = header.readUInt32BE(0);
  const height = header.readUInt32BE(4);
  const size = kind === 2 ? 3 : 4;
  const bytes = unfilter(inflateSync(Buffer.concat(data)), width * size, height, size);
  const pixels = new Uint32Array(width * height);
  for (let at = 0; at < pixels.length; at++)
    pixels[at] = (bytes[at * size] << 16) | (bytes[at * size + 1] << 8) | bytes[at * size + 2];
  return { width, height, pixels };
}

/** PNG specification, section 9: each byte is stored as the difference to what its neighbours tell. */
function unfilter(raw, stride, height, size) {
  const out = Buffer.alloc(stride * height);
  for (let row = 0; row < height; row++) {
    const filter = raw[row * (stride + 1)];
    for (let column = 0; column < stride; column++) {
      const at = row * stride + column;
      const left = column < size ? 0 : out[at - size];
      const up = row === 0 ? 0 : out[at - stride];
      const corner = column < size || row === 0 ? 0 : out[at - stride - size];
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter];
      out[at] = raw[row * (stride + 1) + 1 + column] + guess;
    }
  }
  return out;
}

function paeth(left, up, corner) {
  const estimate = left + up - corner;
  const [toLeft, toUp, toCorner] = [left, up, corner].map((each) => Math.abs(estimate - each));
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}

function mostFrequent(pixels) {
  const counts = new Map();
  for (const color of pixels) counts.set(color, (counts.get(color) ?? 0) + 1);
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, MOST_COLORS)
    .map(([color]) => color);
}

function nearest(color, palette) {
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (const [index, other] of palette.entries()) {
    const distance =
      ((color >> 16) - (other >> 16)) ** 2 +
      (((color >> 8) & 255) - ((other >> 8) & 255)) ** 2 +
      ((color & 255) - (other & 255)) ** 2;
    if (distance >= least) continue;
    least = distance;
    best = index;
  }
  return best;
}

function chunk(type, body) {
  const named = Buffer.concat([Buffer.from(type, "latin1"), body]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(body.length, 0);
  frame.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)]);
}

/** zlib of Node 20.19 has none. */
function crc32(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
