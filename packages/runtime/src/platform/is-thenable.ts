/** Whether a callback gave something to wait for, be it a promise of another realm or library. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { readonly then?: unknown }).then === "function";
}
