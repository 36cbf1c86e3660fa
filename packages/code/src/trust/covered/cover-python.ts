import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { CoveredFiles } from "./covered-files.ts";

/** Modules of Python that load and run nothing else. */
const PLAIN_MODULES: ReadonlySet<string> = new Set(
  (
    "__future__ abc argparse array base64 binascii bisect calendar collections configparser contextlib copy csv dataclasses datetime decimal difflib " +
    "enum errno fnmatch fractions functools getopt getpass glob gzip hashlib heapq hmac html http io ipaddress itertools json locale logging math " +
    "numbers operator os pathlib platform pprint queue random re secrets select shlex shutil signal socket sqlite3 ssl stat statistics string struct " +
    "sys tempfile textwrap threading time tokenize tomllib traceback types typing unicodedata urllib uuid warnings xml zlib"
  ).split(" "),
);
const IMPORTS = /^[ \t]*(?:import[ \t]+(?<modules>[^#\n;]+)|from[ \t]+(?<from>[.\w]+)[ \t]+import\b)/gm;
/** Words by which a script runs programs, or code that it computes or finds elsewhere than beside itself. */
const LOADS_MORE =
  /(?<![.\w])(?:eval|exec|compile|__import__|execfile)\s*\(|\b(?:system|popen|startfile|fork|posix_spawnp?|spawn[lv]\w*|exec[lv]\w*)\s*\(|\bsys\s*\.\s*(?:path|modules|meta_path|path_hooks)\b|\b__(?:import|loader|builtins|subclasses)__\b|;[ \t]*(?:import|from)\b/;

/**
 * Adds a script that Python runs, with its whole folder, which is where it looks for modules first. Not understood: modules that are neither in
 * that folder nor plain ones of Python, and code that is computed.
 */
export function coverPython(entry: string, cwd: string, files: CoveredFiles): void {
  const real = files.addRun(entry);
  if (real === undefined) return files.notUnderstood(`${entry}, which is no file of the repository`);
  const folder = dirname(real);
  if (folder === files.project) return files.notUnderstood(`${entry}, which may import whatever is beside it at the root`);
  files.addFolder(folder);
  for (const path of files.pathsIn(folder)) {
    if (/\.(?:pth|so|pyd|zip)$/.test(path)) files.notUnderstood(`${path}, which Python may load`);
    if (path !== real && !path.endsWith(".py")) continue;
    const text = readFileSync(path, "utf8");
    files.addTexts(text, [folder, cwd]);
    if (LOADS_MORE.test(text)) files.notUnderstood(`${path}, which runs more than is written in it`);
    for (const name of importedBy(text))
      if (!PLAIN_MODULES.has(name) && !isBeside(folder, name)) files.notUnderstood(`${path}, which imports ${name}`);
  }
}

/** The first words of the modules that a script imports; "" for those of its own package. */
function importedBy(text: string): readonly string[] {
  return [...text.matchAll(IMPORTS)].flatMap(({ groups }) => {
    const { modules, from = "" } = groups ?? {};
    const names = modules === undefined ? [from] : modules.split(",").map((name) => name.trim().split(/\s/)[0] ?? "");
    return names.map((name) => name.split(".")[0] ?? "");
  });
}

function isBeside(folder: string, name: string): boolean {
  return name === "" || (/^\w+$/.test(name) && (existsSync(join(folder, `${name}.py`)) || existsSync(join(folder, name))));
}
