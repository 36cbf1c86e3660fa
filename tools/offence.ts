/** What breaks a rule of the house, and where. */
export interface Offence {
  readonly rule: string;
  /** Relative to the workspace. */
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

export const isTest = (file: string): boolean => /\.test(-d)?\.ts$|\/test\//.test(file);
