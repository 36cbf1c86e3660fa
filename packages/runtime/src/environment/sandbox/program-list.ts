import { basename, isAbsolute } from "node:path";
import { isWithin } from "./policy-path.ts";

const USUAL_FOLDERS = ["/usr/bin", "/bin", "/usr/local/bin"];

/** Whether a list of allowed programs holds this one: by what it is called, or by its name where it stands in a usual folder. */
export function isListed(list: readonly string[], program: string): boolean {
  return (
    list.includes(program) ||
    (isAbsolute(program) && list.includes(basename(program)) && USUAL_FOLDERS.some((folder) => isWithin(program, folder)))
  );
}
