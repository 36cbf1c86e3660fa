/** The `code` of failures that a circuit breaker responds with. */
export const CIRCUIT_OPEN = "circuit-open";
