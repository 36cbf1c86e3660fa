import { checkOptionNames, type OptionNames } from "./option-names.ts";

/**
 * The same check for a definition with functions that are called on it. An instance of a class may have members of its own, which its methods
 * use; those of an object literal are options.
 */
export function checkDefinitionNames<Definition extends object>(of: string, definition: Definition, names: OptionNames<Definition>): void {
  if (typeof definition === "object" && definition !== null && !Array.isArray(definition)) {
    const prototype: unknown = Object.getPrototypeOf(definition);
    if (prototype !== Object.prototype && prototype !== null) return;
  }
  checkOptionNames(of, definition, names);
}
