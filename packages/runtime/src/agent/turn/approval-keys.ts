import type { NamedKey } from "@keelson/protocol";
import { checkKeys, newKey, type Keys } from "../../environment/crypto/keys.ts";

export type ApprovalKey = NamedKey;

/** `current` signs; tokens of `previous` keys still verify. To rotate, put a new key first and drop an old one when its tokens have expired. */
export type ApprovalKeys = Keys;

export const APPROVAL_KEYS = { option: "approvalKeys", name: "approval key", lost: "open approval tokens then stop working" } as const;

/** Keys that die with this process: so do the tokens that they signed. Whoever resumes such a run later gets new ones. */
export function createEphemeralApprovalKeys(): ApprovalKeys {
  return { current: newKey() };
}

/** @throws AgentError of kind `invalid-option` when a key is too short, badly named or named twice */
export function checkApprovalKeys(keys: ApprovalKeys): void {
  checkKeys(keys, APPROVAL_KEYS);
}
