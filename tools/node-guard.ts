/**
 * Returns a statement for the top of a built entry: it throws one clear line if the entry is imported under a Node outside of `range`, the
 * `engines.node` of its manifest. It uses only what every Node has. Runtimes that report no version of Node are not judged.
 */
export function nodeGuard(range: string): string {
  const isSupported = range
    .split("||")
    .map((alternative) => alternative.trim().split(/\s+/).map(testOf).join(" && "))
    .join(" || ");
  const message = `"Keelson needs Node ${leastOf(range)} or newer (${range}); this is Node " + node + ". Install a newer Node and run it again."`;
  return `{
	const node = globalThis.process?.versions?.node;
	const [major, minor] = (node ?? "").split(".").map(Number);
	if (node && !(${isSupported})) throw new Error(${message});
}`;
}

function leastOf(range: string): string {
  return /\d+(?:\.\d+)*/.exec(range)?.[0] ?? range;
}

function testOf(bound: string): string {
  const [, operator, major, minor = "0"] = /^(>=|<)(\d+)(?:\.(\d+))?$/.exec(bound) ?? [];
  if (operator === undefined) throw new Error(`engines.node has "${bound}": write bounds as >=22.19 or <23`);
  return operator === ">="
    ? `(major > ${major} || major === ${major} && minor >= ${minor})`
    : `(major < ${major} || major === ${major} && minor < ${minor})`;
}
