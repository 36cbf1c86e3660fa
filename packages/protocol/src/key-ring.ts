/** A symmetric key of at least 32 random bytes. */
export interface NamedKey {
  /** Stands in everything that it sealed or signed: letters, digits, `_` and `-`. */
  readonly id: string;
  readonly secret: Uint8Array;
}

/**
 * Finds the keys that values are sealed and signed with, here or in a service that keeps them. To rotate, another key becomes the
 * current one; the one before is found by its id until nothing is left that it sealed.
 */
export interface KeyRing {
  /** Seals and signs what is new. */
  current(): Promise<NamedKey>;
  /** `undefined` when there is no such key, or none any more. */
  find(id: string): Promise<NamedKey | undefined>;
}
