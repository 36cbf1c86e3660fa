/** The usage that a model reports for each response: one that is estimated depends on the length of the project's path, and so would the cost. */
export const USAGE = { inputTokens: 1_000, outputTokens: 50 } as const;
