import { agentTool, createAgent, type AgentEvent, type AgentOptions } from "keelson";
import { createHookRegistry, type HookRegistry } from "keelson/agent";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import { describe, expect, it, vi } from "vitest";
import { EventHub } from "../../src/agent/turn/events/event-hub.ts";
import { impatientClock, ofType, recordingTool, runnerOf, sharedServices, types, watch } from "./support.ts";

const look: ScriptedTurn = { thinking: "Hm.", text: "I look.", toolCalls: [{ name: "look", input: { at: "it" } }] };
const warnings = (events: readonly AgentEvent[]): readonly string[] =>
  ofType(events, "status").flatMap(({ status, level }) => (level === "warn" ? [status] : []));

function agentOf(turns: readonly ScriptedTurn[], hooks: HookRegistry, options: Partial<AgentOptions> = {}) {
  return createAgent({ name: "a", model: scriptedModel(turns), tools: [recordingTool("look", { effect: "read" })], hooks, ...options });
}

/** Notes what it is shown. */
function noting(seen: AgentEvent[]): HookRegistry {
  return createHookRegistry().onEvent("*", ({ event }) => void seen.push(event));
}

describe("hooks on events", () => {
  it("see what watchers see, in their order, streamed pieces of responses included [WE-01, WE-02]", async () => {
    const seen: AgentEvent[] = [];
    const { events, outcome } = await watch(runnerOf(agentOf([look, "It is there."], noting(seen))).run("go"));
    expect(outcome.reason).toBe("complete");
    expect(seen).toEqual(events);
    expect(types(seen)).toEqual(
      expect.arrayContaining(["text-delta", "thinking-delta", "tool-call-start", "tool-call-delta", "tool-call-end", "tool-result"]),
    );
    expect(seen.at(-1)?.type).toBe("run-complete");
  });

  it("see all of it where nobody else watches, and before the outcome is told [WE-02]", async () => {
    const seen: AgentEvent[] = [];
    const hooks = createHookRegistry().onEvent("*", async ({ event }) => {
      await Promise.resolve();
      seen.push(event);
    });
    await runnerOf(agentOf([look, "It is there."], hooks)).run("go").outcome;
    expect(
      ofType(seen, "text-delta")
        .map(({ text }) => text)
        .join(""),
    ).toBe("I look.It is there.");
    expect(seen.at(-1)?.type).toBe("run-complete");
  });

  it("see the events of children with what leads to them, and those of the child see its own [WE-02]", async () => {
    const above: AgentEvent[] = [];
    const below: AgentEvent[] = [];
    const child = createAgent({ name: "helper", model: scriptedModel(["Helped."]), hooks: noting(below) });
    const turns: ScriptedTurn[] = [{ toolCalls: [{ name: "helper", input: { task: "help" } }] }, "Done."];
    const agent = agentOf(turns, noting(above), { tools: [agentTool(child)] });
    const { events } = await watch(runnerOf(agent).run("go"));
    expect(above).toEqual(events);
    const ofChild = above.filter(({ path }) => path !== undefined);
    expect(
      ofType(ofChild, "text-delta")
        .map(({ text }) => text)
        .join(""),
    ).toBe("Helped.");
    expect(below.map((event) => ({ ...event, path: ["helper"] }))).toEqual(ofChild);
  });

  it("are held to their matcher, which is about the type of the event", async () => {
    const seen: string[] = [];
    const hooks = createHookRegistry()
      .onEvent("*-delta", ({ event }) => void seen.push(event.type))
      .onEvent(/^run-/, ({ event }) => void seen.push(event.type));
    await runnerOf(agentOf(["Done."], hooks)).run("go").outcome;
    expect(new Set(seen)).toEqual(new Set(["run-start", "text-delta", "run-result", "run-complete"]));
  });

  it("can't change or end anything: what they are shown is a frozen copy, and an abort is a warning [HK-12]", async () => {
    const hooks = createHookRegistry()
      .onEvent("message", ({ event }) => {
        expect(Object.isFrozen(event) && event.type === "message" && Object.isFrozen(event.message.content)).toBe(true);
      })
      .onEvent("turn-start", () => ({ type: "abort", reason: "enough" }), { name: "stopper" });
    const { events, outcome } = await watch(runnerOf(agentOf(["Done."], hooks)).run("go"));
    expect([outcome.reason, outcome.text]).toEqual(["complete", "Done."]);
    expect(warnings(events)).toEqual(['hook "stopper" at event can\'t abort what is over: enough']);
  });

  it("never break a run by failing, and their failures are told, the first three of each [HK-01, WE-02]", async () => {
    const seen: AgentEvent[] = [];
    const hooks = createHookRegistry()
      .onEvent(
        "*",
        () => {
          throw new Error("no disk");
        },
        { name: "writer" },
      )
      .onEvent("*", ({ event }) => void seen.push(event));
    const { events, outcome } = await watch(runnerOf(agentOf([look, "Done."], hooks)).run("go"));
    expect(outcome.reason).toBe("complete");
    const told = warnings(events);
    expect(told).toEqual([
      'hook "writer" at event failed: no disk',
      'hook "writer" at event failed: no disk',
      expect.stringMatching(/^hook "writer" at event failed: no disk \(.*no more of its failures are told\)$/),
    ]);
    // Watchers are told; for such hooks it is no event, or they would go round in circles.
    expect(seen).toEqual(events.filter((event) => !(event.type === "status" && told.includes(event.status))));
  });

  it("do not go round in circles where they warn, or where a notification hook fails on what they say", async () => {
    const notified: string[] = [];
    const hooks = createHookRegistry()
      .onEvent("*", ({ event }, { warn }) => void warn(`saw ${event.type}`))
      .onNotification("*", ({ message }) => void notified.push(message));
    const { events } = await watch(runnerOf(agentOf(["Done."], hooks)).run("go"));
    expect(warnings(events).length).toBeGreaterThan(3);
    expect(warnings(events).filter((status) => status.includes("saw status"))).toEqual([]);
    expect(notified).toEqual([]);
  });

  it("that fail on the last event are told to the process, since no watcher is there any more", async () => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const hooks = createHookRegistry().onEvent("run-complete", () => Promise.reject(new Error("no disk")), { name: "writer" });
    const { outcome } = await watch(runnerOf(agentOf(["Done."], hooks)).run("go"));
    expect(outcome.reason).toBe("complete");
    expect(warned.mock.calls).toEqual([['hook "writer" at event failed: no disk', "KeelsonWarning"]]);
    warned.mockRestore();
  });

  it("that hang are skipped after their time, hold up no turn, and are left behind when the run is over [HK-01]", async () => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const shown: string[] = [];
    const clock = impatientClock();
    const hooks = createHookRegistry().onEvent(
      "*",
      ({ event }) => {
        shown.push(event.type);
        return new Promise(() => {});
      },
      { name: "hung", timeoutMs: 20 },
    );
    const outcome = await runnerOf(agentOf([look, look, "Done."], hooks), { clock }).run("go").outcome;
    expect(outcome.reason).toBe("complete");
    expect(shown[0]).toBe("run-start");
    // From the end on they get their time once.
    const last = warned.mock.calls.at(-1)?.[0];
    if (shown.at(-1) !== "run-complete") expect(last).toMatch(/event hooks of run .* were left behind, before its/);
    warned.mockRestore();
  });

  it("are shown what happens from where a run that waited goes on", async () => {
    const seen: AgentEvent[] = [];
    const services = sharedServices();
    const model = scriptedModel([{ toolCalls: [{ name: "write" }] }, "Written."]);
    const agent = createAgent({
      name: "a",
      model,
      tools: [recordingTool("write")],
      permissions: { rules: [{ pattern: "write", behavior: "ask" }] },
      hooks: noting(seen),
    });
    const first = await runnerOf(agent, services).run("go", { session: "s" }).outcome;
    expect(first.reason).toBe("awaiting-approval");
    expect(seen.at(-1)?.type).toBe("run-suspend");
    const runner = runnerOf(agent, services);
    const [question] = await runner.approvals.list();
    await runner.approve(question!.token, { type: "allow" });
    const last = await (await runner.resume("s")).outcome;
    expect([last.reason, last.text]).toEqual(["complete", "Written."]);
    const durable = seen.flatMap((event) => ("seq" in event ? [event.seq] : []));
    expect(durable).toEqual([...new Set(durable)].toSorted((a, b) => a - b));
    expect(types(seen)).toContain("run-resume");
  });

  it("cost nothing where there are none: nobody watches, so that nothing is made for watchers", async () => {
    const subscribe = vi.spyOn(EventHub.prototype, "subscribe");
    await runnerOf(
      agentOf(
        [look, "Done."],
        createHookRegistry().onSessionEnd(() => {}),
      ),
    ).run("go").outcome;
    expect(subscribe).not.toHaveBeenCalled();
    await runnerOf(agentOf([look, "Done."], noting([]))).run("go").outcome;
    expect(subscribe).toHaveBeenCalledOnce();
    subscribe.mockRestore();
  });
});
