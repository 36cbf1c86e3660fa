import { checkOptionNames, type OptionNames } from "./option-names.ts";

type Method = (...values: never) => unknown;

/** The position of the options among the arguments, and their names. A method that returns no promise says that it throws. */
type MethodEntry<F extends Method, At extends number> = Parameters<F>[At] extends object | undefined
  ? ReturnType<F> extends PromiseLike<unknown>
    ? readonly [at: At, names: OptionNames<NonNullable<Parameters<F>[At]>>]
    : readonly [at: At, names: OptionNames<NonNullable<Parameters<F>[At]>>, fails: "throws"]
  : never;

/** The methods of `T` that take options. */
export type MethodOptions<T> = {
  readonly [Name in keyof T]?: NonNullable<T[Name]> extends infer F extends Method ? AnyEntry<F> | readonly AnyEntry<F>[] : never;
};

type AnyEntry<F extends Method> = MethodEntry<F, 0> | MethodEntry<F, 1> | MethodEntry<F, 2> | MethodEntry<F, 3>;

type Entry = readonly [at: number, names: OptionNames<object>, fails?: "throws"];

/**
 * Makes the methods of a new object refuse options that they do not have. The options of a call are checked before anything else is done.
 * @param of what calls the object by, as in "files"
 * @returns the object
 */
export function checkMethodOptions<T extends object>(of: string, object: T, methods: MethodOptions<NoInfer<T>>): T {
  for (const [name, given] of Object.entries(methods) as [string, Entry | readonly Entry[]][]) {
    const entries = isEntry(given) ? [given] : given;
    for (const entry of entries) checkMethod(`${of}.${name}`, object as { [method: string]: unknown }, name, entry);
  }
  return object;
}

function isEntry(given: Entry | readonly Entry[]): given is Entry {
  return typeof given[0] === "number";
}

function checkMethod(place: string, object: { [method: string]: unknown }, name: string, [at, names, fails]: Entry): void {
  const method = object[name];
  // An object may lack methods that are optional.
  if (typeof method !== "function") return;
  const checked = function (this: unknown, ...values: unknown[]): unknown {
    const options = values[at];
    if (options !== undefined) {
      try {
        checkOptionNames(place, options as object, names);
      } catch (error) {
        if (fails === "throws") throw error;
        return Promise.reject(error);
      }
    }
    return Reflect.apply(method, this, values);
  };
  Object.defineProperty(object, name, { value: checked, writable: true, enumerable: true, configurable: true });
}
