import { Suspension } from "./suspension.ts";

/** Where a rehearsal ends: behind this stands what is not of the log, such as a model, a tool or code of the user. Nothing is waited for. */
export class OutsideReached extends Suspension {
  readonly what: string;

  constructor(what: string) {
    super("awaiting-child", []);
    this.what = what;
  }
}

/** Told what would be reached; gives what to unwind with, or return, in its place. */
export type Outside = (what: string) => OutsideReached;
