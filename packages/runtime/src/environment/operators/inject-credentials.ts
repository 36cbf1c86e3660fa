import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, normalize } from "node:path";
import { EnvironmentError, type CredentialRef, type SecretResolver } from "@keelson/protocol";
import { makeCredentialFolder } from "./credential-folder.ts";

/** Credentials as variables and files of one process; the files are gone with it. */
export interface InjectedCredentials extends AsyncDisposable {
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Resolves credentials for one process. Files, which this user alone can read, stand in a folder that the variable
 * `KEELSON_CREDENTIALS` names.
 * @throws EnvironmentError `credential-failed`, which never holds a value
 */
export async function injectCredentials(
  credentials: readonly CredentialRef[],
  secrets: SecretResolver | undefined,
  signal: AbortSignal,
): Promise<InjectedCredentials> {
  const env: Record<string, string> = {};
  let folder: string | undefined;
  const remove = async (): Promise<void> => {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  };
  try {
    for (const credential of credentials) {
      const { injection } = credential;
      const value = await resolve(credential, secrets, signal);
      if (injection.type === "env-var") env[injection.variable] = value;
      if (injection.type !== "file") continue;
      const path = normalize(injection.path);
      if (isAbsolute(path) || path.startsWith(".."))
        throw failed(credential, `its file "${injection.path}" would stand outside of the folder for credentials; give a relative path`);
      folder ??= await makeCredentialFolder();
      env["KEELSON_CREDENTIALS"] = folder;
      await mkdir(join(folder, dirname(path)), { recursive: true, mode: 0o700 });
      await writeFile(join(folder, path), value, { mode: 0o600, flag: "wx" });
    }
    return { env, [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function resolve(credential: CredentialRef, secrets: SecretResolver | undefined, signal: AbortSignal): Promise<string> {
  if (secrets === undefined) throw failed(credential, "the environment was made without `secrets`, which would resolve it");
  try {
    return await secrets.resolve(credential.reference, { signal });
  } catch (error) {
    throw failed(credential, error instanceof Error ? error.message : String(error), error);
  }
}

function failed({ name, reference }: CredentialRef, why: string, cause?: unknown): EnvironmentError {
  return new EnvironmentError(
    { kind: "credential-failed", credential: name, message: `The credential "${name}" (${reference}) was not injected: ${why}.` },
    { cause },
  );
}
