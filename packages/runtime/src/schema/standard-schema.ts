/**
 * The parts of Standard Schema (https://standardschema.dev) that are used, as types: Zod, Valibot, ArkType and others
 * implement it, so that none of them has to be imported here.
 */
export interface StandardSchema<In = unknown, Out = In> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly types?: { readonly input: In; readonly output: Out } | undefined;
    readonly validate: (value: unknown) => StandardResult<Out> | Promise<StandardResult<Out>>;
  };
}

export type StandardResult<Out> = { readonly value: Out; readonly issues?: undefined } | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A schema that can say what it accepts as JSON Schema (Zod 4.2 and later, ArkType 2.1.28 and later). */
export interface SelfDescribing {
  readonly "~standard": {
    readonly jsonSchema: {
      readonly input: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
      readonly output: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
    };
  };
}
