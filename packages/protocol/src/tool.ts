import type { RiskLevel } from "./approval.ts";
import type { CallEffects } from "./call-effects.ts";
import type { Content } from "./content.ts";
import type { Effect } from "./effect.ts";
import type { ToolEnvironment } from "./environment.ts";
import type { Executor } from "./executor.ts";
import type { HostVerdict } from "./host-verdict.ts";
import type { CallId, RunId, SessionId } from "./ids.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { SecretResolver } from "./secret.ts";
import type { StateReader } from "./state.ts";
import type { ToolAnswer, ToolInference, ToolInferenceAnswer, ToolQuestion } from "./tool-question.ts";
import type { Vfs } from "./vfs.ts";

/** What executing it does to the world. `idempotent`: doing it twice with the same key is doing it once. */
export type ToolEffect = "read" | "idempotent" | "write";
/** `shared` calls that stand side by side in a response run together; an `exclusive` one runs alone. */
export type ToolConcurrency = "shared" | "exclusive";

/** Parts for the model beside plain JSON: images, files. `isError` marks the result as a failure without throwing. */
export type ToolContent = {
  readonly type: "content";
  readonly content: readonly Content[];
  readonly isError?: boolean;
};

/** A string, any JSON value, or parts. */
export type ToolOutput = JsonValue | ToolContent;

/** Work that a tool started, and that goes on when the call is over: a command in the background. */
export interface BackgroundJob {
  /** Unique among all jobs of a run. */
  readonly id: string;
  /** For people and for the model: the command. */
  readonly name: string;
  /** Resolves when it is over, with what the model is told of that. Never rejects. */
  readonly ended: Promise<BackgroundJobEnding>;
  /** Ends it soon, with all that it started. */
  end(): void;
}

export interface BackgroundJobEnding {
  readonly text: string;
  readonly isError: boolean;
  /** The model knows already: that it ended is recorded only. */
  readonly isTold?: boolean;
}

/** The calls that run together with a call, and the room that there is for their results. */
export interface CallBatch {
  /**
   * The approximate tokens that the context window of the model has left before this batch. The next response needs some of them. `undefined` if the
   * window of the model is unknown.
   */
  readonly contextLeft: number | undefined;
  /** The number of calls of this batch, this one included, whose tool only reads (`effect: "read"`). */
  readonly reads: number;
}

/** A mark of what needs a context of this type: `true` at run time. A mark of one context fits where a wider one, or `never`, is accepted. */
export type NeedsContext<Context> = true & { readonly "~context"?: (context: Context) => void };

