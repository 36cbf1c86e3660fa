/** A key that means nothing to the command: with it a test tells that time passes. */
export const PAUSE = "\u001b[99~";
