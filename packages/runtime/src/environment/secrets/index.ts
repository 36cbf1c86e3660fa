// Secrets
export { createSecretResolver, type SecretResolverOptions, type SourcedSecretResolver } from "./secret-resolver.ts";
export { type FoundSecret, type SecretSource } from "./secret-source.ts";
export { createEnvSecrets, type EnvSecretsOptions } from "./env-secrets.ts";
export { createFileSecrets, type FileSecretsOptions } from "./file-secrets.ts";
export { createExecSecrets, type ExecSecretsOptions, type SecretProgram } from "./exec-secrets.ts";
export { createKeyringSecrets, type KeyringSecrets, type KeyringSecretsOptions } from "./keyring-secrets.ts";
export { createSealedFolder, type SealedFolder, type SecretStore } from "./sealed-folder.ts";
export { createVaultSecrets, type VaultSecretsOptions } from "./vault-secrets.ts";
export { type VaultAppRole, type VaultLogin } from "./vault-token.ts";

// Where values are used
export { withSecrets, type WithSecretsOptions } from "./with-secrets.ts";
export { createPlaceholderSecrets, type EdgeSecret, type OutgoingHeaders, type PlaceholderSecrets } from "./placeholder-secrets.ts";

// Auth
export { createStaticCredentials, type CredentialProvider } from "../auth/credential-provider.ts";
export { createClientCredentials } from "../auth/client-credentials.ts";
export { createDeviceCodeCredentials, type DeviceCodeOptions, type DevicePrompt } from "../auth/device-code.ts";
export { type AuthorizationCodeOptions, createAuthorizationCodeCredentials } from "../auth/authorization-code.ts";
export { type OAuthOptions, type TokenStore } from "../auth/oauth-credentials.ts";
export { type OAuthClientOptions, type OAuthTokens } from "../auth/oauth-client.ts";

// Crypto
export { type Keys, createKeyRing, newKey } from "../crypto/keys.ts";
export { loadKeys } from "../crypto/load-keys.ts";
export { type FileKeyRing, openKeyRing } from "../crypto/file-key-ring.ts";
export { deriveKey, keyFromPassphrase, type PassphraseOptions } from "../crypto/derive-key.ts";
export { createSealer, type Sealer } from "../crypto/sealer.ts";
export { createSigner, type Signer } from "../crypto/signer.ts";
export { createSignatureKeys, isSignedBy, type SignatureKeys, signWith } from "../crypto/signature-keys.ts";
// What its signatures are made of, so that the protocol need not be installed beside this package.
export type { KeyRing, NamedKey, SecretResolver } from "@keelson/protocol";