/** What a tool is given beside its input. `Context` is the type that its author named with `defineTool.for<Context>()`. */
export interface ToolCall<Context = unknown> {
  readonly callId: CallId;
  readonly runId: RunId;
  readonly session: SessionId;
  /** The calling agent. */
  readonly agent: string;
  /** The same on every attempt of this call with these arguments: pass it on to whatever deduplicates. */
  readonly idempotencyKey: string;
  /** 1 on the first execution, more after a crash or a `retry` decision. */
  readonly attempt: number;
  /**
   * Fires on abort, interrupt, deadline and tool timeout. A tool that ignores it is abandoned, and its result dropped. Its reason is `"interrupted"` if
   * the run was interrupted: what the tool returns soon after that counts, so that it can say what it did.
   */
  readonly signal: AbortSignal;
  /** Fires when the run was asked to stop gracefully: finish soon. */
  readonly stopping: AbortSignal;
  /** `ratio` is from 0 to 1. */
  progress(message: string, ratio?: number): void;
  /**
   * Declares a side effect instead of causing it. It counts with the result of this call: a call that fails, or is executed
   * again after a crash, has declared nothing. Absent outside of a run. Throws `DirectiveError` for one that is refused.
   * @returns its id
   */
  declare?(effect: Effect): string;
  /**
   * Makes a job part of the run: `run.children()` lists it, the model is told once when it ends, between turns, and it is ended when the
   * run is over or is told to stop it. It does not hold the run, and goes on while that is suspended, as long as this process is there;
   * after that the model is told that it is gone. Where another process takes the run up, its `end` is called. Absent outside of a run.
   * @throws EnvironmentError of kind `resource-exceeded` when the run has as much at work as it may: who started the job ends it then
   */
  follow?(job: BackgroundJob): void;
  /**
   * Whether this call may look into a file or folder that it comes across: one that no rule denies or asks about and that is not sensitive, or
   * one that its effects named. Who searches leaves out the others, and says so. Absent outside of a run.
   */
  mayRead?(path: string): boolean;
  /**
   * The verdict of rules and answers on a connection of this call to a host, at this moment: `open` where a rule about `host` or an answer allows it,
   * `denied` where a rule denies it or asks before it, else `unlisted`. Absent outside of a run.
   */
  judgeHost?(host: string, port: number): HostVerdict;
  /** True if a rule about `reveal`, or an answer, shows a file that a sandbox hides to every command, at this moment. Absent outside of a run. */
  mayReveal?(path: string): boolean;
  /**
   * Says that the result will hold text that nobody vouches for, where that shows only while the call runs: a link that led outside, a page
   * behind a redirect. Absent outside of a run. @param source where the text is from, in a few words for a person
   */
  markUntrusted?(source: string): void;
  /**
   * Asks a person. Where nobody answers in this process, a call that may be repeated is ended here, `signal` fires, and the run suspends: the call is made
   * again with the answer, which the same question then gets at once. One that may not be repeated is held for `approvalWaitMs` and gets `cancelled`.
   * Questions are told apart by their order in the call. Absent outside of a run.
   */
  ask?(question: ToolQuestion): Promise<ToolAnswer>;
  /** Asks the model of the run, charged to its budgets. A call that is made again gets what it was told before. Absent outside of a run. */
  infer?(request: ToolInference): Promise<ToolInferenceAnswer>;
  /**
   * The values that tools of the session keep, by name, as they were when the response with this call came: all its calls see the same, also after a
   * crash. Absent outside of a run.
   */
  readonly kept?: JsonObject;
  /**
   * Keeps a small value for the session, in the place of one of this name. It counts with the result of this call, and is in `kept` of the calls of
   * later responses: after a resume, in a fork and in later runs of the session, too. A call that throws has kept nothing. Absent outside of a run.
   * @throws ToolError if the session would keep more than 64 KiB
   */
  keep?(name: string, value: JsonValue): void;
  /** The batch in which this call runs. Absent outside of a run, and in `reconcile`. */
  readonly batch?: CallBatch;
  /** The agent's working directory, when it has one. */
  readonly cwd?: string;
  readonly files?: Vfs;
  readonly exec?: Executor;
  /** The environment that the run is held in, where there is one: `files` and `exec` are its own then, and a tool that has others must use these. */
  readonly environment?: ToolEnvironment;
  readonly state?: StateReader;
  readonly secrets?: SecretResolver;
  /** The value that the program made for the run: `createRunner({ context })`. `undefined` if it makes none, and outside of a run. */
  readonly context: Context;
  /** Of the run. Empty outside of a run. */
  readonly metadata: JsonObject;
}

/** Where a call would run, by what is known before it does. */
export interface CallPlace<Context = unknown> {
  readonly cwd?: string;
  /** The values that tools keep, see `ToolCall.kept`. */
  readonly kept?: JsonObject;
  /** As in `ToolCall`. Absent in a rehearsal: a tool whose effects depend on it throws then, and the rehearsal ends there. */
  readonly context?: Context;
  /**
   * Of the programs that the call would have as `exec`. A tool that runs commands with those gives what reading tells of them to `confine`, where
   * that is there, so that what a sandbox holds needs no question.
   */
  readonly exec?: PlannedPrograms;
  /** The environment that the run is held in, where there is one: a tool that has programs or files of its own must use these, as in `execute`. */
  readonly environment?: { readonly exec?: PlannedPrograms; readonly files?: PlannedFiles };
}

/** A call before it runs, as `needsApproval` of its tool sees it. */
export interface PlannedCall<Context = unknown>
  extends
    Omit<CallPlace, "context">,
    Pick<ToolCall<Context>, "callId" | "runId" | "session" | "agent" | "signal" | "files" | "state" | "context" | "metadata"> {}

