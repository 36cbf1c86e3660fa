export { createGuardedFetch, type GuardedFetch, type GuardedFetchOptions } from "./address/guarded-fetch.ts";
export { AddressRefused, guardedLookup } from "./address/guarded-lookup.ts";
export { encryptStore, type EncryptStoreOptions, resealStore } from "./encryption/encrypt-store.ts";
export { encryptBlobStore, type EncryptBlobStoreOptions } from "./encryption/encrypt-blob-store.ts";
export { encryptEventLog, type EncryptEventLogOptions } from "./encryption/encrypt-event-log.ts";
export {
  createExfiltrationGuard,
  guardDispatches,
  type ExfiltrationGuard,
  type ExfiltrationGuardOptions,
  type ExfiltrationVerdict,
} from "./exfiltration/exfiltration-guard.ts";
export { findExfiltration, type Exfiltration } from "./exfiltration/find-exfiltration.ts";
export { chainEventLog } from "./integrity/chain-event-log.ts";
export { checkLog, type CheckLogOptions, type LogCheck, type LogHead, type LogProblem } from "./integrity/check-log.ts";
export { type RecordProblem } from "./integrity/record-chain.ts";
export { repairLog, type RepairedLog, type RepairLogOptions } from "./integrity/repair-log.ts";
export { type FoundSecret } from "../environment/secrets/find-secrets.ts";
export { explainCall, type ExplainCallOptions, type ExplainedCall, type ExplainedEffect } from "./policy/explain-call.ts";
export { loadPolicy } from "./policy/load-policy.ts";
export { readPolicy, type Policy, type PolicyFile } from "./policy/read-policy.ts";
export { redactDispatches, redactExec, redactStore } from "./redaction/redact-boundaries.ts";
export { redactError } from "./redaction/redact-error.ts";
export { redactEventLog } from "./redaction/redact-event-log.ts";
export { redactExecutor } from "./redaction/redact-executor.ts";
export { redactToolSource } from "./redaction/redact-tool-source.ts";
export { redactEvents } from "./redaction/redact-events.ts";
export { redactTools } from "./redaction/redact-tools.ts";
export { createRedactor, type Redactor, type RedactorOptions, type TextRedaction } from "./redaction/redactor.ts";
export { type SecretShape } from "../environment/secrets/secret-shape.ts";
export { SECRET_SHAPES } from "../environment/secrets/secret-shapes.ts";
export { addressRange, literalAddress, type AddressRange } from "../transport/public-address.ts";
export {
  resolvePublic,
  type PublicAddresses,
  type ResolvedAddress,
  type ResolveHost,
  type ResolvePublicOptions,
} from "../transport/resolve-public.ts";
