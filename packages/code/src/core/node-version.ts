/** The `engines.node` of the manifests: alternatives with "||" of lower (">=") and upper ("<") bounds. Node 23 had no full-text search before 23.11. */
const SUPPORTED = ">=22.19 <23 || >=23.11";
const LEAST = "22.19";

/** Returns a sentence with the reason and the remedy if this version of Node is not supported. */
export function nodeVersionProblem(version: string): string | undefined {
  const isSupported = SUPPORTED.split("||").some((alternative) =>
    alternative
      .trim()
      .split(/\s+/)
      .every((bound) => {
        const order = compareVersions(version, bound.replace(/^[<>=]+/, ""));
        return bound.startsWith("<") ? order < 0 : order >= 0;
      }),
  );
  return isSupported
    ? undefined
    : `Keelson needs Node ${LEAST} or newer (${SUPPORTED}); this is Node ${version}. Install a newer Node and run it again.`;
}

function compareVersions(left: string, right: string): number {
  const [a, b] = [left, right].map((version) => version.split(".").map((part) => Number.parseInt(part, 10) || 0));
  for (let at = 0; at < 3; at++) {
    const order = (a?.[at] ?? 0) - (b?.[at] ?? 0);
    if (order !== 0) return order;
  }
  return 0;
}
