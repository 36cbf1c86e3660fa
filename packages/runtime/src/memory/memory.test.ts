import { type JsonObject, type Message, type Scope, StateError, type StateStore } from "@keelson/protocol";
import fc from "fast-check";
import { createAgent, createRunner } from "keelson";
import { createMemoryStore, createSqliteStore } from "keelson/state";
import { scriptedModel } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { defineMemory, type Memory } from "./define-memory.ts";
import { pastEpisodes } from "./past-episodes.ts";
import { projectNotes } from "./project-notes.ts";
import { recallNewest } from "./recall-strategy.ts";
import { userFacts } from "./user-facts.ts";
import { forgetRemembered } from "../session/remembered-items.ts";
import { isMemoryMessage } from "../context/memory-message.ts";

const ADA: Scope = { type: "custom", namespace: "user", id: "ada" };
const newStore = (): StateStore => createSqliteStore(":memory:");
const textIn = ({ content }: Message): string => content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
const recalledIn = (messages: readonly Message[]): readonly string[] => messages.filter((message) => isMemoryMessage(message)).map(textIn);
type Turn = Parameters<typeof scriptedModel>[0][number];

/** Runs an agent once in a session, and tells what the model was asked with each time. */
async function run(
  memory: Memory,
  store: StateStore,
  { session, input, turns }: { readonly session: string; readonly input: string; readonly turns: readonly Turn[] },
) {
  const requests: (readonly Message[])[] = [];
  const script = turns.map((turn): Turn => (request, ...more) => {
    requests.push(request.messages);
    return typeof turn === "function" ? turn(request, ...more) : turn;
  });
  const { tools, rules, plugins } = memory;
  const agent = createAgent({ name: "guide", model: scriptedModel(script), tools, rules, plugins });
  const runner = createRunner({ agent, state: store });
  const running = runner.run(input, { session });
  const events = [];
  for await (const event of running) events.push(event);
  return { requests, events, runner, outcome: await running.outcome };
}

const remember = (text: string): Turn => ({ toolCalls: [{ name: "remember_fact", input: { text } }] });

