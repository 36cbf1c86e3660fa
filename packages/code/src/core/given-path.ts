import { resolve } from "node:path";
import { UsageError } from "../options/usage-error.ts";
import { homePath, isHomePath } from "./home-path.ts";

/**
 * Returns the absolute path of one that a person wrote: `~` is their home folder, others begin at `from`.
 * @throws UsageError if the home folder is not known
 */
export function givenPath(from: string, path: string, environment: { readonly [name: string]: string | undefined }): string {
  if (!isHomePath(path)) return resolve(from, path);
  const found = homePath(path, environment);
  if (found === undefined)
    throw new UsageError(
      `${path} is in the home folder, and HOME names none`,
      `Set HOME, or give an absolute path. A folder that is named ~ is ./${path}`,
    );
  return found;
}
