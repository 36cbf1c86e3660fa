import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/**
 * Keeps the declaration maps of a staged package, and puts the sources beside them that they lead to, so that an editor opens the
 * code and not its declaration. Maps of the code itself, which the build writes along with them, are left out: they are larger than it.
 */
export function stageDeclarationMaps(staged: string, packageFolder: string): void {
  const dist = join(staged, "dist");
  for (const file of readdirSync(dist, { recursive: true, encoding: "utf8" })) {
    const path = join(dist, file);
    if (file.endsWith(".js.map")) rmSync(path);
    else if (file.endsWith(".js")) writeFileSync(path, readFileSync(path, "utf8").replace(/\n\/\/# sourceMappingURL=\S+\s*$/, "\n"));
    else if (file.endsWith(".d.ts.map")) {
      if (leadsToTests(path)) removeMap(path);
      else stageSources(path, staged, packageFolder);
    }
  }
}

/** True if a map leads to the sources of `testing`. They are left out, because their 200 KiB would be in every install, and their declarations say what a user needs. */
function leadsToTests(map: string): boolean {
  const { sources } = JSON.parse(readFileSync(map, "utf8")) as { readonly sources: readonly string[] };
  return sources.some((source) => /(?:^|\/)src\/testing\//.test(source));
}

function removeMap(map: string): void {
  rmSync(map);
  const declarations = map.replace(/\.map$/, "");
  writeFileSync(declarations, readFileSync(declarations, "utf8").replace(/\n\/\/# sourceMappingURL=\S+\s*$/, "\n"));
}

function stageSources(map: string, staged: string, packageFolder: string): void {
  const { sources } = JSON.parse(readFileSync(map, "utf8")) as { readonly sources: readonly string[] };
  for (const source of sources) {
    const target = join(dirname(map), source);
    const inside = relative(staged, target);
    if (inside.startsWith("..")) throw new Error(`${map} leads to ${source}, which is outside of the package`);
    if (existsSync(target)) continue;
    mkdirSync(dirname(target), { recursive: true });
    cpSync(join(packageFolder, inside), target);
  }
}
