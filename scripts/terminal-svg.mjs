// What a terminal shows, as a picture: text with bold and dim parts on a dark ground.
const FONT_SIZE = 14;
const CHARACTER = 8.43;
const LINE = 20;
const PADDING = 16;
const ANSI_STYLE = new RegExp(`${String.fromCharCode(27)}\\[(\\d+)m`);

/** @param label what the picture shows, for those who do not see it */
export function terminalSvg(lines, { columns, label }) {
  const width = Math.ceil(columns * CHARACTER) + 2 * PADDING;
  const height = lines.length * LINE + 2 * PADDING;
  const rows = lines.map(
    (text, row) =>
      `<text x="${PADDING}" y="${PADDING + (row + 0.75) * LINE}" xml:space="preserve">${spans(text)}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeXml(label)}">
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
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
