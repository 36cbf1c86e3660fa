import type { ConnectionOptions } from "node:tls";

/** What a connection trusts and shows. */
export type TlsOptions = Pick<
  ConnectionOptions,
  "ca" | "cert" | "key" | "pfx" | "passphrase" | "rejectUnauthorized" | "servername" | "minVersion" | "maxVersion" | "ciphers"
>;
