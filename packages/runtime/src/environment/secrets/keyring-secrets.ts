import { checkOptionNames } from "../../json/option-names.ts";
import { secretFailed } from "./secret-failure.ts";
import type { SecretSource } from "./secret-source.ts";
import type { SecretStore } from "./sealed-folder.ts";

export interface KeyringSecretsOptions {
  /** Keeps secrets where the system has no keyring or it is locked, as on most servers: a sealed folder. */
  readonly fallback?: SecretStore | undefined;
  /** Loads the package of the keyring; tests give their own. */
  readonly importModule?: ((specifier: string) => Promise<unknown>) | undefined;
}

export interface KeyringSecrets extends SecretSource {
  /** @returns where the secret was put */
  write(name: string, value: string): Promise<"keyring" | "fallback">;
  /** From both places, as far as the keyring can be reached. */
  remove(name: string): Promise<void>;
}

/** The part of `@napi-rs/keyring` that is called. */
interface KeyringPackage {
  readonly AsyncEntry: new (
    service: string,
    account: string,
  ) => {
    getPassword(signal?: AbortSignal): Promise<string | null | undefined>;
    setPassword(password: string): Promise<void>;
    deleteCredential(): Promise<boolean>;
  };
}

const PACKAGE = "@napi-rs/keyring";

/**
 * `keyring:service/account`: the keyring of the system (macOS Keychain, Windows Credential Manager, Secret Service on Linux), through the
 * package `@napi-rs/keyring`, which is not installed with this one.
 */
export function createKeyringSecrets(options: KeyringSecretsOptions = {}): KeyringSecrets {
  checkOptionNames("createKeyringSecrets", options, { fallback: true, importModule: true });
  const { fallback, importModule = (specifier) => import(specifier) } = options;
  const entry = async (name: string): Promise<InstanceType<KeyringPackage["AsyncEntry"]>> => {
    const [service, account] = splitName(name);
    const { AsyncEntry } = await loadPackage(name, importModule);
    return new AsyncEntry(service, account);
  };
  const failed = (name: string, what: string): Error =>
    secretFailed(
      `keyring:${name}`,
      `could not be ${what}: the keyring of this system refused, or there is none. Unlock it, or give the source a fallback.`,
    );

  return {
    scheme: "keyring",
    async read(name, { signal }) {
      splitName(name);
      // What is there was written while the keyring was locked: later than what that holds.
      const kept = await fallback?.read(name);
      if (kept !== undefined) return { value: kept };
      try {
        const value = await (await entry(name)).getPassword(signal);
        return value === null || value === undefined ? undefined : { value };
      } catch (error) {
        if (signal.aborted) throw error;
        if (fallback === undefined) throw isOurs(error) ? error : failed(name, "read");
        return undefined;
      }
    },
    async write(name, value) {
      splitName(name);
      try {
        await (await entry(name)).setPassword(value);
      } catch (error) {
        if (fallback === undefined) throw isOurs(error) ? error : failed(name, "written");
        await fallback.write(name, value);
        return "fallback";
      }
      // One that was kept there while the keyring was locked would be an older value.
      await fallback?.remove(name);
      return "keyring";
    },
    async remove(name) {
      splitName(name);
      await fallback?.remove(name);
      try {
        await (await entry(name)).deleteCredential();
      } catch (error) {
        if (fallback === undefined) throw isOurs(error) ? error : failed(name, "removed");
      }
    },
  };
}

function splitName(name: string): readonly [service: string, account: string] {
  const slash = name.indexOf("/");
  if (slash <= 0 || slash === name.length - 1) throw secretFailed(`keyring:${name}`, "names no entry: write keyring:service/account.");
  return [name.slice(0, slash), name.slice(slash + 1)];
}

async function loadPackage(name: string, importModule: (specifier: string) => Promise<unknown>): Promise<KeyringPackage> {
  let loaded: unknown;
  try {
    loaded = await importModule(PACKAGE);
  } catch {
    throw secretFailed(`keyring:${name}`, `needs the package ${PACKAGE}, which can't be loaded: npm install ${PACKAGE}`);
  }
  if (typeof (loaded as Partial<KeyringPackage>).AsyncEntry !== "function")
    throw secretFailed(`keyring:${name}`, `needs version 1 or later of ${PACKAGE}: npm install ${PACKAGE}`);
  return loaded as KeyringPackage;
}

function isOurs(error: unknown): boolean {
  return error instanceof Error && "~keelson" in error;
}
