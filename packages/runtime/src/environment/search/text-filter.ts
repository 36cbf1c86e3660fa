/** Finds the texts that cannot match, with less work than the search of their lines. */
export interface TextFilter {
  /** @param bytes a text in UTF-8; with `isAscii` also one in an encoding that agrees with ASCII */
  isIn(bytes: Buffer): boolean;
  readonly isAscii: boolean;
  /** Characters of the shortest fixed text that it looks for; 0 if it looks for sets of characters. */
  readonly shortest: number;
}
