import { join } from "node:path";
import { loadKeys } from "../../../environment/crypto/load-keys.ts";
import { APPROVAL_KEYS, type ApprovalKeys } from "../../turn/approval-keys.ts";

/**
 * The keys kept in `directory` (the file `approval-keys.json`, readable by its owner alone), made by whichever process comes
 * first. Every process that uses the directory gets the same ones.
 * @throws AgentError of kind `invalid-option` when others could read the file, of kind `backend` when it can't be used
 */
export async function loadApprovalKeys(directory: string): Promise<ApprovalKeys> {
  return loadKeys(join(directory, "approval-keys.json"), APPROVAL_KEYS);
}
