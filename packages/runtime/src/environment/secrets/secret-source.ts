export interface FoundSecret {
  readonly value: string;
  /** How long the value may be given out again without asking. 0: not at all. Default: the resolver's `cacheMs`. */
  readonly ttlMs?: number;
}

/** Where secrets of one scheme are. */
export interface SecretSource {
  /** What its references begin with, before the colon. */
  readonly scheme: string;
  /**
   * @param name what follows the colon
   * @returns `undefined` when it has none of that name: the next source of the scheme is asked then
   * @throws EnvironmentError of kind `credential-failed`, which says nothing of the value
   */
  read(name: string, options: { readonly signal: AbortSignal; readonly maxBytes: number }): Promise<FoundSecret | undefined>;
  /** Gives back what it holds elsewhere: leases, connections. */
  close?(): Promise<void>;
}
