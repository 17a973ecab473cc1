// Makes the README's picture from a real run: node scripts/readme-picture.mjs
// Profiles the nested sample regions and draws what the terminal shows as SVG.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { renderRegionTable } from "../dist/report/index.js";
import { root } from "./setup.mjs";

const COLUMNS = 76;
const FONT_SIZE = 14;
const CHARACTER = 8.43;
const LINE = 20;
const PADDING = 16;
const ANSI_STYLE = new RegExp(`${String.fromCharCode(27)}\\[(\\d+)m`);

const command = ["workload=nvtx_regions", "infer.batch_size=16"];
const lines = [`$ npm start -- ${command.join(" ")}`, "", ...profiledTable().trimEnd().split("\n")];
writeFileSync(join(root, "docs/images/first-run.svg"), svg(lines));

function profiledTable() {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-picture-"));
  try {
    const program = join(root, "dist/bin/deep-profile.js");
    execFileSync(process.execPath, [program, ...command, "hydra.run.dir=run"], { cwd });
    const report = readFileSync(join(cwd, "run/recorder/regions/report.json"), "utf8");
    return renderRegionTable(JSON.parse(report).reports[0], { width: COLUMNS, color: true });
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

function svg(texts) {
  const width = Math.ceil(COLUMNS * CHARACTER) + 2 * PADDING;
  const height = texts.length * LINE + 2 * PADDING;
  const rows = texts.map(
    (text, row) =>
      `<text x="${PADDING}" y="${PADDING + (row + 0.75) * LINE}" xml:space="preserve">${spans(text)}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="Region table of a run">
<style>text{font:${FONT_SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#d8dee9}.b{font-weight:700;fill:#88c0d0}.d{fill:#8a93a5}</style>
<rect width="100%" height="100%" rx="8" fill="#20242c"/>
${rows.join("\n")}
</svg>
`;
}

/** The terminal's bold and dim as spans; the table uses no other escapes. */
function spans(text) {
  const classes = { 1: "b", 2: "d" };
  return text
    .split(ANSI_STYLE)
    .map((part, index, parts) => {
      if (index % 2 === 1 || part === "") return "";
      const style = classes[parts[index - 1]];
      return style ? `<tspan class="${style}">${escapeXml(part)}</tspan>` : escapeXml(part);
    })
    .join("");
}

function escapeXml(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
