import {
  sessionLog,
  type AgentEvent,
  type EventLog,
  type LogId,
  type LogRecord,
  type NewRecord,
  type RunId,
  type SessionId,
} from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { createMemoryEventLog } from "../../../state/memory/memory-event-log.ts";
import { EventHub } from "./event-hub.ts";

interface Stage {
  readonly hub: EventHub;
  /** Appends an event, then tells the hub. */
  commit(...types: readonly string[]): Promise<void>;
}

function stage(
  log: EventLog,
  name: string,
  { head = 0, base = head, maxBufferBytes }: { readonly head?: number; readonly base?: number; readonly maxBufferBytes?: number } = {},
): Stage {
  const runId = `r_${name}` as RunId;
  const session = name as SessionId;
  const logId = sessionLog(session);
  const hub = new EventHub({
    runId,
    log,
    session,
    restore: async (record) => record,
    ...(maxBufferBytes !== undefined && { maxBufferBytes }),
  });
  let seq = head;
  return {
    hub,
    async commit(...types) {
      const records = types.map((type, index): NewRecord => ({ key: `${runId}/${seq + index + 1}`, type, data: {} }));
      await log.append(logId, seq, records);
      const committed: LogRecord[] = [];
      for await (const record of log.read(logId, { after: seq })) committed.push(record);
      seq += records.length;
      if (base >= 0) hub.committed(committed);
    },
  };
}

async function all(events: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  const got: AgentEvent[] = [];
  for await (const event of events) got.push(event);
  return got;
}
const shown = (events: readonly AgentEvent[]): unknown[] =>
  events.map((event) => [...(event.path ?? []), "seq" in event ? `${event.type}:${event.seq}` : event.type]);

