/** The policy says no. */
export class Refusal extends Error {}
/** The policy says yes, the network no. */
export class Unreachable extends Error {}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
