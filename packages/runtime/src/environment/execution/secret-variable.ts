import { SecretFinder } from "../secrets/find-secrets.ts";
import { entropyOf } from "../secrets/looks-secret.ts";
import { SECRET_SHAPES } from "../secrets/secret-shapes.ts";
import { isTelling } from "./telling-value.ts";

/** Words in names of secrets: STRIPE_KEY, GH_PAT, DB_PASS, NPM_CONFIG__AUTH. */
const SECRET_WORDS: ReadonlySet<string> = new Set(
  (
    "KEY KEYS APIKEY TOKEN SECRET SECRETS PASSWORD PASSWORDS PASSWD PASSPHRASE PASS PWD PW CREDENTIAL CREDENTIALS CREDS AUTH AUTHORIZATION " +
    "PAT JWT BEARER COOKIE COOKIES OTP TOTP PIN MNEMONIC WEBHOOK DSN"
  ).split(" "),
);
/** The same at the end of a word that is written without separators: PGPASSWORD, SSHPASS, MYTOKEN. */
const SECRET_ENDING = /(?:PASSWORD|PASSWD|PASSPHRASE|(?<!ASK|BY|COM|SUR|TRES)PASS|(?<!OLD|^)PWD|SECRET|TOKEN|APIKEY|CREDENTIALS?)$/;
/** Words after them that make a name one of something else: AWS_ACCESS_KEY_ID, SSH_AUTH_SOCK, TOKEN_TTL. */
const OTHER_THINGS: ReadonlySet<string> = new Set(
  (
    "ID NAME TYPE COUNT TTL MAX MIN LIMIT LENGTH SIZE EXPIRY TIMEOUT ENABLED DISABLED MODE ALGORITHM SOCK SOCKET HOST PORT REGION VERSION " +
    "URL URI ENDPOINT DOMAIN"
  ).split(" "),
);
/** Words of the same kind, if the value is a path. */
const PLACES: ReadonlySet<string> = new Set("FILE PATH DIR FOLDER HOME COMMAND PROGRAM STORE".split(" "));
const CONNECTION = /CONN(?:ECTION)?_?STR(?:ING)?/;
/** The folders of a shell. */
const FOLDERS: ReadonlySet<string> = new Set(["PWD", "OLDPWD"]);

/** True if a variable of this name is taken for a secret. */
export function isSecretName(name: string, value = ""): boolean {
  if (FOLDERS.has(name)) return false;
  const upper = name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toUpperCase();
  const parts = upper.split(/[^A-Z]+/).filter((part) => part !== "");
  const last = parts.findLastIndex((part) => SECRET_WORDS.has(part) || SECRET_ENDING.test(part));
  if (last < 0) return CONNECTION.test(upper);
  const rest = parts.slice(last + 1);
  // The address of a webhook is enough to call it.
  if (rest.some((part) => OTHER_THINGS.has(part)) && parts[last] !== "WEBHOOK") return false;
  return !(rest.some((part) => PLACES.has(part)) && isPath(value));
}

/**
 * The texts of a variable that must not be seen, if it looks like a secret by its name or its value; of a URL user and password alone.
 * `undefined`: it does not look like one. Empty: it does, and its value is part of too many other texts.
 */
export function secretsOfVariable(name: string, value: string): readonly string[] | undefined {
  if (value.trim() === "") return undefined;
  const logins = loginsIn(value);
  const found = finder()
    .find(value, 0, true)
    .found.map(({ start, end }) => value.slice(start, end));
  const isNamed = isSecretName(name, value);
  if (!isNamed && logins.length === 0 && found.length === 0 && !isRandom(value)) return undefined;
  const parts = logins.length > 0 || isUrl(value) ? [...logins, ...found] : [value, ...longLines(value), ...found];
  return [...new Set(parts.map((part) => part.trim()))].filter(isTelling);
}

let made: SecretFinder | undefined;

function finder(): SecretFinder {
  return (made ??= new SecretFinder([], SECRET_SHAPES));
}

function isUrl(value: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/\S+$/i.test(value);
}

const URL_LOGIN = /\b[a-z][a-z0-9+.-]*:\/\/(?<user>[^\s/@:?#]*)(?::(?<password>[^\s/@]*))?@(?=[^\s@])/gi;
/** Proxies without a scheme: `user:password@host:3128`. */
const BARE_LOGIN = /^(?<user>[^\s/@:?#]+):(?<password>[^\s/@]+)@(?=[a-z0-9.-]+(?::\d{1,5})?(?:[/?#]|$))/gi;

/** Users, passwords and both together, as they are written in a URL or before the host of a proxy. */
function loginsIn(value: string): readonly string[] {
  return [...value.matchAll(URL_LOGIN), ...value.matchAll(BARE_LOGIN)].flatMap(({ groups }) => {
    const { user = "", password = "" } = groups ?? {};
    // A user alone is a name, unless it is a token that takes the place of both.
    if (password === "" && !(isTelling(decoded(user)) && /[0-9]/.test(user))) return [];
    return [password, decoded(password), user, decoded(user), `${user}:${password}`];
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The lines of a key that is written over several. */
function longLines(value: string): readonly string[] {
  return value.includes("\n") ? value.split("\n").filter((line) => /^[A-Za-z0-9+/=]{24,}$/.test(line.trim())) : [];
}

function isPath(value: string): boolean {
  return /^(?:~|\.{0,2})\/|^[A-Za-z]:[\\/]/.test(value);
}

/** True for a text of one word that mixes letters of both cases with digits as only keys do. Hashes and ids in hexadecimal are none. */
function isRandom(value: string): boolean {
  if (!/^[A-Za-z0-9+/_=.~-]{20,}$/.test(value) || isPath(value)) return false;
  if (![/[a-z]/, /[A-Z]/, /[0-9]/].every((kind) => kind.test(value)) || entropyOf(value) < 3.5) return false;
  return value.split(/[-_./~]+/).some((part) => part.length >= 12 && /[A-Za-z]/.test(part) && /[0-9]/.test(part));
}
