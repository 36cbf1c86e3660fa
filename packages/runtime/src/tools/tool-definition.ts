import type {
  CallEffects,
  CallPlace,
  Json,
  JsonObject,
  JsonValue,
  PlannedCall,
  RiskLevel,
  Reconciliation,
  TextOrigin,
  ToolCall,
  ToolConcurrency,
  ToolEffect,
  ToolOutput,
  ToolRedirect,
} from "@keelson/protocol";
import type { JsonSchema, Schema } from "../schema/index.ts";

/** What every kind of tool may say about itself. */
export interface ToolFields {
  /** What the model calls it: 1 to 64 letters, digits, `_` and `-`. */
  readonly name: string;
  /** For the model: what it does, when to use it, what comes back. */
  readonly description: string;
  /** What executing it does to the world. Default `write`, which is what must be assumed. */
  readonly effect?: ToolEffect | undefined;
  /** Default: `shared` for reads, else `exclusive`. */
  readonly concurrency?: ToolConcurrency | undefined;
  /**
   * How much harm a call can do. Default: `none` for reads, else `low`. Say `medium` or more for what must not run without a
   * person's word in the default permission mode: deletions, payments, messages to others.
   */
  readonly risk?: RiskLevel | undefined;
  /** Binds approvals and idempotency keys. Default: a digest of name, description and schemas; change it when the behaviour changes. */
  readonly version?: string | undefined;
  /** Other names it is found by. */
  readonly aliases?: readonly string[] | undefined;
  /** UTF-8 bytes of output the model sees at most; default {@link DEFAULT_MAX_OUTPUT_BYTES}. */
  readonly maxOutputBytes?: number | undefined;
  /** `edit`: the `accept-edits` mode lets it run without asking. `shell`: `permissionText` is a command line, so allow patterns cover single commands only. */
  readonly category?: "edit" | "shell" | undefined;
}

/** What a leaf adds: a function, and how to bound and reconcile it. */
export interface LeafFields extends ToolFields {
  /** After that long the call has failed and its signal fires. Default: no limit but the run's. */
  readonly timeoutMs?: number | undefined;
  /** What the output looks like; an output that does not match is an error of the tool. */
  readonly output?: Schema<unknown> | JsonSchema | undefined;
}

/** What a function of a tool gives, at once or later: `T` as long as all of it is JSON. An interface will do, unlike for `JsonValue`. */
type JsonResult<T> = T extends PromiseLike<infer Value> ? Promise<Settled<Value>> : Settled<T>;

/** A result of a call before it is read: JSON, a generator of JSON, or a stream. */
type Settled<T> =
  T extends AsyncGenerator<infer Yield, infer Return, infer Next>
    ? AsyncGenerator<Chunk<Yield>, Json<Return>, Next>
    : T extends Generator<infer Yield, infer Return, infer Next>
      ? Generator<Chunk<Yield>, Json<Return>, Next>
      : T extends AsyncIterable<infer Yield>
        ? AsyncIterable<Chunk<Yield>>
        : Json<T>;

type Chunk<T> = T extends Uint8Array ? T : Json<T>;

/**
 * A tool as its author writes it. `In` follows from `input`; beside a plain JSON Schema it is what the author annotates, else an
 * object of JSON. `Result` is what `execute` returns, `Found` the output that `reconcile` found.
 */
// Methods rather than function properties: authors may then annotate the input more narrowly, and tools share one array.
export interface ToolDefinition<
  In = JsonObject,
  Result = MaybeLater<ToolOutput | void>,
  Found = JsonValue,
  Context = unknown,
> extends LeafFields {
  readonly input: Schema<In> | JsonSchema;
  /**
   * Returns JSON, parts for the model (`{ type: "content", content }`, or a result of the Model Context Protocol), or nothing. A generator reports what it
   * yields as progress: a text, `{ message, ratio }`, or any JSON. Its result is what it returns, or its last yield if it returns nothing. The result of a
   * `ReadableStream` of text or bytes is its whole text. A call that is cancelled ends the generator, so that its `finally` blocks run.
   */
  execute(input: In, call: ToolCall<Context>): Result & JsonResult<Result>;
  /** After a crash in a `write`: find out whether it happened. */
  reconcile?(input: In, call: ToolCall<Context>): MaybeLater<Reconciliation<Found & Json<Found>>>;
  /**
   * What permission argument patterns are matched against; default: the canonical JSON of the input.
   * @param effects what `effectsOf` said of the call, where that was asked: it knows where the call would work
   */
  permissionText?(input: In, effects?: CallEffects): string;
  /**
   * What a call with this input would do; see `CallEffects`. Runs nothing: it is asked again on replay. A tool that runs commands with the `exec` of
   * its calls passes what it says through `where.exec.confine`, where that is there.
   */
  effectsOf?(input: In, where: CallPlace<Context> & Pick<ToolCall<Context>, "context">): Promise<CallEffects> | CallEffects;
  /**
   * Another tool that a call with this input means, and the input for that: then the call is one of that tool, also for permissions, if the agent
   * has it. Pure: asked again on replay, with arguments that were not held against the schema.
   */
  redirect?(input: JsonValue): ToolRedirect | undefined;
  /**
   * Results hold text that nobody vouches for: of the web, of a server of somebody else, of files outside the workspace. With such text in context,
   * connections that no rule allows and uses of secrets are asked about. A function says it of a call, best in words for a person:
   * `({ url }) => url`. `untrustedByEffects` goes by what the tool says in `effectsOf`.
   */
  untrusted?: boolean | Judge<In>["untrusted"] | undefined;
  /**
   * `true`, or a function that returns `true`, if a person must allow a call before it runs. It counts as an ask rule: allow rules do not lift it, a deny
   * rule beats it, and in the mode `bypass-all` the call runs without a question. The answer of the function is recorded, so a resume does not call it again. A function
   * that throws, takes longer than 30 seconds or returns no boolean counts as `true`. Default false.
   */
  needsApproval?: boolean | Judge<In, Context>["needsApproval"] | undefined;
}

/** Methods, for the same reason. */
interface Judge<In, Context = unknown> {
  untrusted(input: In, origin: TextOrigin): MaybeLater<string | boolean | undefined>;
  needsApproval(input: In, call: PlannedCall<Context>): MaybeLater<boolean>;
}

/** The `needsApproval` of a definition. */
export type NeedsApproval<In> = boolean | Judge<In>["needsApproval"] | undefined;

export type MaybeLater<T> = Promise<T> | T;

/**
 * 50 KiB are about 12,000 tokens: long enough for a thousand lines of a source file or a test log, short enough that a
 * window of 128,000 tokens survives several of them before compaction has to act.
 */
export const DEFAULT_MAX_OUTPUT_BYTES: number = 50 * 1024;
