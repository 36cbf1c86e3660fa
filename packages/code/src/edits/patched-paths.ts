const NAMED = /^(?:\*\*\* (?:Add|Update|Delete) File: |\*\*\* Move to: |(?:---|\+\+\+) (?:[ab]\/)?)(.+?)\s*$/gm;

/** Returns the paths that a patch names, each once. Reads no more of it, so it also works on a patch that is not whole. */
export function patchedPaths(patch: string): readonly string[] {
  const paths = [...patch.matchAll(NAMED)].map(([, path]) => (path as string).split("\t")[0] as string);
  return [...new Set(paths)].filter((path) => path !== "/dev/null");
}
