/** A thing on the disk that is meant for an agent, and its use. */
export interface FoundItem {
  /** Absolute. */
  readonly file: string;
  /** The part of the file, such as `permissions.deny Read(./.env)`. Absent: the whole file. */
  readonly entry?: string;
  readonly isUsed: boolean;
  /** The use, or the reason why there is none, with the remedy. */
  readonly reason: string;
  /** True if it was meant to confine the agent and does not: a person sees it at the start of a run. */
  readonly isGuard?: true;
}
