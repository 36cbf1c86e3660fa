import { LogError, type BudgetLedger, type EventLog, type LogId, type NewRecord } from "@keelson/protocol";
import { createRunner, type Agent, type Tool, type ToolCall } from "keelson";
import { createMemoryBudgetLedger, createMemoryEventLog } from "keelson/state";
import { createToolRegistry } from "keelson/tools";
import { chaos, chaosFaults, type ChaosReport, type ChaosScene, type ChaosStores, type ChaosTime } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { agentOf, call, deed, newWorld, payer } from "./scenes.ts";

/** The stores of a scene, with something wrong with the log. */
function withLog(scene: () => ChaosScene, spoil: (log: EventLog, time: ChaosTime) => Partial<EventLog>): () => ChaosScene {
  return () => ({
    ...scene(),
    stores(time): ChaosStores {
      const log = createMemoryEventLog({ now: time.now });
      return { log: { ...log, ...spoil(log, time) } };
    },
  });
}

const problemsOf = (report: ChaosReport): string => report.failures.flatMap(({ problems }) => problems).join("\n");
const namesOf = (report: ChaosReport): readonly string[] =>
  report.failures.map(({ name, step }) => `${name} (${step.replace(/c_\w+…?/g, "c")})`);

describe("the kit finds", () => {
  it("a log that drops the reservations of tool calls: by what it does not hold, and by the write that is done twice", async () => {
    let dropped = 0;
    const drop = (records: readonly NewRecord[]): readonly NewRecord[] =>
      records.map((record) =>
        record.type === "tool-reserved" ? { ...record, type: "dropped", key: `${record.key}/${++dropped}` } : record,
      );
    const scene = withLog(payer, (log) => ({ append: (id, seq, records, options) => log.append(id, seq, drop(records), options) }));
    const seen = await chaos(scene);
    expect(namesOf(seen)).toEqual(["undisturbed ()"]);
    expect(problemsOf(seen)).toMatch(
      /acknowledged tool-reserved as record \d+ of session\/chaos \(append of .*tool-reserved c_\S+ of `pay`/,
    );
  });

  it("a runtime without a ledger of tool calls, by the crash after the write", async () => {
    // What the runtime itself believes to have written: below, the log is whole.
    const scene = (): ChaosScene => {
      const { agent, ...rest } = payer();
      return {
        ...rest,
        runner: (services, disturbed) =>
          createRunner({ ...services, log: withoutReservations(services.log), agent: disturbed(agent as Agent) }),
      };
    };
    const report = await chaos(scene, { faults: [chaosFaults.crashAfter] });
    expect(namesOf(report)).toContain("crash after tool#2 (c of `pay`)");
    expect(problemsOf(report)).toMatch(/`pay` \(write, call c_\S+\) was executed 2 times for one call, by the processes 1, 2/);
    expect(problemsOf(report)).toContain('the world is ["pay {\\"to\\":\\"Ada\\"}","pay {\\"to\\":\\"Ada\\"}"] after it');
  });

  it("a tool that says it reads, and writes", async () => {
    const report = await chaos(
      () => {
        const world = newWorld();
        const agent = agentOf("payer", [call("pay", { to: "Ada" }), "Paid."], { tools: [deed(world, "pay", "read")] });
        return { agent, input: "Pay.", world: () => world.deeds };
      },
      { faults: [chaosFaults.crashAfter] },
    );
    expect(namesOf(report)).toContain("crash after tool#1 (c of `pay`)");
    expect(problemsOf(report)).toContain("the world is");
  });

  it("a tool that says it is idempotent, and does it again under the same key", async () => {
    const report = await chaos(
      () => {
        const world = newWorld();
        const tool = deed(world, "book", "write");
        const agent = agentOf("clerk", [call("book", { seat: 3 }), "Booked."], { tools: [{ ...tool, effect: "idempotent" } as Tool] });
        return { agent, input: "Book.", world: () => world.deeds };
      },
      { faults: [chaosFaults.crashAfter] },
    );
    expect(namesOf(report)).toContain("crash after tool#1 (c of `book`)");
  });

  it("a check of a tool that says of what was done that it was not", async () => {
    const report = await chaos(
      () => {
        const world = newWorld();
        const agent = agentOf("payer", [call("pay", { to: "Ada" }), "Paid."], {
          tools: [deed(world, "pay", "write", { reconcile: () => "not-done" })],
        });
        return { agent, input: "Pay.", world: () => world.deeds };
      },
      { faults: [chaosFaults.crashAfter] },
    );
    expect(problemsOf(report)).toMatch(/`pay` \(write, call c_\S+\) was executed 2 times for one call/);
  });

  it("a log that takes appends of a writer that has lost its lease", async () => {
    const scene = withLog(payer, (log) => ({
      async append(id, seq, records, { epoch: _unchecked, ...options } = {}) {
        try {
          return await log.append(id, seq, records, options);
        } catch (error) {
          if (!LogError.is(error, "conflict")) throw error;
          const again = records.map((record) => ({ ...record, key: `${record.key}/again` }));
          return log.append(id, "any", again, options);
        }
      },
    }));
    const report = await chaos(scene, { faults: [chaosFaults.frozenBefore] });
    expect(report.failures.map(({ name }) => name)).toContain("frozen before append#3");
    expect(problemsOf(report)).toMatch(/the log took an append of process 1 \(.*\) after process 2 had taken over its lease/);
  });

  it("a log that acknowledges an append and loses it when its writer crashes", async () => {
    const scene = withLog(payer, (log, { isDeadOwner }) => {
      // The last append is in the memory of whoever holds the lease, until the next one.
      let pending: { readonly owner: string; readonly write: () => Promise<unknown> } | undefined;
      let owner = "";
      const settle = async (): Promise<void> => {
        const last = pending;
        pending = undefined;
        if (last !== undefined && !isDeadOwner(last.owner)) await last.write();
      };
      return {
        async append(id: LogId, seq, records, options) {
          await settle();
          const head = await log.head(id);
          if (id !== "session/chaos") return log.append(id, seq, records, options);
          pending = { owner, write: () => log.append(id, seq, records, { ...options, epoch: undefined }) };
          return { seq: head + records.length, at: 1_700_000_000_000 };
        },
        async head(id) {
          await settle();
          return log.head(id);
        },
        async *read(id, options) {
          await settle();
          yield* log.read(id, options);
        },
        async acquire(id, options) {
          await settle();
          ({ owner } = options);
          return log.acquire(id, options);
        },
      };
    });
    const report = await chaos(scene, { faults: [chaosFaults.crashAfter] });
    expect(report.failures.some(({ name, step }) => name.startsWith("crash after append#") && step.includes("tool-reserved"))).toBe(true);
    expect(problemsOf(report)).toMatch(/the log acknowledged \S+ as record \d+ of session\/chaos/);
  });

  it("a log that does not know an append again which it has taken", async () => {
    const scene = withLog(payer, (log) => ({
      async append(id, seq, records, options) {
        if (seq !== "any" && records.length > 0 && (await log.head(id)) !== seq)
          throw new LogError({ kind: "conflict", log: id, expectedSeq: seq, actualSeq: await log.head(id), message: "others were faster" });
        return log.append(id, seq, records, options);
      },
    }));
    const report = await chaos(scene, { faults: [chaosFaults.repeated] });
    expect(problemsOf(report)).toMatch(/append#\d+ \(.*\) was taken, and refused when it came again/);
  });

  it("a call that is executed twice on its way to its tool", async () => {
    const report = await chaos((): ChaosScene => {
      const { agent, ...rest } = payer();
      const twice = (tool: Tool): Tool =>
        Object.assign(Object.create(tool) as Tool, {
          async execute(input: unknown, given: ToolCall) {
            await tool.execute(input, given);
            return tool.execute(input, given);
          },
        });
      return {
        ...rest,
        runner(services, disturbed) {
          const seen = disturbed(agent as Agent);
          return createRunner({ ...services, agent: { ...seen, tools: createToolRegistry([...seen.tools].map(twice)).snapshot() } });
        },
      };
    });
    expect(namesOf(report)).toEqual(["undisturbed ()"]);
    expect(problemsOf(report)).toMatch(/`pay` \(write, call c_\S+\) was executed 2 times for one call, by the processes 1, 1/);
  });

  it("a ledger that forgets what it was told, and one that lets budgets be passed", async () => {
    const spender = (spoil: (ledger: BudgetLedger) => Partial<BudgetLedger>) => (): ChaosScene => {
      const world = newWorld();
      return {
        agent: agentOf("spender", [call("look", { at: 1 }), "Seen."], {
          tools: [deed(world, "look", "read")],
          limits: { maxTokens: 1_000_000 },
        }),
        input: "Look.",
        stores({ now, isDeadOwner }) {
          const ledger = createMemoryBudgetLedger({ now, isDeadOwner });
          return { ledger: { ...ledger, ...spoil(ledger) } };
        },
      };
    };
    const held = await chaos(
      spender((ledger) => ({ release: async () => {}, settle: (key, actual) => ledger.settle(key, actual) })),
      { maxRuns: 0 },
    );
    expect(held.failures).toEqual([]);
    const deaf = await chaos(
      spender((ledger) => ({ used: async (scope) => ({ ...(await ledger.used(scope)), tokens: 2_000_000 }) })),
      { maxRuns: 0 },
    );
    expect(problemsOf(deaf)).toMatch(/2000000 tokens were used of the budget .*, which allows 1000000/);
  });
});

let forgotten = 0;

/** A log as a runtime would use it that had no ledger of tool calls. */
function withoutReservations(log: EventLog): EventLog {
  return {
    ...log,
    append: (id, seq, records, options) =>
      log.append(
        id,
        seq,
        records.map((record) =>
          record.type === "tool-reserved" ? { ...record, type: "forgotten", key: `${record.key}/${++forgotten}` } : record,
        ),
        options,
      ),
  };
}
