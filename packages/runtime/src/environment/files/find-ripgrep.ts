import { warnMissingPackage } from "../../platform/warn-missing-package.ts";

const PACKAGE = "@vscode/ripgrep";

/** Returns the ripgrep that comes with the package `@vscode/ripgrep`. Without it files are searched by this process, which a warning says. */
export async function findRipgrep(importModule: (name: string) => Promise<unknown> = (name) => import(name)): Promise<string | undefined> {
  try {
    const { rgPath } = (await importModule(PACKAGE)) as { readonly rgPath?: unknown };
    if (typeof rgPath === "string") return rgPath;
    throw new Error("it names no program");
  } catch (cause) {
    warnMissingPackage(PACKAGE, "Files are searched without ripgrep, many times slower", cause);
    return undefined;
  }
}
