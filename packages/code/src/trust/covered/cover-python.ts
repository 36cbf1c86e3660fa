import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { CoveredFiles } from "./covered-files.ts";

/** Words by which a script runs programs, or code that it computes or finds elsewhere than beside itself. */
const LOADS_MORE =
  /\b(?:subprocess|importlib|runpy|ctypes|multiprocessing|pkgutil|zipimport|imp|code|codeop|site|pty|eval|exec|execfile|compile|__import__|popen|spawn\w*|exec[lv]\w*|sys\s*\.\s*(?:path|modules|meta_path)|os\s*\.\s*(?:system|popen|exec\w*|spawn\w*|posix_spawn\w*))\b/;

/**
 * Adds a script that Python runs, with its whole folder, which is where it looks for modules first. Modules of folders beside it are found in
 * the same folder; what the scripts there run beyond it is not understood.
 */
export function coverPython(entry: string, files: CoveredFiles): void {
  const real = files.addRun(entry);
  if (real === undefined) return files.notUnderstood(`${entry}, which is no file of the repository`);
  const folder = dirname(real);
  if (folder === files.project) return files.notUnderstood(`${entry}, which may import whatever is beside it at the root`);
  files.addFolder(folder);
  for (const path of files.pathsIn(folder)) {
    if (/\.(?:pth|so|pyd|zip)$/.test(path)) files.notUnderstood(`${path}, which Python may load`);
    if ((path === real || path.endsWith(".py")) && LOADS_MORE.test(readFileSync(path, "utf8")))
      files.notUnderstood(`${path}, which runs more than is written in it`);
  }
}
