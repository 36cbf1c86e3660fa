/**
 * The options that were given. One that is `undefined` counts as left out: spread as it is, it would take the place of a default.
 * What is no object of options comes back as it is, for the check of options to refuse.
 */
export function definedOptions<Options extends object>(options: Options): Defined<Options> {
  if (typeof options !== "object" || options === null || Array.isArray(options)) return options;
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Defined<Options>;
}

type Defined<Options> = { [Name in keyof Options]: Exclude<Options[Name], undefined> };
