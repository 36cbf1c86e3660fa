import {
  EnvironmentError,
  errorFromJSON,
  type ExecutionContext,
  type OperatorInput,
  type OperatorOutput,
  type StepAttempt,
} from "@keelson/protocol";
import { answerRequest } from "./answer-request.ts";
import { notStarted } from "./operator-ending.ts";
import type { OperatorLink } from "./operator-link.ts";
import type { FromOperator } from "./operator-messages.ts";
import { settle, valueOf } from "./settled.ts";

export interface OperatorProcessOptions {
  /** Of Node, for whoever reads why it did not start. */
  readonly args: readonly string[];
  /** How long the operator may take to end once its run is aborted. */
  readonly killGraceMs: number;
}

interface Task {
  readonly attempt: StepAttempt | undefined;
  readonly settle: (result: Parameters<typeof valueOf>[0]) => void;
  readonly fail: (error: unknown) => void;
}

/** A process that serves an operator, for one run, wherever it is. */
export class OperatorProcess implements AsyncDisposable {
  readonly #link: OperatorLink;
  readonly #killGraceMs: number;
  readonly #tasks = new Map<number, Task>();

  private constructor(link: OperatorLink, killGraceMs: number) {
    this.#link = link;
    this.#killGraceMs = killGraceMs;
  }

  /** Resolves when the operator can be given work. Rejects with EnvironmentError `provision-failed` where it never can. */
  static async start(open: () => Promise<OperatorLink>, options: OperatorProcessOptions, signal: AbortSignal): Promise<OperatorProcess> {
    const { args, killGraceMs } = options;
    if (signal.aborted) throw new EnvironmentError({ kind: "cancelled", message: "The run was aborted before its operator was started." });
    const started = new OperatorProcess(await open(), killGraceMs);
    try {
      await started.#until(signal, new Promise<void>((ready) => started.#link.hear(({ type }) => void (type === "ready" && ready()))));
      return started;
    } catch (error) {
      await started[Symbol.asyncDispose]();
      const saysItself =
        EnvironmentError.is(error) && error.failure.kind !== "operator-error" && error.failure.kind !== "resource-exceeded";
      throw saysItself ? error : notStarted(args, error);
    }
  }

  /** Has the operator work once. Throws what the run's `suspend` throws where the operator suspends it. */
  async execute(input: OperatorInput, context: ExecutionContext): Promise<OperatorOutput> {
    const { runId, session, parent, deadline, authority, signal } = context;
    const output = new Promise<OperatorOutput>((resolve, reject) => {
      this.#link.hear((message) => {
        try {
          this.#act(message, context, resolve, reject);
        } catch (error) {
          reject(error);
        }
      });
    });
    this.#link.send({
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
    this.#link.hear(() => {});
    await this.#link[Symbol.asyncDispose]();
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
          this.#link.send({ type: "settled", request: message.request, result }),
        );
    }
  }

  async #runTask(task: number, attempt: StepAttempt | undefined): Promise<unknown> {
    const abort = (): void => this.#link.send({ type: "abort-task", task, reason: String(attempt?.signal.reason) });
    const result = new Promise<Parameters<typeof valueOf>[0]>((resolve, fail) => this.#tasks.set(task, { attempt, settle: resolve, fail }));
    this.#link.send({
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
      this.#link.send({ type: "abort", reason: String(signal.reason) });
      const message = `The run was aborted, and its operator did not end within ${this.#killGraceMs} ms.`;
      timer = setTimeout(() => aborted.reject(new EnvironmentError({ kind: "cancelled", message })), this.#killGraceMs);
    };
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    try {
      return await Promise.race([work, this.#link.ended, aborted.promise]);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    }
  }
}
