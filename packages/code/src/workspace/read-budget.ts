/** The tokens that reads of a batch may use. The runtime sets it before each batch of calls. */
export interface ReadBudget {
  /** Tokens that the context window has left. `undefined` if the size of the window is unknown. */
  readonly remaining: number | undefined;
  /** Tokens that one read of the present batch may use: `remaining / (5 × reads in the batch)`, at least 2,000. */
  readonly perRead: number;
}
