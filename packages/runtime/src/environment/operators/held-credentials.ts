import type { CredentialRef, Executor, SecretResolver } from "@keelson/protocol";
import { withSecrets } from "../secrets/with-secrets.ts";
import { injectCredentials } from "./inject-credentials.ts";

/** The same programs with credentials. Each is resolved once now, so that one that can't be is known before anything runs. */
export async function heldCredentials(
  exec: Executor,
  credentials: readonly CredentialRef[],
  secrets: SecretResolver | undefined,
  signal: AbortSignal,
): Promise<Executor> {
  await using _ = await injectCredentials(credentials, secrets, signal);
  return secrets === undefined ? exec : withSecrets(exec, { credentials, secrets });
}
