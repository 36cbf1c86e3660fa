import type { Vfs } from "@keelson/protocol";
import { resolveVirtualPath } from "./virtual-path.ts";

/** Where a path of any files leads. */
export async function realPathIn(files: Vfs, path: string): Promise<string> {
  if (files.realPath !== undefined) return files.realPath(path);
  const root = files.root ?? "/";
  return resolveVirtualPath(path, files.capabilities.has("pwd") ? await files.pwd() : root, root);
}
