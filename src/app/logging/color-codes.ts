import { ConfigError } from "../../values/errors.ts";

/** In the order of their codes: 30 to 37 as text, 10 more behind it, 60 more for the light ones. */
const COLORS = ["black", "red", "green", "yellow", "blue", "purple", "cyan", "white"];

const STYLES: Readonly<Record<string, number>> = { reset: 0, bold: 1, thin: 2 };

const TEXT_COLOR = new RegExp(`^(?:fg_)?(?:(bold|thin)_)?(light_)?(${COLORS.join("|")})$`);
const BACKGROUND = new RegExp(`^bg_(light_|bold_)?(${COLORS.join("|")})$`);
const NUMBERED = /^(fg|bg)_(0|[1-9]\d{0,2})$/;

/**
 * The escape code of one of colorlog's names: `red`, `bold_light_red`, `bg_red`, `fg_208`, `reset`.
 * Undefined for any other name.
 */
export function colorCode(name: string): string | undefined {
  if (Object.hasOwn(STYLES, name)) return sequence(STYLES[name]);
  const [, style, light, text] = TEXT_COLOR.exec(name) ?? [];
  if (text !== undefined)
    return sequence(style && STYLES[style], 30 + COLORS.indexOf(text) + (light ? 60 : 0));
  // There is no bold background: colorlog takes the name for the light one.
  const [, bright, behind] = BACKGROUND.exec(name) ?? [];
  if (behind !== undefined) return sequence(40 + COLORS.indexOf(behind) + (bright ? 60 : 0));
  const [, where, number] = NUMBERED.exec(name) ?? [];
  if (number === undefined || Number(number) > 255) return undefined;
  return sequence(where === "fg" ? 38 : 48, 5, Number(number));
}

const sequence = (...codes: readonly unknown[]): string =>
  `\u001b[${codes.filter((code) => code !== undefined).join(";")}m`;

/**
 * The escape codes of names such as `bold_red,bg_white`.
 *
 * @throws ConfigError `app.unsupported` for a name that is not one of colorlog's.
 */
export function colorCodes(names: string): string {
  return names
    .split(",")
    .filter((name) => name !== "")
    .map((name) => {
      const code = colorCode(name);
      if (code !== undefined) return code;
      throw new ConfigError({
        code: "app.unsupported",
        message: `Log colour '${name}' does not exist`,
        available: COLORS,
        hint: "each also as bold_, thin_, light_ or bg_, and fg_0 to fg_255",
      });
    })
    .join("");
}
