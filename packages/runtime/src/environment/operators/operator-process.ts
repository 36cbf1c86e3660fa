import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import {
  EnvironmentError,
  errorFromJSON,
  OperatorError,
  type ExecutionContext,
  type OperatorInput,
  type OperatorOutput,
  type StepAttempt,
} from "@keelson/protocol";
import { createOutputWindow, type OutputWindow } from "../execution/output-window.ts";
import { endProcessGroup, tieToThisProcess } from "../execution/process-group.ts";
import { endStrays } from "../execution/stray-processes.ts";
import { answerRequest } from "./answer-request.ts";
import type { FromOperator, ToOperator } from "./operator-messages.ts";
import { settle, valueOf } from "./settled.ts";

export interface OperatorProcessOptions {
  /** Of Node, the module among them. */
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly killGraceMs: number;
}

/** Bytes of what it printed that stand in the error where it ends too early. */
const LAST_WORDS = 2000;

interface Task {
  readonly attempt: StepAttempt | undefined;
  readonly settle: (result: Parameters<typeof valueOf>[0]) => void;
  readonly fail: (error: unknown) => void;
}

/** A process that serves an operator, for one run. Disposed of, nothing of its process group is left. */
export class OperatorProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #killGraceMs: number;
  readonly #printed: OutputWindow = createOutputWindow(0, LAST_WORDS);
  /** A variable that whatever it starts inherits. */
  readonly #mark: string;
  readonly #untie: () => void;
  readonly #tasks = new Map<number, Task>();
  #hear: (message: FromOperator) => void = () => {};
  /** Rejects where the process ends before it has answered. */
  readonly #crashed: Promise<never>;

  private constructor(child: ChildProcess, mark: string, { killGraceMs }: OperatorProcessOptions) {
    this.#child = child;
    this.#mark = mark;
    this.#killGraceMs = killGraceMs;
    this.#untie = tieToThisProcess(child.pid as number, mark);
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (bytes: Uint8Array) => this.#printed.push(bytes));
    child.on("message", (message: FromOperator) => this.#hear(message));
    this.#crashed = once(child, "close").then(([code, signal]) => {
      throw this.#endedEarly(code as number | null, signal as string | null);
    });
    this.#crashed.catch(() => {});
  }

  /** Resolves when the operator can be given work. Rejects with EnvironmentError `provision-failed` where it never can. */
  static async start(options: OperatorProcessOptions, signal: AbortSignal): Promise<OperatorProcess> {
    const { args, cwd, env } = options;
    if (signal.aborted) throw new EnvironmentError({ kind: "cancelled", message: "The run was aborted before its operator was started." });
    const mark = `KEELSON_OPERATOR_${randomUUID().replaceAll("-", "")}`;
    const child = spawn(process.execPath, [...process.execArgv, ...args], {
      cwd,
      env: { ...env, [mark]: "1" },
      detached: true,
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    try {
      await once(child, "spawn");
    } catch (error) {
      throw notStarted(args, error instanceof Error ? error.message : String(error), error);
    }
    const started = new OperatorProcess(child, mark, options);
    try {
      await started.#until(signal, new Promise<void>((ready) => (started.#hear = ({ type }) => void (type === "ready" && ready()))));
      return started;
    } catch (error) {
      await started[Symbol.asyncDispose]();
      throw EnvironmentError.is(error, "cancelled")
        ? error
        : notStarted(args, error instanceof Error ? error.message : String(error), error);
    }
  }

  /** Has the operator work once. Throws what the run's `suspend` throws where the operator suspends it. */
  async execute(input: OperatorInput, context: ExecutionContext): Promise<OperatorOutput> {
    const { runId, session, parent, deadline, authority, signal } = context;
    const output = new Promise<OperatorOutput>((resolve, reject) => {
      this.#hear = (message) => {
        try {
          this.#act(message, context, resolve, reject);
        } catch (error) {
          reject(error);
        }
      };
    });
    this.#send({
      type: "execute",
      input,
      context: {
        runId,
        session,
        authority,
        ...(parent && { parent: { run: parent.run } }),
        ...(deadline !== undefined && { deadline }),
      },
    });
    return this.#until(signal, output);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#hear = () => {};
    if (this.#child.connected) this.#child.disconnect();
    await endProcessGroup(this.#child.pid as number, this.#killGraceMs);
    await endStrays(this.#mark, this.#killGraceMs);
    this.#untie();
    for (const { fail } of this.#tasks.values()) fail(new Error("The process of the operator is gone."));
  }

  #act(
    message: FromOperator,
    context: ExecutionContext,
    resolve: (output: OperatorOutput) => void,
    reject: (error: unknown) => void,
  ): void {
    switch (message.type) {
      case "ready":
        return;
      case "output":
        return resolve(message.output);
      case "error":
        return reject(errorFromJSON(message.error));
      case "suspend":
        return context.suspend(message.reason, message.waits);
      case "emit":
        return (message.task === undefined ? context : this.#tasks.get(message.task)?.attempt)?.emit(message.event);
      case "task-settled":
        return this.#tasks.get(message.task)?.settle(message.result);
      case "request":
        void settle(() => answerRequest(message.ask, context, (task, attempt) => this.#runTask(task, attempt))).then((result) =>
          this.#send({ type: "settled", request: message.request, result }),
        );
    }
  }

  async #runTask(task: number, attempt: StepAttempt | undefined): Promise<unknown> {
    const abort = (): void => this.#send({ type: "abort-task", task, reason: String(attempt?.signal.reason) });
    const result = new Promise<Parameters<typeof valueOf>[0]>((resolve, fail) => this.#tasks.set(task, { attempt, settle: resolve, fail }));
    this.#send({
      type: "run-task",
      task,
      ...(attempt && { attempt: { number: attempt.number, idempotencyKey: attempt.idempotencyKey } }),
    });
    attempt?.signal.addEventListener("abort", abort, { once: true });
    if (attempt?.signal.aborted) abort();
    try {
      return valueOf(await result);
    } finally {
      attempt?.signal.removeEventListener("abort", abort);
      this.#tasks.delete(task);
    }
  }

  /** What comes of it, unless the process ends before, or the run is aborted and the operator doesn't heed that in time. */
  async #until<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const aborted = Promise.withResolvers<never>();
    const abort = (): void => {
      this.#send({ type: "abort", reason: String(signal.reason) });
      const message = `The run was aborted, and its operator did not end within ${this.#killGraceMs} ms.`;
      timer = setTimeout(() => aborted.reject(new EnvironmentError({ kind: "cancelled", message })), this.#killGraceMs);
    };
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    try {
      return await Promise.race([work, this.#crashed, aborted.promise]);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    }
  }

  #send(message: ToOperator): void {
    // Whoever is gone is missed by `#crashed`.
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  #endedEarly(code: number | null, signal: string | null): Error {
    const printed = this.#printed.text().trim();
    if (printed.includes("JavaScript heap out of memory"))
      return new EnvironmentError({
        kind: "resource-exceeded",
        resource: "memory",
        message: "The operator held more memory than its process may. Give it a larger `resources.memory`, or less to hold.",
      });
    const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
    const lastWords = printed === "" ? "It printed nothing." : `It printed last:\n${printed}`;
    return new OperatorError({
      kind: "other",
      message: `The process of the operator ended ${how} before the operator had answered. ${lastWords}`,
    });
  }
}

function notStarted(args: readonly string[], why: string, cause: unknown): EnvironmentError {
  return new EnvironmentError(
    { kind: "provision-failed", message: `The process of the operator did not start (node ${args.join(" ")}): ${why}` },
    { cause },
  );
}
