import type { ThemeName as ThemeSetting } from "../settings/theme-names.ts";
import type { Look, Role } from "./span.ts";

export type ThemeName = Exclude<ThemeSetting, "auto">;

/** The colours of a screen. Structure never rests on them: `marks` writes it into the text instead. */
export interface Theme {
  readonly name: ThemeName;
  /** True if emphasis, headings and code keep their Markdown marks, because nothing else shows them. */
  readonly marks: boolean;
  paint(text: string, look: Look): string;
}

/** Parameters of `CSI … m` by role. */
type Codes = { readonly [role in Role]?: string };

/** The 16 colours that the terminal itself defines, readable on its background whatever that is. */
const ANSI: Codes = {
  "title": "1;4",
  "heading": "1",
  "code": "36",
  "link": "4;34",
  "address": "2",
  "quote": "3",
  "bar": "2",
  "marker": "36",
  "frame": "2",
  "fence": "2",
  "markup": "2",
  "keyword": "35",
  "string": "32",
  "number": "33",
  "comment": "2",
  "function": "34",
  "type": "36",
  "variable": "31",
  "attribute": "36",
  "meta": "2",
  "added": "32",
  "removed": "31",
  "added-word": "32;7",
  "removed-word": "31;7",
  "faint": "2",
};

const DARK: Codes = {
  "title": "1;4;38;5;222",
  "heading": "1;38;5;222",
  "code": "38;5;116",
  "link": "4;38;5;111",
  "address": "38;5;245",
  "quote": "3;38;5;250",
  "bar": "38;5;240",
  "marker": "38;5;116",
  "frame": "38;5;240",
  "fence": "38;5;245",
  "markup": "38;5;245",
  "keyword": "38;5;176",
  "string": "38;5;150",
  "number": "38;5;216",
  "comment": "3;38;5;245",
  "function": "38;5;111",
  "type": "38;5;116",
  "variable": "38;5;210",
  "attribute": "38;5;152",
  "meta": "38;5;245",
  "added": "38;5;150",
  "removed": "38;5;210",
  "added-word": "1;38;5;231;48;5;22",
  "removed-word": "1;38;5;231;48;5;52",
  "faint": "38;5;245",
};

const LIGHT: Codes = {
  "title": "1;4;38;5;94",
  "heading": "1;38;5;94",
  "code": "38;5;24",
  "link": "4;38;5;26",
  "address": "38;5;242",
  "quote": "3;38;5;240",
  "bar": "38;5;248",
  "marker": "38;5;24",
  "frame": "38;5;248",
  "fence": "38;5;242",
  "markup": "38;5;242",
  "keyword": "38;5;90",
  "string": "38;5;22",
  "number": "38;5;130",
  "comment": "3;38;5;242",
  "function": "38;5;26",
  "type": "38;5;24",
  "variable": "38;5;124",
  "attribute": "38;5;30",
  "meta": "38;5;242",
  "added": "38;5;22",
  "removed": "38;5;124",
  "added-word": "1;38;5;22;48;5;194",
  "removed-word": "1;38;5;88;48;5;224",
  "faint": "38;5;242",
};

const CODES: { readonly [name in ThemeName]: Codes | undefined } = { ansi: ANSI, dark: DARK, light: LIGHT, none: undefined };

export function createTheme(name: ThemeName): Theme {
  const codes = CODES[name];
  if (codes === undefined) return { name, marks: true, paint: (text) => text };
  const opened = new WeakMap<Look, string>();
  const openingOf = (look: Look): string => {
    const known = opened.get(look);
    if (known !== undefined) return known;
    const parameters = [
      look.role === undefined ? undefined : codes[look.role],
      look.bold === true ? "1" : undefined,
      look.italic === true ? "3" : undefined,
      look.underline === true ? "4" : undefined,
      look.strike === true ? "9" : undefined,
    ].filter((parameter) => parameter !== undefined);
    const opening = parameters.length === 0 ? "" : `\u001b[${parameters.join(";")}m`;
    opened.set(look, opening);
    return opening;
  };
  return {
    name,
    marks: false,
    paint(text, look) {
      const opening = text === "" ? "" : openingOf(look);
      return opening === "" ? text : `${opening}${text}\u001b[0m`;
    },
  };
}

export interface ThemeFacts {
  /** Default: `ansi`. */
  readonly setting?: ThemeSetting | undefined;
  /** False if the screen gets no colours, as with `NO_COLOR`. */
  readonly colors: boolean;
  readonly environment: { readonly [name: string]: string | undefined };
  /** The answer to `OSC 11 ; ?`, such as `rgb:1e1e/1e1e/1e1e`. */
  readonly background?: string | undefined;
}

export function chooseTheme({ setting = "ansi", colors, environment, background }: ThemeFacts): ThemeName {
  if (!colors) return "none";
  if (setting !== "auto") return setting;
  const isLight = lightBackground(background) ?? lightColorFgBg(environment["COLORFGBG"]);
  return isLight === undefined ? "ansi" : isLight ? "light" : "dark";
}

/** True for a light colour, by its luminance; `undefined` if the text is no colour. */
function lightBackground(reported: string | undefined): boolean | undefined {
  const channels = /rgba?:([0-9a-f]{1,4})\/([0-9a-f]{1,4})\/([0-9a-f]{1,4})/i.exec(reported ?? "")?.slice(1);
  if (channels === undefined) return undefined;
  const [red = 0, green = 0, blue = 0] = channels.map((digits) => Number.parseInt(digits, 16) / (16 ** digits.length - 1));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.5;
}

/** The last number of `COLORFGBG` is the background: 7 and 9 to 15 are light. */
function lightColorFgBg(value: string | undefined): boolean | undefined {
  const background = /(?:^|;)(\d{1,2})$/.exec(value ?? "")?.[1];
  if (background === undefined || Number(background) > 15) return undefined;
  return background === "7" || Number(background) > 8;
}
