import { jsonText } from "../json/index.ts";
import { type Fields, stringOf } from "./wire-decoder.ts";

/** The members in which APIs have the arguments of a call. Gateways that translate one API into another mix them up. */
const MEMBERS = ["arguments", "parameters", "args", "input"] as const;

/**
 * The arguments of a call, in whichever member they came: the wire's own one if it holds something, else one of another API.
 * A call must never run without the arguments that it came with.
 */
export function sentArguments(call: Fields, own: (typeof MEMBERS)[number]): unknown {
  for (const member of [own, ...MEMBERS]) if (!isBlank(call[member])) return call[member];
  return call[own];
}

/** Arguments as text, which some servers send as an object. */
export function argumentText(value: unknown): string {
  return typeof value === "string" || value === undefined || value === null ? stringOf(value) : jsonText(value);
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}