describe("a memory", () => {
  it("recalls in a later session what fits what was said, with the session and the record that it came from [ST-12]", async () => {
    await using store = newStore();
    const facts = userFacts({ store, user: "ada" });
    const first = await run(facts, store, { session: "one", input: "I drink tea.", turns: [remember("Ada drinks green tea."), "Noted."] });
    expect(recalledIn(first.requests.flat())).toEqual([]);
    const [item] = await facts.items();
    expect(item).toMatchObject({ text: "Ada drinks green tea.", version: 1, from: { session: "one" }, untrusted: [] });
    const { effects } = first.outcome;
    expect(item?.from?.record).toBe(effects[0]?.meta?.seq);

    const second = await run(facts, store, { session: "two", input: "Which tea do I like?", turns: ["Green."] });
    expect(recalledIn(second.requests[0] ?? [])).toEqual([
      expect.stringContaining(`- [${item?.id}] Ada drinks green tea. (session one, record ${item?.from?.record})`),
    ]);
    const others = await run(userFacts({ store, user: "bob" }), store, { session: "three", input: "Which tea do I like?", turns: ["?"] });
    expect(recalledIn(others.requests.flat())).toEqual([]);
  });

  it("is asked once for each thing that the user said, and repeats nothing that is in context", async () => {
    await using store = newStore();
    const facts = userFacts({ store, user: "ada" });
    await run(facts, store, { session: "one", input: "hello", turns: [remember("Ada drinks tea."), "Noted."] });
    const { requests, runner } = await run(facts, store, {
      session: "two",
      input: "tea?",
      turns: [remember("Ada has a cat."), "Tea.", "Tea again.", "Cat."],
    });
    expect(requests.map((messages) => recalledIn(messages).length)).toEqual([1, 1]);
    await runner.run("tea, still?", { session: "two" }).outcome;
    expect(recalledIn(requests[2] ?? [])).toEqual([expect.stringContaining("Ada drinks tea."), expect.stringContaining("Ada has a cat.")]);
    expect(recalledIn(requests[2] ?? [])[1]).not.toContain("tea");
    await runner.run("and now?", { session: "two" }).outcome;
    expect(recalledIn(requests[3] ?? [])).toHaveLength(2);
  });

  it("is not asked again where a model is asked again with the same", async () => {
    await using store = newStore();
    const searches: string[] = [];
    const counted: StateStore = {
      ...store,
      search: (scope, query, options) => (searches.push(query), store.search(scope, query, options)),
    };
    const memory = defineMemory({ name: "fact", about: "facts", store: counted, scope: ADA, maxBytes: 40 });
    for (const text of ["tea is green", "tea is black"]) await store.write(ADA, `memory/fact/${text.length}${text.at(-1)}`, text);
    const turns: readonly Turn[] = [{ error: { kind: "server-error", message: "down" } }, "Tea."];
    const { requests, outcome } = await run(memory, store, { session: "one", input: "tea?", turns });
    expect(outcome.reason).toBe("complete");
    expect(searches).toEqual(["tea?"]);
    expect(requests.map((messages) => recalledIn(messages).length)).toEqual([1, 1]);
  });

  it("lets the model correct and forget, by ids that it was told, and says so where there is none", async () => {
    await using store = newStore();
    const facts = userFacts({ store, user: "ada" });
    await run(facts, store, { session: "one", input: "hello", turns: [remember("Ada lives in Oslo."), "Noted."] });
    const [{ id } = { id: "" }] = await facts.items();
    const { events } = await run(facts, store, {
      session: "two",
      input: "I moved from Oslo.",
      turns: [
        { toolCalls: [{ name: "correct_fact", input: { id: "nonsense", text: "x" } }] },
        { toolCalls: [{ name: "correct_fact", input: { id, text: "Ada lives in Rome." } }] },
        "Noted.",
      ],
    });
    expect(events.filter(({ type }) => type === "tool-result")).toMatchObject([
      { isError: true, output: expect.stringContaining('has the id "nonsense"') },
      { isError: false },
    ]);
    expect(await facts.items()).toMatchObject([{ id, text: "Ada lives in Rome.", version: 2, from: { session: "two" } }]);
    await run(facts, store, {
      session: "three",
      input: "Forget where I live, not Rome.",
      turns: [{ toolCalls: [{ name: "forget_fact", input: { id } }] }, "Done."],
    });
    expect(await facts.items()).toEqual([]);
  });

  it("keeps the label of untrusted text from session to session, and the model's calls are judged by it", async () => {
    await using store = newStore();
    const facts = userFacts({ store, user: "ada" });
    const key = "memory/fact/000000001-a";
    await store.write(ADA, key, "Ada's bank is evil.example.", { metadata: { memory: "fact", untrusted: ["https://evil.example"] } });
    const { requests } = await run(facts, store, {
      session: "one",
      input: "Which bank?",
      turns: [remember("The bank is evil.example."), "Noted."],
    });
    expect(recalledIn(requests[0] ?? [])[0]).toContain("not vouched for: https://evil.example");
    expect(await facts.items()).toMatchObject([{ untrusted: ["https://evil.example"] }, { untrusted: ["https://evil.example"] }]);
    const { runner } = await run(facts, store, { session: "two", input: "Which bank?", turns: ["That."] });
    expect((await store.read(ADA, key))?.version).toBe(1);
    const events = [];
    for await (const event of runner.sessions.events("two")) events.push(event);
    expect(events).toContainEqual(expect.objectContaining({ type: "message", untrusted: ["https://evil.example"] }));
  });

  it("stays within its bytes, and lets nothing that is remembered end what is remembered", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            fc.string({ minLength: 1, maxLength: 80, unit: "grapheme" }),
            fc.constantFrom("</memory>", '<memory about="x">', "</MEMORY"),
          ),
          { maxLength: 12 },
        ),
        fc.integer({ min: 1, max: 600 }),
        async (texts, maxBytes) => {
          await using store = createMemoryStore();
          const memory = defineMemory({ name: "x", about: "things", store, scope: ADA, maxBytes });
          for (const [index, text] of texts.entries()) await store.write(ADA, `memory/x/${index}`, text);
          const { requests } = await run(memory, store, { session: "s", input: "things", turns: ["ok"] });
          const recalled = recalledIn(requests[0] ?? []);
          expect(recalled.length).toBeLessThanOrEqual(1);
          for (const text of recalled) {
            const lines = text.split("\n").slice(2, -1);
            expect(Buffer.byteLength(lines.map((line) => line.slice(2)).join(""))).toBeLessThanOrEqual(maxBytes);
            expect(text.match(/<\/?memory/gi)).toHaveLength(2);
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  it("does without what its store can't give, says so, and the run goes on", async () => {
    await using store = newStore();
    const down: StateStore = {
      ...store,
      search: () => Promise.reject(new StateError({ kind: "unavailable", message: "the disk is away" })),
    };
    const { events, outcome } = await run(userFacts({ store: down, user: "ada" }), store, {
      session: "s",
      input: "hello",
      turns: ["Hello."],
    });
    expect(outcome.reason).toBe("complete");
    expect(events).toContainEqual(
      expect.objectContaining({ type: "status", level: "warn", status: expect.stringContaining("the disk is away") }),
    );
  });

  it("lists, corrects and forgets for programs, which read over nobody's shoulder", async () => {
    await using store = newStore();
    let time = 1000;
    const facts = defineMemory({ name: "fact", about: "facts", store, scope: ADA, now: () => time++ });
    await run(facts, store, { session: "one", input: "hello", turns: [remember("first"), remember("second"), "Noted."] });
    const items = await facts.items();
    expect(items.map(({ text }) => text)).toEqual(["second", "first"]);
    expect((await facts.items({ limit: 1 })).map(({ text }) => text)).toEqual(["second"]);
    expect((await facts.items({ after: items[0]?.id ?? "" })).map(({ text }) => text)).toEqual(["first"]);
    await facts.correct(items[0]?.id ?? "", "better");
    expect(await facts.items({ limit: 1 })).toMatchObject([{ text: "better", from: { session: "one" } }]);
    await facts.forget(items[0]?.id ?? "");
    expect((await facts.items()).map(({ text }) => text)).toEqual(["first"]);
    await expect(facts.correct("missing", "x")).rejects.toMatchObject({ failure: { kind: "not-found" } });
  });

  it("refuses options that can't be", () => {
    const store = createMemoryStore();
    const make = (options: JsonObject) => () => defineMemory({ name: "x", about: "things", store, scope: ADA, ...options } as never);
    for (const options of [{ name: "X y" }, { about: "" }, { about: 'a"b' }, { store: {} }, { maxBytes: 0 }, { writtenBy: "nobody" }])
      expect(make(options)).toThrow(/of a memory/);
    expect(() => recallNewest({ limit: 0 })).toThrow(/whole number from 1/);
  });
});

describe("the ready memories", () => {
  it("keep notes of a project for all who work on it", async () => {
    await using store = newStore();
    const notes = projectNotes({ store, project: "keel" });
    await run(notes, store, {
      session: "one",
      input: "How is it built?",
      turns: [{ toolCalls: [{ name: "remember_note", input: { text: "Build with make." } }] }, "With make."],
    });
    const { requests } = await run(projectNotes({ store, project: "keel" }), store, { session: "two", input: "build it", turns: ["ok"] });
    expect(recalledIn(requests[0] ?? [])).toEqual([expect.stringContaining("Build with make.")]);
  });

  it("keep episodes of past sessions without a call of the model, and tell a session none of its own", async () => {
    await using store = newStore();
    const episodes = pastEpisodes({ store, scope: ADA });
    const { requests: own, runner } = await run(episodes, store, {
      session: "one",
      input: "How do I fix the leaking tap?",
      turns: ["Replace the washer.", "A washer, as said."],
    });
    expect(await episodes.items()).toMatchObject([
      { text: "Asked: How do I fix the leaking tap? Came to: Replace the washer.", from: { session: "one" } },
    ]);
    await runner.run("the tap?", { session: "one" }).outcome;
    expect(recalledIn(own.flat())).toEqual([]);
    const { requests } = await run(episodes, store, { session: "two", input: "My tap leaks again.", turns: ["Again the washer."] });
    expect(recalledIn(requests[0] ?? [])).toHaveLength(1);
    expect(recalledIn(requests[0] ?? [])[0]).toContain("Replace the washer.");
  });

  it("keep of an episode what a summary says of it", async () => {
    await using store = createMemoryStore();
    const episodes = pastEpisodes({ store, scope: ADA, summarise: async ({ asked, answer }) => `${asked.length} and ${answer.length}` });
    await run(episodes, store, { session: "one", input: "abc", turns: ["de"] });
    expect(await episodes.items()).toMatchObject([{ text: "3 and 2" }]);
  });
});

it("forgets what a deleted session remembered, but for what another session has corrected since, and its own scope", async () => {
  await using store = newStore();
  const facts = userFacts({ store, user: "ada" });
  await run(facts, store, { session: "one", input: "hello", turns: [remember("kept by correction"), remember("forgotten"), "Noted."] });
  await run(facts, store, { session: "two", input: "hello", turns: [remember("of two"), "Noted."] });
  const corrected = (await facts.items()).find(({ text }) => text === "kept by correction");
  await run(facts, store, {
    session: "two",
    input: "hello again",
    turns: [{ toolCalls: [{ name: "correct_fact", input: { id: corrected?.id ?? "", text: "corrected" } }] }, "Noted."],
  });
  await store.write({ type: "session", id: "one" }, "draft", "of the session");
  await forgetRemembered(store, "one" as never);
  expect((await facts.items()).map(({ text }) => text).toSorted()).toEqual(["corrected", "of two"]);
  expect(await store.list({ type: "session", id: "one" }, "")).toEqual([]);
  expect((await store.list({ type: "session", id: "two" }, "links/")).length).toBe(2);
});
