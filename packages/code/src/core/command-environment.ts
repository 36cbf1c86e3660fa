import { type ChildEnvironment, createCommandEnvironment, type WithheldVariable } from "keelson/environment";
import type { Policy } from "keelson/security";

/** The place in a policy file that names more variables for commands. */
const PASS = '{"environment": {"pass": ["NAME"]}}';
const MAX_NAMED = 60;

/** Makes the environment of commands, hooks and servers: the variables that a list names, and those that the policy names. */
export function commandEnvironment(
  policy: Policy | undefined,
  { sandbox, variables = process.env }: { readonly sandbox: boolean; readonly variables?: { readonly [name: string]: string | undefined } },
): ChildEnvironment {
  const { pass, set = {} } = policy?.sandbox.environment ?? {};
  const made = createCommandEnvironment(variables, { pass, sandbox });
  // The policy gives these other values in a sandbox.
  return sandbox ? { ...made, withheld: made.withheld.filter(({ name }) => !Object.hasOwn(set, name)) } : made;
}

/** Describes to the model which variables commands lack, and which mark replaces a secret. */
export function withheldLines({ withheld, secrets }: ChildEnvironment): string | undefined {
  const groups = withheldGroups(withheld);
  const lines = [
    ...(groups.length > 0
      ? [
          `Commands and hooks do not get these variables of the person's environment: ${groups.join("; ")}. If one is needed, say so: the person can name it in policy.json of the home folder of Keelson: ${PASS}.`,
        ]
      : []),
    ...(secrets.length > 0
      ? [
          "In results, [REDACTED:NAME] stands for the value of the variable NAME. It is not that value: never write it into a file or a command.",
        ]
      : []),
  ];
  return lines.length === 0 ? undefined : lines.join(" ");
}

/** Lists the names of withheld variables by reason, for people and for the model. */
export function withheldGroups(withheld: readonly WithheldVariable[]): readonly string[] {
  const reasons = { secret: "look like secrets", unlisted: "are not on the list of what commands get" } as const;
  return (["secret", "unlisted"] as const).flatMap((reason) => {
    // Names come from outside, and may hold anything.
    const names = withheld
      .filter((variable) => variable.reason === reason)
      .map(({ name }) => (/^[\w.-]+$/.test(name) ? name : "(unprintable)"));
    if (names.length === 0) return [];
    const more = names.length > MAX_NAMED ? `, and ${names.length - MAX_NAMED} more` : "";
    return [`${names.toSorted().slice(0, MAX_NAMED).join(", ")}${more} (they ${reasons[reason]})`];
  });
}
