import { styleText } from "node:util";

type Format = Parameters<typeof styleText>[0];

export type Paint = (text: string) => string;

/** How text is marked. Without colours every paint returns its text unchanged. */
export interface Style {
  readonly colors: boolean;
  readonly bold: Paint;
  readonly dim: Paint;
  readonly italic: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly blue: Paint;
  readonly magenta: Paint;
  readonly cyan: Paint;
}

export function createStyle(colors: boolean): Style {
  // Empty text stays empty, so that nobody has to guard against a lone pair of escape sequences.
  const paint = (format: Format): Paint =>
    colors ? (text) => (text === "" ? "" : styleText(format, text, { validateStream: false })) : (text) => text;
  return {
    colors,
    bold: paint("bold"),
    dim: paint("dim"),
    italic: paint("italic"),
    red: paint("red"),
    green: paint("green"),
    yellow: paint("yellow"),
    blue: paint("blue"),
    magenta: paint("magenta"),
    cyan: paint("cyan"),
  };
}

/** Names of terminals without colours, as the database of terminals (terminfo) has them: `xterm-mono`, `linux-m`, `vt100`. */
const COLORLESS = /^dumb$|-m(?:ono)?$|^vt(?:52|1\d\d|[2-4]20)\b/;

/** Whether a stream should get colours: `NO_COLOR` (https://no-color.org) beats `FORCE_COLOR` beats what the stream is. */
export function wantsColors(stream: { readonly isTTY?: boolean }, environment: { readonly [name: string]: string | undefined }): boolean {
  if (environment["NO_COLOR"] !== undefined && environment["NO_COLOR"] !== "") return false;
  const forced = environment["FORCE_COLOR"];
  if (forced !== undefined && forced !== "") return forced !== "0" && forced !== "false";
  return stream.isTTY === true && !COLORLESS.test(environment["TERM"] ?? "");
}
