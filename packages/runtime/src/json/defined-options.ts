/**
 * The options that were given. One that is `undefined` counts as left out: spread as it is, it would take the place of a default.
 */
export function definedOptions<Options extends object>(options: Options): { [Name in keyof Options]: Exclude<Options[Name], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Options]: Exclude<Options[Name], undefined>;
  };
}
