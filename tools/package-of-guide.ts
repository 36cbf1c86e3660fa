const OF_CODING_AGENT: readonly string[] = ["docs/coding-agent.md", "docs/existing-files.md", "docs/worktrees.md"];

/** Returns the package in which a document travels to people and programs that use it; `undefined` if it stays in the repository. */
export function packageOfGuide(path: string): "keelson" | "@keelson/code" | undefined {
  // Results of soaks, and the libraries that were tried, are about the repository.
  if (!path.startsWith("docs/") || path === "docs/dependencies.md" || path.startsWith("docs/evidence/")) return undefined;
  return OF_CODING_AGENT.includes(path) ? "@keelson/code" : "keelson";
}
