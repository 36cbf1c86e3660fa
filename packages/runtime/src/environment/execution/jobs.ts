import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  EnvironmentError,
  type ExecuteRequest,
  type ExecuteResponse,
  type JobInfo,
  type JobOutput,
  type JobRequest,
  type Jobs,
  type PollOptions,
} from "@keelson/protocol";
import { JobOutputStore } from "./job-output.ts";
import { wholeEnd, wholeStart } from "./utf8-borders.ts";
import { checkMethodOptions } from "../../json/check-method-options.ts";
import { JOBS_METHODS } from "../../json/interface-methods.ts";

const MAX_RUNNING = 32;
// Those that ended first are forgotten first.
const MAX_ENDED = 50;
const DEFAULT_MAX_OUTPUT_BYTES = 256 * 1024;
const HEAD_SHARE = 0.25;
const MAX_BLOB_BYTES = 64 * 1024 * 1024;
const DEFAULT_POLL_BYTES = 64 * 1024;
// What holds any character, so that whoever polls for little gets on.
const MIN_POLL_BYTES = 16;
// What the executor itself keeps of a job: only for what it reads there.
const OWN_OUTPUT_BYTES = 4096;

/** Jobs over what runs one command and resolves when nothing of it is left. */
export function createJobs(execute: (request: ExecuteRequest) => Promise<ExecuteResponse>): Jobs {
  const jobs = new Map<string, Job>();

  const find = (id: string): Job => {
    const job = jobs.get(id);
    if (job !== undefined) return job;
    const known = [...jobs.keys()];
    throw new EnvironmentError({
      kind: "other",
      message: `There is no job ${id} here. ${known.length === 0 ? "None was started in this process" : `There are: ${known.join(", ")}`}.`,
    });
  };

  const forget = (): void => {
    const ended = [...jobs.values()].filter(({ isOver }) => isOver);
    for (const { id } of ended.slice(0, Math.max(0, ended.length - MAX_ENDED))) jobs.delete(id);
  };

  const handle: Jobs = {
    async start(request) {
      const running = [...jobs.values()].filter(({ isOver }) => !isOver);
      if (running.length >= MAX_RUNNING)
        throw new EnvironmentError({
          kind: "resource-exceeded",
          resource: "jobs",
          message: `${MAX_RUNNING} jobs are running, which is the limit. End one first: ${running.map(({ id }) => id).join(", ")}.`,
        });
      const job = new Job(request);
      jobs.set(job.id, job);
      try {
        await job.start(execute);
      } catch (error) {
        jobs.delete(job.id);
        throw error;
      }
      void job.over.then(forget);
      return job.info();
    },
    poll: async (id, options) => find(id).poll(options),
    kill: async (id) => find(id).kill(),
    async ended(id) {
      const job = find(id);
      await job.over;
      return job.info();
    },
    list: async () => [...jobs.values()].map((job) => job.info()),
  };
  return checkMethodOptions("exec.jobs", handle, JOBS_METHODS);
}

class Job {
  readonly id = `job_${randomUUID().slice(0, 8)}`;
  readonly #request: JobRequest;
  readonly #output: JobOutputStore;
  readonly #ending = new AbortController();
  readonly #over = Promise.withResolvers<void>();
  #news = Promise.withResolvers<void>();
  #startedAt = 0;
  #pid: number | undefined;
  #end: (JobEnd & Pick<JobInfo, "durationMs">) | undefined;

  constructor(request: JobRequest) {
    this.#request = request;
    const kept = request.maxOutputBytes ?? DEFAULT_MAX_OUTPUT_BYTES;
    const headBytes = Math.ceil(kept * HEAD_SHARE);
    this.#output = new JobOutputStore({ headBytes, tailBytes: kept - headBytes, maxBlobBytes: MAX_BLOB_BYTES }, request.blobs);
  }

  get isOver(): boolean {
    return this.#end !== undefined;
  }