describe("the hub of a run's events", () => {
  it("shows what was committed, without the records that are no events, and what is passing in its place [EV-01, EV-17]", async () => {
    const { hub, commit } = stage(createMemoryEventLog(), "own");
    hub.opened(0, 0);
    const watcher = hub.subscribe();
    await commit("run-start", "step");
    hub.delta("text-delta", "a");
    hub.transient({ type: "text-end" });
    hub.nextAttempt();
    hub.delta("text-delta", "b");
    await commit("message");
    hub.close();
    const events = await all(watcher);
    expect(shown(events)).toEqual([["run-start:1"], ["text-delta"], ["text-end"], ["text-delta"], ["message:3"]]);
    expect(events.slice(1, 4)).toMatchObject([
      { after: 2, attempt: 0, n: 1 },
      { after: 2, attempt: 0, n: 2 },
      { after: 2, attempt: 1, n: 1 },
    ]);
  });

  it("shows deltas that came together each for itself, numbered on, to watchers of the run above too", async () => {
    const log = createMemoryEventLog();
    const own = stage(log, "own");
    const child = stage(log, "child");
    for (const { hub } of [own, child]) hub.opened(0, 0);
    child.hub.deltas("text-delta", ["unseen"]);
    child.hub.forwardTo(own.hub, "c");
    const watchers = [own.hub.subscribe(), child.hub.subscribe()];
    child.hub.delta("text-delta", "a");
    child.hub.deltas("thinking-delta", ["b", "c"]);
    child.hub.deltas("text-delta", ["d"]);
    await child.commit("run-complete");
    child.hub.deltas("text-delta", ["too late"]);
    child.hub.close();
    own.hub.close();
    const deltas = ["text", "thinking", "thinking", "text"].map((kind, index) => ({
      type: `${kind}-delta`,
      text: "abcd"[index],
      runId: "r_child",
      after: 0,
      attempt: 0,
      n: index + 1,
    }));
    const [above, beside] = await Promise.all(watchers.map(all));
    expect(beside?.slice(0, -1)).toEqual(deltas);
    expect(above?.slice(0, -1)).toEqual(deltas.map((delta) => ({ ...delta, path: ["c"] })));
  });

  it("gives a watcher that asks from a seq on the past of this run alone, then the present, whether it came before the log was open or after [EV-17]", async () => {
    const log = createMemoryEventLog();
    const logId = "session/own" as LogId;
    await log.append(logId, 0, [
      { key: "r_earlier/1", type: "run-start", data: {} },
      { key: "r_own/2", type: "run-start", data: {} },
      { key: "r_own/3", type: "message", data: {} },
    ]);
    const { hub, commit } = stage(log, "own", { head: 3 });
    const early = hub.subscribe({ after: 0 });
    const present = hub.subscribe();
    hub.opened(1, 3);
    const late = hub.subscribe({ after: 0 });
    const part = hub.subscribe({ after: 2 });
    await commit("run-resume");
    hub.close();
    const over = hub.subscribe({ after: 3 });
    const whole = [["run-start:2"], ["message:3"], ["run-resume:4"]];
    expect(shown(await all(early))).toEqual(whole);
    expect(shown(await all(late))).toEqual(whole);
    expect(shown(await all(part))).toEqual(whole.slice(1));
    expect(shown(await all(over))).toEqual(whole.slice(2));
    expect(shown(await all(present))).toEqual(whole.slice(2));
    expect(shown(await all(hub.subscribe()))).toEqual([]);
  });

  it("does not show a watcher what it says it has seen, even if that is still to come", async () => {
    const { hub, commit } = stage(createMemoryEventLog(), "own");
    const watcher = hub.subscribe({ after: 2 });
    hub.opened(0, 0);
    await commit("run-start", "message", "turn-start");
    hub.close();
    expect(shown(await all(watcher))).toEqual([["turn-start:3"]]);
  });

  it("shows a slow watcher only what came since it began to watch", async () => {
    const { hub, commit } = stage(createMemoryEventLog(), "own", { maxBufferBytes: 1 });
    hub.opened(0, 0);
    await commit("run-start", "message");
    const watcher = hub.subscribe();
    await commit("turn-start");
    await commit("message");
    hub.close();
    expect(shown(await all(watcher))).toEqual([["turn-start:3"], ["message:4"]]);
  });

  it("shows the events of children and their children with the way that leads to them, and re-reads them from their own logs", async () => {
    for (const maxBufferBytes of [1, 1_000_000]) {
      const log = createMemoryEventLog();
      const own = stage(log, "own", { maxBufferBytes });
      const child = stage(log, "child");
      const grandchild = stage(log, "grandchild");
      for (const { hub } of [own, child, grandchild]) hub.opened(0, 0);
      const watcher = own.hub.subscribe();
      await own.commit("child-start");
      child.hub.forwardTo(own.hub, "c");
      await child.commit("run-start");
      grandchild.hub.forwardTo(child.hub, "g");
      await grandchild.commit("run-start");
      child.hub.delta("text-delta", "hi");
      await grandchild.commit("run-complete");
      grandchild.hub.close();
      await child.commit("run-complete");
      child.hub.transient({ type: "detached" });
      child.hub.close();
      await own.commit("child-end");
      own.hub.close();
      const events = await all(watcher);
      const durable = events.filter((event) => "seq" in event);
      expect(shown(durable.filter((event) => event.path === undefined))).toEqual([["child-start:1"], ["child-end:2"]]);
      expect(shown(durable.filter((event) => event.path?.length === 1))).toEqual([
        ["c", "run-start:1"],
        ["c", "run-complete:2"],
      ]);
      expect(shown(durable.filter((event) => event.path?.length === 2))).toEqual([
        ["c", "g", "run-start:1"],
        ["c", "g", "run-complete:2"],
      ]);
      expect(shown(durable)[0]).toEqual(["child-start:1"]);
      expect(events.some((event) => event.type === "detached")).toBe(false);
      if (maxBufferBytes > 1) expect(shown(events).at(-1)).toEqual(["child-end:2"]);
      else expect(events.find((event) => event.type === "gap")).toMatchObject({ runId: "r_child", path: ["c"], dropped: 1 });
    }
  });

  it("makes nothing for nobody, and sees through children whether somebody watches above", () => {
    const log = createMemoryEventLog();
    const { hub } = stage(log, "own");
    const child = stage(log, "child");
    child.hub.forwardTo(hub, "c");
    expect(child.hub.watched).toBe(false);
    const watcher = hub.subscribe();
    expect(child.hub.watched).toBe(true);
    void watcher.return();
    expect([hub.watched, child.hub.watched]).toEqual([false, false]);
  });
});
