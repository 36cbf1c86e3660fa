import { randomBytes } from "node:crypto";

const TEMPORARY = /^\.keelson-[\w-]{12}\.tmp$/;

/** Returns a name for the content of a file that is not in its place yet. It stands beside that place, and no other file has it. */
export function temporaryName(): string {
  return `.keelson-${randomBytes(9).toString("base64url")}.tmp`;
}

/** True for the name of such a file: it holds half a change, which a killed process may leave behind. */
export function isTemporaryName(name: string): boolean {
  return TEMPORARY.test(name);
}
