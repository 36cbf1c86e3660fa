import { EnvironmentError, type SecretResolver } from "@keelson/protocol";
import { mayUseSecret } from "../features/permissions/permission-gate.ts";
import { runOf, type Loop } from "../turn/loop.ts";
import type { RunningCall } from "../turn/pending-call.ts";

/** The resolver of one call. With untrusted text in context it gives what the call was let through for, and what needs nobody's word. */
export function guardedSecrets(loop: Loop, call: RunningCall, secrets: SecretResolver): SecretResolver {
  const { callsUntrusted } = runOf(loop);
  if (callsUntrusted === undefined) return secrets;
  return {
    async resolve(reference, options) {
      if (await mayUseSecret(loop, call, reference)) return secrets.resolve(reference, options);
      throw new EnvironmentError({
        kind: "credential-failed",
        credential: reference,
        message: `The secret ${reference} was not given to ${call.tool.name}: text that nobody vouches for is in context (${callsUntrusted.join("; ")}), and this call did not say beforehand that it uses the secret, so nobody was asked. Have the tool name it in \`effectsOf\` (\`secrets\`), or allow such calls by a rule.`,
      });
    },
  };
}
