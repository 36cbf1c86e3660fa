import { readdir, realpath } from "node:fs/promises";
import { homedir, userInfo } from "node:os";
import { dirname, isAbsolute, resolve } from "node:path";
import { CREDENTIAL_PATHS } from "./sandbox-policy.ts";

// Variables by which programs are told that their credentials stand elsewhere.
const NAMING_VARIABLES = [
  "AWS_SHARED_CREDENTIALS_FILE",
  "AWS_CONFIG_FILE",
  "AZURE_CONFIG_DIR",
  "BOTO_CONFIG",
  "CLOUDSDK_CONFIG",
  "DOCKER_CONFIG",
  "GH_CONFIG_DIR",
  "GNUPGHOME",
  "GOOGLE_APPLICATION_CREDENTIALS",
  "KEELSON_HOME",
  "KUBECONFIG",
  "NETRC",
  "NPM_CONFIG_USERCONFIG",
  "npm_config_userconfig",
  "PASSWORD_STORE_DIR",
  "PGPASSFILE",
  "PIP_CONFIG_FILE",
  "SSH_AUTH_SOCK",
];

/** Where keys, tokens and histories are known to stand, whether they are there or not: in the home folders that this process can read, and where its variables say. */
export async function credentialPaths(): Promise<readonly string[]> {
  const homes = new Set([homedir()]);
  try {
    homes.add(userInfo().homedir);
  } catch {
    // A user without an entry in the system's list.
  }
  // What keeps others out of a home folder does not keep root.
  if (process.getuid?.() === 0) for (const name of await readdir("/home").catch(() => [])) homes.add(resolve("/home", name));
  const real = await Promise.all([...homes].map((home) => realpath(home).catch(() => home)));
  const moved = NAMING_VARIABLES.flatMap((name) => (process.env[name] ?? "").split(":")).filter(isAbsolute);
  const configuration = process.env["XDG_CONFIG_HOME"];
  const below = real.flatMap((home) => CREDENTIAL_PATHS.map((path) => resolve(home, path)));
  const elsewhere =
    configuration === undefined || !isAbsolute(configuration)
      ? []
      : CREDENTIAL_PATHS.filter((path) => path.startsWith(".config/")).map((path) => resolve(configuration, path.slice(".config/".length)));
  return [...new Set([...below, ...elsewhere, ...moved.filter((path) => path !== "/" && dirname(path) !== "/")])];
}
