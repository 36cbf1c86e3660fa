/** How secrets of one kind look. */
export interface SecretShape {
  /** What it is, in lower case and hyphens. It stands in the place of what was found. */
  readonly kind: string;
  /**
   * What a match begins with, one of these, in upper or lower case. Only there is the pattern tried, and a stream is held back only there.
   * Without it the pattern is tried at every character, and a stream stays `reach` behind.
   */
  readonly begins?: readonly string[] | undefined;
  /** A group named `secret` is what is taken out; without one, all that matched. */
  readonly pattern: RegExp;
  /** How many characters from its beginning on the pattern is shown. Default 512. What is longer is found only as far. */
  readonly reach?: number | undefined;
  /** Whether what was found is a secret after all. Default: yes. */
  isSecret?(found: string): boolean;
}

/** How far back patterns may look. */
export const LOOK_BEHIND = 64;

export const DEFAULT_REACH = 512;