  get over(): Promise<void> {
    return this.#over.promise;
  }

  /** Resolves when it runs. */
  async start(execute: (request: ExecuteRequest) => Promise<ExecuteResponse>): Promise<void> {
    const { signal, blobs: _blobs, ...request } = this.#request;
    const started = Promise.withResolvers<void>();
    this.#startedAt = performance.now();
    const cancel = (): void => this.#ending.abort(signal?.reason);
    signal?.addEventListener("abort", cancel, { once: true });
    if (signal?.aborted === true) cancel();
    void execute({
      ...request,
      maxOutputBytes: OWN_OUTPUT_BYTES,
      signal: this.#ending.signal,
      onStart: ({ pid }) => {
        this.#pid = pid;
        started.resolve();
      },
      onOutput: (_stream, text) => this.#take(text),
    }).then(
      (response) => {
        this.#finish(statusOf(response));
        started.resolve();
      },
      (error: unknown) => {
        this.#finish(EnvironmentError.is(error, "cancelled") ? { status: "killed" } : { status: "failed", message: messageOf(error) });
        // Where it had been told to run, this changes nothing any more.
        started.reject(error);
      },
    );
    try {
      await started.promise;
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  }

  info(): JobInfo {
    const { command, program = "", args = [] } = this.#request;
    return {
      id: this.id,
      ...(this.#pid !== undefined && { pid: this.#pid }),
      command: command ?? [program, ...args].join(" "),
      outputBytes: this.#output.totalBytes,
      ...(this.#end ?? { status: "running", durationMs: performance.now() - this.#startedAt }),
    };
  }

  async kill(): Promise<JobInfo> {
    this.#ending.abort("killed");
    await this.over;
    return this.info();
  }

  async poll({ after = 0, maxBytes = DEFAULT_POLL_BYTES, waitMs = 0, signal }: PollOptions = {}): Promise<JobOutput> {
    if (waitMs > 0 && after >= this.#output.totalBytes && !this.isOver) await this.#waitForNews(waitMs, signal);
    const { bytes, from } = await this.#output.read(after, Math.max(MIN_POLL_BYTES, maxBytes));
    // Where something before it was let go, it may begin within a character.
    const begun = from === after ? bytes : wholeStart(bytes);
    const start = from + bytes.byteLength - begun.byteLength;
    const whole = wholeEnd(begun);
    return {
      job: this.info(),
      text: whole.toString("utf8"),
      from: start,
      next: start + whole.byteLength,
      totalBytes: this.#output.totalBytes,
    };
  }

  async #waitForNews(waitMs: number, signal: AbortSignal | undefined): Promise<void> {
    const waiting = new AbortController();
    const stop = (): void => waiting.abort();
    signal?.addEventListener("abort", stop, { once: true });
    try {
      signal?.throwIfAborted();
      await Promise.race([this.#news.promise, sleep(waitMs, undefined, { signal: waiting.signal }).catch(() => {})]);
      signal?.throwIfAborted();
    } finally {
      signal?.removeEventListener("abort", stop);
      stop();
    }
  }

  #take(text: string): void {
    this.#output.push(Buffer.from(text, "utf8"));
    this.#tellNews();
  }

  #finish(end: JobEnd): void {
    this.#end = { ...end, durationMs: performance.now() - this.#startedAt };
    this.#tellNews();
    this.#over.resolve();
  }

  #tellNews(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers<void>();
  }
}

type JobEnd = Pick<JobInfo, "status" | "exitCode" | "signal" | "message" | "refusedHosts" | "memoryLimit">;

function statusOf({ exitCode, signal, timedOut, refusedHosts, memoryLimit }: ExecuteResponse): JobEnd {
  return {
    status: timedOut ? "timed-out" : "exited",
    exitCode,
    signal,
    ...(refusedHosts && { refusedHosts }),
    ...(memoryLimit !== undefined && { memoryLimit }),
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
