import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** Returns the absolute path of one that a person wrote: `~` is their home folder, others begin at `from`. */
export function givenPath(from: string, path: string, environment: { readonly [name: string]: string | undefined }): string {
  if (path === "~" || path.startsWith("~/")) return join(environment["HOME"] || homedir(), path.slice(1));
  return resolve(from, path);
}
