import { extname } from "node:path/posix";
import type { Outliner } from "./block.ts";
import { outlineAtLines, outlineMarkdown } from "./outline-by-headings.ts";
import { outlineByIndentation, outlineDataByIndentation } from "./outline-by-indentation.ts";

const SECTIONS = outlineAtLines(/^\s*\[[^\]]*\]+\s*(?:[#;].*)?$/);
const BY_EXTENSION: { readonly [extension: string]: Outliner } = {
  ".md": outlineMarkdown,
  ".mdx": outlineMarkdown,
  ".markdown": outlineMarkdown,
  ".json": outlineDataByIndentation,
  ".jsonc": outlineDataByIndentation,
  ".json5": outlineDataByIndentation,
  ".yaml": outlineDataByIndentation,
  ".yml": outlineDataByIndentation,
  ".toml": SECTIONS,
  ".ini": SECTIONS,
  ".cfg": SECTIONS,
  ".conf": SECTIONS,
  ".tex": outlineAtLines(/^\s*\\(?:part|chapter|section|subsection)\b/),
  ".rst": outlineMarkdown,
  ".diff": outlineAtLines(/^(?:diff |Index: |--- )/),
  ".patch": outlineAtLines(/^(?:diff |Index: )/),
};

/** Returns how a file of this name is divided into blocks. */
export function outlinerOf(path: string): Outliner {
  return BY_EXTENSION[extname(path).toLowerCase()] ?? outlineByIndentation;
}
