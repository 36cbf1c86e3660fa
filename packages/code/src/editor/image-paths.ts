import { fileURLToPath } from "node:url";

/** A path of an image in a text. */
export interface ImagePath {
  /** The path without quotes and escapes: relative, absolute, or from `~/`. */
  readonly path: string;
  readonly start: number;
  readonly end: number;
}

const EXTENSION = "\\.(?:png|jpe?g|gif|webp)";
/** Text that may follow a path: its end, a blank, or punctuation. */
const END = "(?=$|[\\s,;:!?)\\]}>'\"]|\\.(?:\\s|$))";
const START = "(?<=^|[\\s([{<])";
/**
 * The forms in which a path is written: `@` and the path, quoted if it has blanks; and what terminals insert for a file that is dropped into them,
 * which is absolute and either quoted, or with escaped blanks, or a URL.
 */
const FORMS: readonly { readonly pattern: RegExp; readonly read: (text: string) => string | undefined }[] = [
  { pattern: new RegExp(`${START}@"(?<path>[^"\\n]+${EXTENSION})"`, "gi"), read: (path) => path },
  { pattern: new RegExp(`${START}@(?<path>[^\\s"]+?${EXTENSION})${END}`, "gi"), read: (path) => path },
  { pattern: new RegExp(`${START}'(?<path>(?:/|~/)[^'\\n]*?${EXTENSION})'`, "gi"), read: (path) => path },
  { pattern: new RegExp(`${START}"(?<path>(?:/|~/|[A-Za-z]:\\\\)[^"\\n]*?${EXTENSION})"`, "gi"), read: (path) => path },
  { pattern: new RegExp(`${START}(?<path>file://[^\\s"']+?${EXTENSION})${END}`, "gi"), read: pathOfUrl },
  {
    pattern: new RegExp(`${START}(?<path>(?:/|~/)(?:\\\\.|[^\\s\\\\"'])*?${EXTENSION})${END}`, "gi"),
    read: (path) => path.replace(/\\(.)/g, "$1"),
  },
];

/** Finds the paths of images that a person named in a message, in their order. */
export function findImagePaths(text: string): readonly ImagePath[] {
  const found: ImagePath[] = [];
  for (const { pattern, read } of FORMS)
    for (const match of text.matchAll(pattern)) {
      const path = read(match.groups?.["path"] ?? "");
      const [start, end] = [match.index, match.index + match[0].length];
      if (path !== undefined && !found.some((other) => start < other.end && other.start < end)) found.push({ path, start, end });
    }
  return found.toSorted((a, b) => a.start - b.start);
}

/** A URL that names another computer, or that is malformed, is no path. */
function pathOfUrl(url: string): string | undefined {
  try {
    return fileURLToPath(url);
  } catch {
    return undefined;
  }
}
