/** The most levels of lists and objects in a value. Deeper ones are refused, because recursive functions would overflow the stack. */
export const MAX_JSON_DEPTH = 500;
