/** Something that lies on the disk for an agent, and how it is used. */
export interface FoundItem {
  /** Absolute. */
  readonly file: string;
  /** The part of the file, such as `permissions.deny Read(./.env)`. Absent: the whole file. */
  readonly entry?: string;
  readonly isUsed: boolean;
  /** How it is used, or the reason why it is not, with what to do instead. */
  readonly reason: string;
  /** True if it was meant to confine the agent and does not: a person sees it at the start of a run. */
  readonly isGuard?: true;
}
