import { AgentError } from "@keelson/protocol";

/**
 * A misspelt option would be one that has no effect.
 * @throws AgentError of kind `invalid-option` that names it
 */
export function checkOptionNames<Options extends object>(
  of: string,
  options: Options,
  names: { readonly [Name in keyof Required<Options>]: true },
): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(names, name)) continue;
    throw new AgentError({
      kind: "invalid-option",
      option: name,
      message: `${of} has no option "${name}": there are ${Object.keys(names).join(", ")}.`,
    });
  }
}
