import { checkOptionNames } from "../../json/option-names.ts";
import { secretFailed } from "./secret-failure.ts";
import type { SecretSource } from "./secret-source.ts";

export interface EnvSecretsOptions {
  /** Default `process.env`. */
  readonly env?: { readonly [name: string]: string | undefined } | undefined;
}

/** `env:NAME`: a variable of this process, read at each use. One that is empty counts as missing. */
export function createEnvSecrets(options: EnvSecretsOptions = {}): SecretSource {
  checkOptionNames("createEnvSecrets", options, { env: true });
  const { env = process.env } = options;
  return {
    scheme: "env",
    async read(name) {
      if (!/^[A-Za-z_]\w*$/.test(name)) throw secretFailed(`env:${name}`, "names no variable: use letters, digits and _.");
      const value = Object.hasOwn(env, name) ? env[name] : undefined;
      return value === undefined || value === "" ? undefined : { value, ttlMs: 0 };
    },
  };
}