/** What is asked of programs before anything is run. */
export type PlannedPrograms = Pick<Executor, "confine" | "credentials">;
/** What is asked of files before anything is read or written. */
export type PlannedFiles = Pick<Vfs, "root" | "realPath">;

/** What a tool is told beside the input when it is asked where the text of a result comes from. */
export interface TextOrigin {
  readonly cwd?: string;
  /** What its `effectsOf` says of the call. */
  readonly effects?: CallEffects;
  /** What of that it reads outside of the working directory, as a person would be shown it. */
  readonly outside: readonly string[];
}

export type ValidationResult<Out> =
  | { readonly value: Out; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: readonly (string | number)[] }[] };

/**
 * Something a model may call: a leaf. Method syntax on purpose: tools of different inputs then share one array.
 * Made by `defineTool`, which fills every field. `Context` is what its calls must find as `call.context`; `Tool<unknown, never>` is any tool.
 */
export interface Tool<In = unknown, in Context = unknown> {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly effect: ToolEffect;
  readonly concurrency: ToolConcurrency;
  readonly risk: RiskLevel;
  readonly version: string;
  readonly aliases: readonly string[];
  readonly timeoutMs?: number;
  /** UTF-8 bytes of output the model may see; the whole is kept as a blob. */
  readonly maxOutputBytes: number;
  /** `edit`: the `accept-edits` mode lets it run without asking. `shell`: `permissionText` is a command line, so allow patterns cover single commands only. */
  readonly category?: "edit" | "shell";
  /**
   * What permission argument patterns are matched against; default: the canonical JSON of the input.
   * @param effects what `effectsOf` said of the call, where that was asked: it knows where the call would work
   */
  permissionText?(input: In, effects?: CallEffects): string;
  /**
   * What a call with this input would do, for permission rules to be held against. Runs nothing: asked again on replay. A tool without
   * it is judged by its name and its arguments alone.
   */
  effectsOf?(input: In, where: CallPlace): Promise<CallEffects> | CallEffects;
  /**
   * Whether results of such a call hold text that nobody vouches for: of the web, of somebody else's server, of files outside the workspace. In
   * a few words where it is from, for a person; `true` says the name of the tool. Asked when the call ran. One that throws says yes.
   */
  untrusted?(input: In, origin: TextOrigin): Promise<string | boolean | undefined> | string | boolean | undefined;
  /**
   * `true`, or a function that returns `true`, if a person must allow the call before it runs. Allow rules do not lift it, and in the mode `bypass-all`
   * the call runs without a question. The answer of the function is recorded. A function that throws, or returns no boolean, counts as `true`.
   */
  readonly needsApproval?: true | ApprovalTest<In>["needsApproval"];
  /** Present if the tool was made with `defineTool.for<Context>()`: a call without a context fails. */
  readonly needsContext?: NeedsContext<Context>;
  /** The server that it comes from, in a few words for messages, as in `the MCP server "notes"`. Absent: the program itself. */
  readonly origin?: string;
  /**
   * Another tool that a call with this input means, and the input for that: then the call is one of that tool, also for permissions, if the agent
   * has it. Pure: asked again on replay.
   */
  redirect?(input: JsonValue): ToolRedirect | undefined;
  parse(input: unknown): Promise<ValidationResult<In>> | ValidationResult<In>;
  execute(input: In, call: ToolCall): Promise<ToolOutput> | ToolOutput;
  /** After a crash in a `write`: find out whether it happened. */
  reconcile?(input: In, call: ToolCall): Promise<Reconciliation> | Reconciliation;
}

/** The tool that a call of another one means, by its name. */
export interface ToolRedirect {
  readonly tool: string;
  readonly input: JsonObject;
}

/** A method, so that tools of different inputs share one array. */
export interface ApprovalTest<In> {
  needsApproval(input: In, call: PlannedCall): Promise<boolean> | boolean;
}

export type Reconciliation<Output = JsonValue> = "not-done" | "unknown" | { readonly output: Output };
