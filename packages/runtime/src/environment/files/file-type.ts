import { extname } from "node:path/posix";

// The names a search may be narrowed by. An unknown name is taken as an extension.
const EXTENSIONS: { readonly [name: string]: readonly string[] } = {
  rust: ["rs"],
  python: ["py", "pyi"],
  js: ["js", "mjs", "cjs", "jsx"],
  typescript: ["ts", "tsx", "mts", "cts"],
  json: ["json"],
  yaml: ["yaml", "yml"],
  toml: ["toml"],
  markdown: ["md", "markdown"],
  go: ["go"],
  sh: ["sh", "bash"],
};
const SYNONYMS: { readonly [name: string]: string } = {
  rs: "rust",
  py: "python",
  javascript: "js",
  ts: "typescript",
  yml: "yaml",
  md: "markdown",
  bash: "sh",
};

/** True when a file of this name is of this type: `python`, `ts`, or any extension. */
export function hasFileType(path: string, fileType: string): boolean {
  const name = SYNONYMS[fileType] ?? fileType;
  const extension = extname(path).slice(1);
  return Object.hasOwn(EXTENSIONS, name) ? (EXTENSIONS[name] as readonly string[]).includes(extension) : extension === fileType;
}

const MIME_TYPES: { readonly [extension: string]: string } = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  svg: "image/svg+xml",
  pdf: "application/pdf",
  json: "application/json",
  html: "text/html",
  css: "text/css",
  md: "text/markdown",
  txt: "text/plain",
};

/** What the extension says, for the few types that somebody acts on. */
export function mimeTypeOf(path: string): string | undefined {
  const extension = extname(path).slice(1).toLowerCase();
  return Object.hasOwn(MIME_TYPES, extension) ? MIME_TYPES[extension] : undefined;
}
