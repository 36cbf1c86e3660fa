import { AgentError } from "@keelson/protocol";
import { nodeCrypto } from "../../platform/node-crypto.ts";

export interface ApprovalKey {
  /** Names the key in every token it signed: letters, digits, `_` and `-`. */
  readonly id: string;
  /** At least 32 bytes. */
  readonly secret: Uint8Array;
}

/** `current` signs; tokens of `previous` keys still verify. To rotate, put a new key first and drop an old one when its tokens have expired. */
export interface ApprovalKeys {
  readonly current: ApprovalKey;
  readonly previous?: readonly ApprovalKey[];
}

const SECRET_BYTES = 32;
const KEY_ID = /^[\w-]+$/;

/** Keys that die with this process: so do the tokens that they signed. Whoever resumes such a run later gets new ones. */
export function createEphemeralApprovalKeys(): ApprovalKeys {
  return { current: newApprovalKey() };
}

/** @throws AgentError of kind `invalid-option` when a key is too short, badly named or named twice */
export function checkApprovalKeys(keys: ApprovalKeys): void {
  const seen = new Set<string>();
  for (const { id, secret } of [keys.current, ...(keys.previous ?? [])]) {
    if (!KEY_ID.test(id))
      throw invalidApprovalKeys(`The id of an approval key is ${JSON.stringify(id)}: use letters, digits, "_" and "-".`);
    if (seen.has(id)) throw invalidApprovalKeys(`Two approval keys have the id ${JSON.stringify(id)}: give each its own.`);
    if (secret.length < SECRET_BYTES)
      throw invalidApprovalKeys(
        `The approval key ${JSON.stringify(id)} has ${secret.length} bytes: use at least ${SECRET_BYTES} random ones.`,
      );
    seen.add(id);
  }
}

export function newApprovalKey(): ApprovalKey {
  const { randomBytes } = nodeCrypto();
  return { id: randomBytes(6).toString("hex"), secret: new Uint8Array(randomBytes(SECRET_BYTES)) };
}

/** A key, or the place of keys, that can't be used. */
export function invalidApprovalKeys(message: string): AgentError {
  return new AgentError({ kind: "invalid-option", option: "approvalKeys", message });
}
