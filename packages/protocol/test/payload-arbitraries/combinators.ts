import fc from "fast-check";

/** As `JSON.parse` gives it: no `undefined`, no -0. */
export const asJson = <T>(arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<T> =>
  arbitrary.map((value) => JSON.parse(JSON.stringify(value)) as T);

/** The first argument's fields are required, the second's are not. */
export const some = (
  required: Record<string, fc.Arbitrary<unknown>>,
  optional: Record<string, fc.Arbitrary<unknown>> = {},
): fc.Arbitrary<unknown> => fc.record({ ...required, ...optional }, { requiredKeys: Object.keys(required) });

export const few = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(arbitrary, { maxLength: 3 });
export const nullable = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(arbitrary, { nil: null });
