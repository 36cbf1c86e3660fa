/** Characters that would divide a line, hide text or reverse its order. */
// oxlint-disable-next-line no-control-regex
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\uFEFF]/g;

/** Shows a path in a list of one path a line: in quotes and with escapes if it would not be one line, or if blanks at its ends would be lost. */
export function shownName(path: string): string {
  if (path.search(UNPRINTABLE) === -1 && path.trim() === path && !path.startsWith('"')) return path;
  return JSON.stringify(path).replace(UNPRINTABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
