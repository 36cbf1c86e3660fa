import { hash } from "node:crypto";
import type { Poll } from "keelson/state/kit";
import { isPassing } from "./postgres-failure.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import { nameIn, storedName, textArray } from "./stored-name.ts";

/**
 * Who waits here for changes, and how they hear of them. A change of this process wakes at once. Those of others come by `NOTIFY`, and by
 * a look now and then, since what is said while a connection is lost, or by a process that died between its commit and its word, reaches
 * nobody. It listens and looks while somebody waits, and only then.
 */
export interface ChangeHub {
  /** Calls `wake` whenever this log, or {@link BUDGETS}, may have changed, until the returned function is called. Too often does no harm. */
  wait(topic: string, wake: () => void): () => void;
  /** This process has changed it: wakes those who wait here, and tells other processes. */
  changed(topic: string): void;
  /** Resolves when all that was told has been sent, or failed. */
  settled(): Promise<void>;
  wakeAll(): void;
  /** Hears and looks no more, and wakes all, so that they see that it is closed. */
  close(): void;
}

/** All that ledgers keep. No log has such a name. */
export const BUDGETS = "";

interface Topic {
  readonly topic: string;
  readonly wakes: Set<() => void>;
  /** How it was when it was last looked at. */
  seen: string | undefined;
}

/** A statement names so many topics at most. */
const TOLD_AT_ONCE = 500;

export function createChangeHub(of: { readonly database: PostgresDatabase; readonly poll: Poll; readonly pollMs: number }): ChangeHub {
  const { database, poll, pollMs } = of;
  const { pool, schema } = database;
  const channel = `${schema}_changes`;
  /** By the name under which they are told. */
  const waiting = new Map<string, Topic>();
  const untold = new Set<string>();
  let telling: Promise<void> | undefined;
  let looking: Promise<void> | undefined;
  let stop: (() => void) | undefined;

  const wake = (topic: Topic | undefined): void => {
    for (const one of [...(topic?.wakes ?? [])]) one();
  };
  const wakeAll = (): void => {
    for (const topic of [...waiting.values()]) wake(topic);
  };
  const start = (): (() => void) => {
    // Whoever begins to hear has missed what was said before.
    const hangUp = pool.listen(channel, (name) => wake(waiting.get(name)), wakeAll);
    const stopLooking = poll(() => {
      looking ??= look().finally(() => (looking = undefined));
    }, pollMs);
    return () => {
      hangUp();
      stopLooking();
    };
  };

  /** Wakes those whose logs are not as they were when it last looked. */
  async function look(): Promise<void> {
    const all = [...waiting.values()];
    try {
      const rows = await pool.query(`SELECT name, id || '/' || head AS version FROM ${schema}.logs WHERE name = ANY($1::text::text[])`, [
        textArray(all.map(({ topic }) => storedName(topic))),
      ]);
      const versions = new Map(rows.map(({ name, version }) => [nameIn(String(name)), String(version)]));
      for (const topic of all) {
        const version = versions.get(topic.topic) ?? "none";
        if (version === topic.seen && topic.topic !== BUDGETS) continue;
        topic.seen = version;
        wake(topic);
      }
    } catch (error) {
      // While the server is away they wait; of what else fails they tell by themselves when they look.
      if (!isPassing(error)) wakeAll();
    }
  }

  /**
   * Beside the changes, not within them: a transaction that notifies commits alone in the whole database, and would have all
   * appends wait for each other's disk. One statement tells of all that changed while the one before was under way.
   */
  async function tell(): Promise<void> {
    // A turn of the event loop, so that what changes together is told together.
    await new Promise((resolve) => setImmediate(resolve));
    while (untold.size > 0) {
      const names = [...untold].slice(0, TOLD_AT_ONCE);
      for (const name of names) untold.delete(name);
      const statement = `SELECT pg_notify('${channel}', name), set_config('synchronous_commit', 'off', true) FROM unnest($1::text::text[]) AS name`;
      await pool.query(statement, [textArray(names)]).catch(() => {
        // Those who wait look for themselves before long.
      });
    }
    telling = undefined;
  }

  return {
    wait(topic, woken) {
      const name = changeName(topic);
      let entry = waiting.get(name);
      if (entry === undefined) waiting.set(name, (entry = { topic, wakes: new Set(), seen: undefined }));
      const { wakes } = entry;
      wakes.add(woken);
      stop ??= start();
      return () => {
        wakes.delete(woken);
        if (wakes.size === 0 && waiting.get(name)?.wakes === wakes) waiting.delete(name);
        if (waiting.size > 0) return;
        stop?.();
        stop = undefined;
      };
    },
    changed(topic) {
      const name = changeName(topic);
      wake(waiting.get(name));
      untold.add(name);
      telling ??= tell();
    },
    wakeAll,
    async settled() {
      await Promise.all([telling, looking]);
    },
    close() {
      stop?.();
      stop = undefined;
      wakeAll();
    },
  };
}

/** What is told of a topic: names of logs may be longer than what one may say, and hold what PostgreSQL can't write. */
function changeName(topic: string): string {
  return hash("sha256", topic, "hex").slice(0, 32);
}
