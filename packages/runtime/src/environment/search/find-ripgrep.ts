import { warnMissingPackage } from "../../platform/warn-missing-package.ts";

const PACKAGE = "@vscode/ripgrep";

/** Returns the ripgrep that comes with the package `@vscode/ripgrep`. Without it files are searched by this process, which a warning says. */
export async function findRipgrep(importModule?: (name: string) => Promise<unknown>): Promise<string | undefined> {
  try {
    return await loadRipgrep(importModule);
  } catch (cause) {
    warnMissingPackage(PACKAGE, "Searches for patterns without a fixed text take several times longer", cause);
    return undefined;
  }
}

/** Does the same, and rejects without it. */
export async function loadRipgrep(importModule: (name: string) => Promise<unknown> = (name) => import(name)): Promise<string> {
  const { rgPath } = (await importModule(PACKAGE)) as { readonly rgPath?: unknown };
  if (typeof rgPath === "string") return rgPath;
  throw new Error("it names no program");
}
