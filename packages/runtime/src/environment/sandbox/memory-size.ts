import { parseSize } from "./parse-size.ts";

/** Returns bytes: of a size, or of a share of the machine's memory, as in `50%`; `undefined` if it is neither. */
export function memorySize(given: number | string, total: number = machineMemory()): number | undefined {
  const share = isShare(given) ? Number.parseFloat(String(given)) : undefined;
  if (share === undefined) return parseSize(given);
  return share > 0 && share <= 100 ? Math.floor((total * share) / 100) : undefined;
}

export function isShare(given: number | string | undefined): boolean {
  return typeof given === "string" && /^\s*\d{1,3}(?:\.\d+)?\s*%\s*$/.test(given);
}

/** The memory of the machine, or less where this process may use less of it, as in a container. Bundles of a tool alone import no module of Node, so it is loaded here. */
function machineMemory(): number {
  const constrained = process.constrainedMemory();
  const total = process.getBuiltinModule("node:os").totalmem();
  return constrained > 0 ? Math.min(constrained, total) : total;
}
