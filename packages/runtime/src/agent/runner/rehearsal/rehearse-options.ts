export interface RehearseOptions {
  /** By id. Default: all that have a run that is not over. */
  readonly sessions?: Iterable<string> | undefined;
  /** Ends the rehearsal between two sessions. */
  readonly signal?: AbortSignal | undefined;
}
