import { AsyncLocalStorage } from "node:async_hooks";
import { type LogId, type LogRecord, type NewRecord, type RunId, type SessionId, sessionLog } from "@keelson/protocol";
import { Execution } from "../../src/session/execution.ts";
import type { VerdictData } from "../../src/session/record-data.ts";
import { Journal } from "../../src/session/journal.ts";

/** What the tools did. */
export interface Deed {
  readonly tool: string;
  readonly callId: string;
  readonly runId: RunId;
  readonly attempt: number;
  /** State of the machine of the run, as the log said it then. */
  readonly state: string | undefined;
}

/** An attempt at an effect. */
export interface CarriedOut {
  readonly id: string;
  readonly runId: RunId;
  readonly attempt: number;
}

/** A callback's place in a run: what it decides stands in the log under a key that is this or, where it begins with a slash, contains it. */
export interface Place {
  readonly session: SessionId;
  readonly runId: RunId;
  readonly key: string;
}

const place = new AsyncLocalStorage<Place>();

/** All that was seen of a life from outside the runtime, by whatever process. */
export class Witness {
  readonly deeds: Deed[] = [];
  readonly effects: CarriedOut[] = [];
  /** What should not have happened. */
  readonly oddities: string[] = [];
  /** Model calls that began. */
  inferences = 0;
  /** What they cost in picodollars and tokens, as the vendor sees it. */
  spent = { cost: 0n, tokens: 0 };
  /** Journals opened since `stretch` began. */
  journals: Journal[] = [];
  /** How often each callback was called. */
  readonly #calls = new Map<string, number>();
  readonly #committed = new Map<LogId, LogRecord[]>();
  readonly #keys = new Map<LogId, Set<string>>();
  #stretch = 0;
  readonly #asked = new Map<string, number>();
  readonly #told = new Map<string, number>();

  beginStretch(): void {
    this.#stretch++;
    this.journals = [];
  }

  /** Records that are in a log now. */
  committed(log: LogId, records: readonly NewRecord[], seq: number): void {
    const known = this.#committed.get(log) ?? [];
    const keys = this.#keys.get(log) ?? new Set();
    for (const [index, record] of records.entries()) {
      known.push({ ...record, seq: seq - records.length + 1 + index, at: 0 });
      keys.add(record.key);
    }
    this.#committed.set(log, known);
    this.#keys.set(log, keys);
  }

  count(callback: string): number {
    const count = this.#calls.get(callback) ?? 0;
    this.#calls.set(callback, count + 1);
    return count;
  }

  /**
   * Somebody asks a callback whose verdict decides something. What is in the log is not asked again, and nothing twice in one
   * stretch of work.
   */
  asked(callback: string, at: Place | undefined = place.getStore()): void {
    if (at === undefined) {
      this.oddities.push(`${callback} was asked outside of a decision`);
      return;
    }
    const { session, runId, key } = at;
    for (const known of this.#keys.get(sessionLog(session)) ?? [])
      if (known === `${runId}/${key}` || (key.startsWith("/") && known.startsWith(`${runId}/`) && known.includes(key)))
        this.oddities.push(`${callback} was asked at ${key}, and its verdict is in the log`);
    this.#once(this.#asked, `${runId} ${key} ${callback}`, `${callback} was asked twice at ${key}`);
  }

  /** Somebody tells a callback that looks on. */
  told(callback: string, runId: RunId, about: string): void {
    this.#once(this.#told, `${runId} ${about} ${callback}`, `${callback} was told of ${about} twice`);
  }

  wasTold(callback: string, runId: RunId, about: string): boolean {
    return this.#told.has(`${runId} ${about} ${callback}`);
  }

  /** The newest record of a run with this type, as the log has it by now. */
  newest(session: SessionId, runId: RunId, type: string): LogRecord | undefined {
    return this.#committed.get(sessionLog(session))?.findLast((record) => record.type === type && record.key.startsWith(`${runId}/`));
  }

  /** Looks on where journals are opened and decisions made. @returns what ends that */
  look(): () => void {
    const { open } = Journal;
    const { decide } = Execution.prototype;
    Journal.open = async (options) => {
      const journal = await open.call(Journal, options);
      this.journals.push(journal);
      return journal;
    };
    Execution.prototype.decide = function decideAt<T>(
      this: Execution,
      point: string,
      run: () => T | Promise<T>,
      record?: (data: VerdictData) => void,
    ): Promise<T> {
      const at = { session: this.session, runId: this.runId, key: point };
      return decide.call(this, point, () => place.run(at, run), record) as Promise<T>;
    };
    return () => {
      Journal.open = open;
      Execution.prototype.decide = decide;
    };
  }

  #once(seen: Map<string, number>, what: string, oddity: string): void {
    if (seen.get(what) === this.#stretch) this.oddities.push(oddity);
    seen.set(what, this.#stretch);
  }
}
