import { McpError } from "@keelson/protocol";

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/**
 * Puts variables in place of `${NAME}` and `${NAME:-default}`; the default also stands in for an empty one. What was put in is not looked at again.
 * @param of what the text is, for the error
 * @throws McpError where a variable without a default is not set
 */
export function expandVariables(text: string, variables: { readonly [name: string]: string | undefined }, of: string): string {
  return text.replaceAll(VARIABLE, (_, name: string, standIn: string | undefined) => {
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (standIn !== undefined) return value === undefined || value === "" ? standIn : value;
    if (value !== undefined) return value;
    throw new McpError({
      kind: "other",
      message: `${of} names the variable ${name}, which is not set. Set it, or write \${${name}:-} where it may be empty.`,
    });
  });
}

/** The variables that a text names, each once. */
export function variablesIn(text: string): readonly string[] {
  return [...new Set([...text.matchAll(VARIABLE)].map(([, name = ""]) => name))];
}
