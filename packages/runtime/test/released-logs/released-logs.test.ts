import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BudgetLedger, EventLog, JsonObject } from "@keelson/protocol";
import { afterAll, describe, expect, it } from "vitest";
import { createMemoryBudgetLedger, createMemoryEventLog, createSqliteBudgetLedger, createSqliteEventLog } from "../../src/state/index.ts";
import { readOnlyLog } from "../crash/rehearsed.ts";
import { listOf } from "../list-of.ts";
import { AFTERWARDS, Life, steadyClock, type LifeClock } from "./life.ts";
import { engineOf, forkAll, goOnWith, lookAt } from "./look-at.ts";
import { loadRelease } from "./release.ts";
import { restoreRecords } from "./saved-records.ts";
import { SCENARIOS } from "./scenarios.ts";

const fixtures = join(import.meta.dirname, "fixtures");
const folder = mkdtempSync(join(tmpdir(), "keelson-released-logs-"));
afterAll(() => rmSync(folder, { recursive: true }));
const today = await loadRelease(join(import.meta.dirname, "../../../.."));

interface Store {
  readonly log: EventLog & AsyncDisposable;
  readonly ledger: BudgetLedger & Partial<AsyncDisposable>;
}

/** A copy of the databases that a release left, opened as programs do. */
function openDatabases(version: string, kind: string, clock: LifeClock): Store {
  const copy = mkdtempSync(join(folder, "copy-"));
  const saved = join(fixtures, version, kind);
  for (const name of readdirSync(saved)) copyFileSync(join(saved, name), join(copy, name));
  const now = () => clock.now();
  return {
    log: createSqliteEventLog({ path: join(copy, "sessions.db"), now }),
    ledger: createSqliteBudgetLedger({ path: join(copy, "ledger.db"), now }),
  };
}

async function restoreToMemory(version: string, clock: LifeClock): Promise<Store> {
  let at: number | undefined;
  const log = createMemoryEventLog({ now: () => at ?? clock.now() });
  await restoreRecords(readFileSync(join(fixtures, version, "records.jsonl"), "utf8"), log, (time) => void (at = time));
  at = undefined;
  return { log, ledger: createMemoryBudgetLedger() };
}

const STORES: { readonly [name: string]: (version: string, clock: LifeClock) => Store | Promise<Store> } = {
  "a SQLite file": (version, clock) => openDatabases(version, "checkpointed", clock),
  "a SQLite file with its write-ahead log": (version, clock) => openDatabases(version, "with-wal", clock),
  "records in a memory log": restoreToMemory,
};

interface Expected {
  readonly notes: JsonObject;
  readonly doneBefore: readonly string[];
  readonly found: JsonObject;
  readonly goneOn: JsonObject;
  readonly forks: JsonObject;
}

const versions = readdirSync(fixtures);

/** Where going on is another thing by now than it was then, on purpose. */
const CHANGED: { readonly [scenario: string]: JsonObject } = {
  // Who is told to stop asks the model nothing more.
  "stopped-from-outside": { outcomes: [{ reason: "stopped", text: "" }], asked: [] },
};

/**
 * Returns what was expected without counts of input tokens. Version 0.1.0 counted the bytes of a request whose vendor reported no usage; later versions
 * estimate its tokens.
 */
function withoutInputTokens<Value>(value: Value): Value {
  const isEstimate = ([name, member]: readonly [string, unknown]): boolean =>
    (name === "inputTokens" || name === "totalTokens") && typeof member === "number";
  if (Array.isArray(value)) return value.map(withoutInputTokens) as Value;
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter((member) => !isEstimate(member));
  return Object.fromEntries(members.map(([name, member]) => [name, withoutInputTokens(member)])) as Value;
}

/** Of a run that waits, `advance` says for what. */
function toldByAdvance(goneOn: JsonObject): JsonObject {
  const outcomes = (goneOn["outcomes"] as readonly JsonObject[]).map((outcome) =>
    "waits" in outcome ? { reason: outcome["reason"], waits: outcome["waits"] } : outcome,
  );
  return { ...goneOn, outcomes } as JsonObject;
}

describe.each(versions)("logs that version %s left behind", (version) => {
  it.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))(
    "are rehearsed, and no model is asked, nothing done and nothing written: %s",
    async (_, scenario) => {
      const clock = steadyClock(AFTERWARDS);
      const { log, ledger } = await restoreToMemory(version, clock);
      const life = new Life({ log: readOnlyLog(log), ledger, clock, release: today, dies: false, owner: "second" });
      const rehearsal = scenario.open(life).rehearse({ sessions: [scenario.name, ...(scenario.others ?? [])] });
      expect((await listOf(rehearsal)).filter(({ isSafe }) => !isSafe)).toEqual([]);
      expect({ done: life.done, asked: life.asked }).toEqual({ done: [], asked: [] });
    },
  );

  describe.each(Object.keys(STORES))("as %s", (kind) => {
    /** Another process that comes upon them. */
    async function another(): Promise<{ readonly life: Life } & AsyncDisposable> {
      const clock = steadyClock(AFTERWARDS);
      const store = await STORES[kind]?.(version, clock);
      if (store === undefined) throw new Error(`there is no store "${kind}"`);
      return {
        life: new Life({ ...store, clock, release: today, dies: false, owner: "second" }),
        async [Symbol.asyncDispose]() {
          await store.log[Symbol.asyncDispose]();
          await store.ledger[Symbol.asyncDispose]?.();
        },
      };
    }

    it.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))(
      "are read, resumed, advanced turn by turn and forked as then: %s",
      async (name, scenario) => {
        const expected = JSON.parse(readFileSync(join(fixtures, version, "expected", `${name}.json`), "utf8")) as Expected;
        {
          await using found = await another();
          expect(await lookAt(scenario.open(found.life), scenario)).toMatchObject(expected.found);
        }
        {
          await using resumed = await another();
          const goneOn = await goOnWith(scenario, resumed.life, expected.notes);
          expect(goneOn["done"]).toEqual(expected.goneOn["done"]);
          expect(goneOn).toMatchObject(withoutInputTokens(CHANGED[name] ?? expected.goneOn));
        }
        {
          await using advanced = await another();
          const goneOn = await goOnWith(scenario, advanced.life, expected.notes, engineOf(scenario));
          expect(goneOn["done"]).toEqual(expected.goneOn["done"]);
          expect(goneOn).toMatchObject(withoutInputTokens(toldByAdvance(CHANGED[name] ?? expected.goneOn)));
        }
        await using forked = await another();
        expect(await forkAll(scenario, forked.life)).toMatchObject(expected.forks);
      },
    );
  });
});
