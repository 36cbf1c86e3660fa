/** The ripgrep that comes with the package `@vscode/ripgrep`, where that is installed. */
export async function findRipgrep(importModule: (name: string) => Promise<unknown> = (name) => import(name)): Promise<string | undefined> {
  try {
    const { rgPath } = (await importModule("@vscode/ripgrep")) as { readonly rgPath?: unknown };
    return typeof rgPath === "string" ? rgPath : undefined;
  } catch {
    return undefined; // not installed, or not for this system: files are searched without it
  }
}
