import type { ToolCallPart } from "@keelson/protocol";
import { shortHash } from "../../json/digest.ts";

/** What a wire takes as the id of a call. The vendor's own ids are longer-lived than its documentation, so they need only be short enough. */
interface CallIdRule {
  readonly maxLength: number;
  /** Ids that the vendor gave are held to this too. */
  readonly strict: boolean;
}

const PLAIN = /^[a-zA-Z0-9_-]+$/;
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
  if (id.length > 0 && id.length <= rule.maxLength && ((vendors && !rule.strict) || PLAIN.test(id))) return id;
  return shapedCallId(id);
}

/** A name for an id that a vendor would refuse: 26 letters, digits and `_`, which every one takes. */
export function shapedCallId(id: string): string {
  return `c_${shortHash(id, 24)}`;
}
