import { DirectiveError, type Directive, type JsonValue } from "@keelson/protocol";
import { compileSchema, formatIssue } from "../../../schema/index.ts";
import type { JsonSchema, Schema } from "../../../schema/schema.ts";
import { describeThrown } from "../../../tools/describe-thrown.ts";

/** Turns the payload of a custom directive into JSON and back: `decode(encode(payload))` equals `payload`. */
export interface PayloadCodec<Payload> {
  encode(payload: Payload): JsonValue;
  decode(json: JsonValue): Payload;
}

/** What the payload of each custom directive is, by `customType`. */
export interface PayloadTypes {
  readonly [customType: string]: unknown;
}

export type CustomDirective = Extract<Directive, { readonly type: "custom" }>;

/**
 * The payloads of custom directives that a program knows. A type that was not registered is refused with `DirectiveError`
 * of kind `unknown-payload`, by whoever meets it: nothing is dropped.
 */
export interface DirectivePayloads<Types extends PayloadTypes = Record<never, never>> {
  /** The same `customType` again replaces its codec. */
  register<const Name extends string, Payload>(
    customType: Name,
    codec: PayloadCodec<Payload>,
  ): DirectivePayloads<Types & { readonly [N in Name]: Payload }>;
  /** With a schema the payload is plain JSON, checked when it is read. */
  register<const Name extends string, Payload>(
    customType: Name,
    schema: Schema<Payload>,
  ): DirectivePayloads<Types & { readonly [N in Name]: Payload }>;
  register<const Name extends string>(customType: Name, schema: JsonSchema): DirectivePayloads<Types & { readonly [N in Name]: JsonValue }>;
  has(customType: string): boolean;
  readonly customTypes: readonly string[];
  /** A directive with this payload: plain data, which can be logged, sent and compared. */
  directive<Name extends keyof Types & string>(customType: Name, payload: Types[Name]): CustomDirective;
  /** Rejects with `DirectiveError` of kind `execution-failed` for a payload that is not of its type. */
  decode(directive: CustomDirective): Promise<unknown>;
}

interface Entry {
  encode(payload: unknown): JsonValue;
  decode(json: JsonValue): unknown;
}

/**
 * ```ts
 * const payloads = createDirectivePayloads().register("refresh", z.object({ url: z.url() }));
 * payloads.directive("refresh", { url: "https://example.org" }); // { type: "custom", customType: "refresh", payload: { url: … } }
 * ```
 */
export function createDirectivePayloads(): DirectivePayloads {
  const entries = new Map<string, Entry>();
  const find = (customType: string): Entry => {
    const entry = entries.get(customType);
    if (entry) return entry;
    throw unknownPayload(customType, [...entries.keys()]);
  };
  const payloads = {
    register(customType: string, given: PayloadCodec<unknown> | Schema<unknown> | JsonSchema) {
      entries.set(customType, isCodec(given) ? given : entryOf(customType, given));
      return payloads;
    },
    has: (customType: string) => entries.has(customType),
    get customTypes() {
      return [...entries.keys()];
    },
    directive(customType: string, payload: unknown): CustomDirective {
      const encoded = guard(customType, "written as JSON", () => asJson(find(customType).encode(payload)));
      return { type: "custom", customType, payload: encoded };
    },
    async decode({ customType, payload }: CustomDirective): Promise<unknown> {
      const entry = find(customType);
      try {
        return await entry.decode(payload);
      } catch (cause) {
        throw failed(customType, "read", cause);
      }
    },
  };
  return payloads as DirectivePayloads;
}

export function unknownPayload(customType: string, known: readonly string[]): DirectiveError {
  const message = `No payload is registered for the custom directive "${customType}" (there are: ${known.join(", ") || "none"}). Register it with createDirectivePayloads().register.`;
  return new DirectiveError({ kind: "unknown-payload", customType, message });
}

function isCodec(given: unknown): given is PayloadCodec<unknown> {
  const { encode, decode } = given as Partial<PayloadCodec<unknown>>;
  return typeof encode === "function" && typeof decode === "function" && !("~standard" in (given as object));
}

function entryOf(customType: string, schema: Schema<unknown> | JsonSchema): Entry {
  const compiled = compileSchema(schema as Schema<unknown>);
  return {
    encode: (payload) => payload as JsonValue,
    async decode(json) {
      const result = await compiled.validate(json);
      if (result.issues === undefined) return result.value;
      throw new TypeError(`${customType}: ${result.issues.slice(0, 5).map(formatIssue).join("; ")}`);
    },
  };
}

function asJson(value: unknown): JsonValue {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw new TypeError("it is nothing that JSON can hold");
  return JSON.parse(text) as JsonValue;
}

function guard<T>(customType: string, what: string, run: () => T): T {
  try {
    return run();
  } catch (cause) {
    throw DirectiveError.is(cause) ? cause : failed(customType, what, cause);
  }
}

function failed(customType: string, what: string, cause: unknown): DirectiveError {
  const message = `The payload of the custom directive "${customType}" can't be ${what}: ${describeThrown(cause)}`;
  return new DirectiveError({ kind: "execution-failed", directive: customType, message }, { cause });
}
