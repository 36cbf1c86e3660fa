import type { ServerRequest } from "./server-turn.ts";

// Twelve bytes: its base64 is the same whatever follows.
const SIGNED = "signature-of";
const SIGNATURE = new RegExp(`${Buffer.from(SIGNED).toString("base64")}[A-Za-z0-9+/]+=*`, "g");

/** What the server signs or encrypts thoughts with. Opaque to clients, but it says to the server which wire it was given on. */
export function serverSignature({ wire, index }: Pick<ServerRequest, "wire" | "index">): string {
  return Buffer.from(`${SIGNED}:${wire}:${index}`).toString("base64");
}

/** The wires whose signatures a body holds. */
export function signersIn(body: unknown): ReadonlySet<string> {
  const found = JSON.stringify(body).match(SIGNATURE) ?? [];
  return new Set(found.map((text) => Buffer.from(text, "base64").toString().split(":")[1] ?? ""));
}
