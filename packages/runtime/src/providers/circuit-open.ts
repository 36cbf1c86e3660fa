/** The `code` of failures that a circuit breaker answers with. */
export const CIRCUIT_OPEN = "circuit-open";
