import type { GlobOptions, Vfs } from "@keelson/protocol";

/** Files that a search looks into, in a stable order. */
export interface SearchedFiles {
  readonly paths: readonly string[];
  /** True if these are all. */
  readonly isComplete: boolean;
}

const MAX_LISTED = 20_000;

/** Lists the file, or the files below a folder that are not ignored and match a pattern. */
export async function listSearched(
  files: Vfs,
  { path = ".", glob }: { readonly path?: string; readonly glob?: string },
  { signal, mayRead, onOmitted }: Pick<GlobOptions, "signal" | "mayRead" | "onOmitted">,
): Promise<SearchedFiles> {
  const { isDir } = await files.stat(path, { signal });
  if (!isDir) return { paths: [path], isComplete: true };
  // A name without a folder matches at any depth.
  const pattern = glob === undefined ? "**/*" : glob.includes("/") ? glob : `**/${glob}`;
  const options = { path, gitignore: true, leaveOut: ["node_modules"], limit: MAX_LISTED + 1, mayRead, onOmitted, signal };
  const entries = await files.glob(pattern, options);
  const paths = entries.filter((entry) => !entry.isDir).map((entry) => entry.path);
  return { paths: paths.slice(0, MAX_LISTED).sort(), isComplete: entries.length <= MAX_LISTED };
}
