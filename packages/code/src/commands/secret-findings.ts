import { homePolicy, policyAt } from "../core/agent-permissions.ts";
import { commandEnvironment, withheldGroups } from "../core/command-environment.ts";
import { type ConfiguredKeys, keysFile, readConfiguredKeys } from "../core/configured-keys.ts";
import { homePath } from "../core/home.ts";
import { createKnownSecrets } from "../core/known-secrets.ts";
import { VENDORS } from "../core/model-access.ts";
import { printableLine } from "../text/printable.ts";
import type { Finding } from "./finding.ts";

type Environment = { readonly [name: string]: string | undefined };

/** The file of keys, and keys that would be safer in it. */
export async function keysFinding(environment: Environment): Promise<{ readonly finding: Finding; readonly keys: ConfiguredKeys }> {
  const file = keysFile({ path: homePath(environment) });
  const what = "keys";
  let keys: ConfiguredKeys;
  try {
    keys = await readConfiguredKeys({ path: homePath(environment) }, createKnownSecrets(environment));
  } catch (error) {
    const detail = printableLine(error instanceof Error ? error.message : String(error));
    return { finding: { what, state: "broken", detail }, keys: new Map() };
  }
  const variables = VENDORS.flatMap(({ key }) => (key !== undefined && (environment[key] ?? "") !== "" ? [key] : []));
  const held = [...keys].map(([name, { source }]) => `${printableLine(name)} (${source})`).join(", ");
  const inFile = keys.size === 0 ? "" : `${file} holds, for you alone: ${held}. `;
  const safer =
    variables.length === 0
      ? ""
      : `${variables.join(", ")} ${variables.length === 1 ? "is a variable" : "are variables"}, which other programs of yours can read. ` +
        `Safer: ${file} with mode 600, such as {"${variables[0]}": "…"}, {"keyring": "…"} or {"command": ["…"]} in the place of the text, and no variable.`;
  const state = variables.length === 0 ? "ok" : "missing";
  return { finding: { what, state, detail: `${inFile}${safer}`.trim() || `none is set, as a variable or in ${file}` }, keys };
}

/** The variables that commands do not get. */
export async function variablesFinding(environment: Environment): Promise<Finding> {
  // A policy that cannot be read is reported by the command that uses it.
  const policy = await homePolicy({ path: homePath(environment) })
    .then(policyAt, () => undefined)
    .catch(() => undefined);
  const groups = withheldGroups(commandEnvironment(policy, { sandbox: false, variables: environment }).withheld);
  const detail =
    groups.length === 0
      ? "commands get all of them"
      : `commands do not get ${groups.join("; ")}. To pass one on, name it in policy.json of ${homePath(environment)}: {"environment": {"pass": ["NAME"]}}`;
  return { what: "variables", state: "ok", detail };
}
