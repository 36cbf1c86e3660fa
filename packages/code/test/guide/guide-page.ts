import type { KeyBinding } from "../../src/editor/keys.ts";

const SCREEN = "screen: ";

/** Returns the names of the screens that a page has places for, in their order. */
export function screenNames(page: string): readonly string[] {
  return [...page.matchAll(/^<!-- screen: (?<name>[\w-]+) -->$/gm)].map(({ groups }) => groups?.["name"] ?? "");
}

/** Returns the screen of a name that a page shows. @throws Error if the page has no place for it */
export function screenIn(page: string, name: string): string {
  const block = blockIn(page, `${SCREEN}${name}`);
  return /^(?<fence>`{3,})text\n(?<screen>[^]*)\n\k<fence>$/.exec(block)?.groups?.["screen"] ?? "";
}

/** Returns the page with another screen in the place of a name. @throws Error if the page has no place for it */
export function withScreen(page: string, name: string, screen: string): string {
  const longest = Math.max(2, ...[...screen.matchAll(/^ {0,3}(`{3,})/gm)].map(([, marks = ""]) => marks.length));
  const fence = "`".repeat(longest + 1);
  return withBlock(page, `${SCREEN}${name}`, `${fence}text\n${screen}\n${fence}`);
}

/** Returns the page with another table of keys. @throws Error if the page has no place for it */
export function withKeys(page: string, keys: readonly KeyBinding[]): string {
  return withBlock(page, "keys", ["| key | effect |", "| --- | --- |", ...keys.map(keyRow)].join("\n"));
}

function keyRow({ key, does }: KeyBinding): string {
  const names = key.split(", ").map((name) => `\`${name}\``);
  return `| ${names.join(", ")} | ${does} |`;
}

function blockIn(page: string, name: string): string {
  const { start, end } = placeOf(page, name);
  return page.slice(start, end).trimEnd();
}

function withBlock(page: string, name: string, text: string): string {
  const { start, end } = placeOf(page, name);
  return `${page.slice(0, start)}${text}\n${page.slice(end)}`;
}

/** Returns where the lines between two marks begin and end. */
function placeOf(page: string, name: string): { readonly start: number; readonly end: number } {
  const open = `<!-- ${name} -->\n`;
  const close = `<!-- end of ${name.startsWith(SCREEN) ? "screen" : name} -->\n`;
  const before = page.indexOf(open);
  const start = before + open.length;
  const end = page.indexOf(close, start);
  if (before < 0 || end < 0) throw new Error(`The page has no place for "${name}": write ${open.trim()} and ${close.trim()} around it.`);
  return { start, end };
}
