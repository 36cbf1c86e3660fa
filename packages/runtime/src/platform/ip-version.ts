/** Returns 4 or 6 for an address, and 0 for other texts. `node:net` is loaded with the first call, and not by programs that only check options. */
export function ipVersion(text: string): number {
  return process.getBuiltinModule("node:net").isIP(text);
}
