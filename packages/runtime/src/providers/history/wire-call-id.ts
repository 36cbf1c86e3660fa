import type { ToolCallPart } from "@keelson/protocol";
import { shortHash } from "../../json/digest.ts";

/** What a wire takes as the id of a call. The vendor's own ids are longer-lived than its documentation, so they need only be short enough. */
interface CallIdRule {
  readonly maxLength: number;
  /** Ids that the vendor gave are held to this too. */
  readonly strict: boolean;
}

const PLAIN = /^[a-zA-Z0-9_-]+$/;
/** The characters that every vendor accepts in its own ids. A model behind a gateway may write any other. */
const PRINTABLE = /^[\u0021-\u007E]+$/;
const RULES: { readonly [wire: string]: CallIdRule } = {
  "anthropic-messages": { maxLength: 64, strict: true },
  "openai-chat": { maxLength: 40, strict: false },
  "openai-responses": { maxLength: 64, strict: false },
};
const ANY_WIRE: CallIdRule = { maxLength: 64, strict: false };

/**
 * What a request calls a call: the id that the vendor gave it on this wire, else ours; where the wire would refuse that, a name
 * made of it, the same one each time.
 */
export function wireCallId(call: ToolCallPart, wire: string): string {
  const own = call.providerData?.wire === wire ? call.providerData["id"] : undefined;
  const vendors = typeof own === "string" && own !== "";
  const id = vendors ? own : call.id;
  const rule = Object.hasOwn(RULES, wire) ? (RULES[wire] as CallIdRule) : ANY_WIRE;
  const pattern = vendors && !rule.strict ? PRINTABLE : PLAIN;
  return id.length <= rule.maxLength && pattern.test(id) ? id : shapedCallId(id);
}

/** True if a vendor accepts the id as its own. */
export function isOwnCallId(id: string): boolean {
  return PRINTABLE.test(id);
}

/** A name for an id that a vendor would refuse: 26 letters, digits and `_`, which every one takes. */
export function shapedCallId(id: string): string {
  // Half a character of UTF-16 has no UTF-8: two ids with one would have the same hash.
  return `c_${shortHash(id.isWellFormed() ? id : JSON.stringify(id), 24)}`;
}
