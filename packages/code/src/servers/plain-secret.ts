import type { JsonObject } from "@keelson/protocol";
import { createCommandEnvironment } from "keelson/environment";
import { createRedactor } from "keelson/security";

// Shorter ones are numbers and switches.
const LEAST_LENGTH = 8;

/** Where in a server of a file something stands that looks like a secret: "the variable TOKEN". `undefined`: nothing does. */
export function plainSecret({ command, args, url, env, headers }: JsonObject): string | undefined {
  const redactor = createRedactor();
  const isSecret = (value: unknown, name = ""): boolean =>
    typeof value === "string" &&
    // What remains beside variables, as in "Bearer ${TOKEN}".
    ((!value.includes("${") && value.length >= LEAST_LENGTH && name !== "" && isWithheld(name, value)) || redactor.find(value).length > 0);
  const named = (what: string, values: unknown): string | undefined => {
    const found = Object.entries(values ?? {}).find(([name, value]) => isSecret(value, name));
    return found && `the ${what} ${found[0]}`;
  };
  if ([command, args].flat().some((value) => isSecret(value))) return "the command";
  if (isSecret(url) || (typeof url === "string" && /^[^/?#]*:\/\/[^/?#@]*:[^/?#@$]+@/.test(url))) return "the URL";
  return named("variable", env) ?? named("header", headers);
}

/** True if commands would not get a variable of this name and value. */
function isWithheld(name: string, value: string): boolean {
  return createCommandEnvironment({ [name]: value }).withheld.some(({ reason }) => reason === "secret");
}
