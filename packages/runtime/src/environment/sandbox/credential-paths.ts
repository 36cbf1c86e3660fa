import { readdirSync, realpathSync } from "node:fs";
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
  "KUBECONFIG",
  "NETRC",
  "NPM_CONFIG_USERCONFIG",
  "npm_config_userconfig",
  "PASSWORD_STORE_DIR",
  "PGPASSFILE",
  "PIP_CONFIG_FILE",
  "SSH_AUTH_SOCK",
];

/**
 * Where keys, tokens and histories are known to stand, whether they are there or not: in `home`, in the home folders that this process can
 * read, and where its variables say. What mounts hide and what is judged beforehand is this one list.
 */
export function credentialPaths(home: string = homedir()): readonly string[] {
  const homes = new Set([home, homedir()]);
  try {
    homes.add(userInfo().homedir);
  } catch {
    // A user without an entry in the system's list.
  }
  // What keeps others out of a home folder does not keep root.
  if (process.getuid?.() === 0) for (const name of foldersIn("/home")) homes.add(resolve("/home", name));
  // By either name: commands may be written with the one, mounts are made at the other.
  const all = new Set([...homes, ...[...homes].map(realOr)]);
  const moved = NAMING_VARIABLES.flatMap((name) => (process.env[name] ?? "").split(":")).filter(isAbsolute);
  const configuration = process.env["XDG_CONFIG_HOME"];
  const below = [...all].flatMap((folder) => CREDENTIAL_PATHS.map((path) => resolve(folder, path)));
  const elsewhere =
    configuration === undefined || !isAbsolute(configuration)
      ? []
      : CREDENTIAL_PATHS.filter((path) => path.startsWith(".config/")).map((path) => resolve(configuration, path.slice(".config/".length)));
  const own = process.env["KEELSON_HOME"];
  const ofKeelson = own === undefined || own === "" || resolve(own) === "/" ? [] : [resolve(own)];
  return [...new Set([...below, ...elsewhere, ...ofKeelson, ...moved.filter((path) => path !== "/" && dirname(path) !== "/")])];
}

function foldersIn(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function realOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
