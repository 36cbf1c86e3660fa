/**
 * Says of each text whether a line of it may match a pattern in the syntax of ripgrep: `true` for at least those that match.
 * @returns `undefined` if it failed
 */
export type LineFilter = (pattern: string, texts: readonly Uint8Array[], signal?: AbortSignal) => Promise<readonly boolean[] | undefined>;
