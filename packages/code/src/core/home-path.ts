import { isAbsolute, join } from "node:path";

/** True for `~` and `~/x`: paths in the home folder of the user. A folder that is named `~` is `./~`. */
export function isHomePath(path: string): boolean {
  return path === "~" || path.startsWith("~/");
}

/** Returns the absolute path of one in the home folder. `undefined`: `HOME` names no folder. */
export function homePath(path: string, environment: { readonly [name: string]: string | undefined }): string | undefined {
  const home = environment["HOME"];
  return home === undefined || !isAbsolute(home) ? undefined : join(home, path.slice(1));
}
