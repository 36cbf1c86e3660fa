import type { JsonObject, SessionId } from "@keelson/protocol";
import { describe, expectTypeOf, it } from "vitest";
import { createAgent, createRunner, defineTool, type Agent } from "../../../index.ts";
import { reactLoop, handoffTool } from "../../index.ts";
import { scriptedModel } from "../../../testing/scripted-model.ts";

interface Db {
  readonly db: { query(text: string): string };
}
interface User {
  readonly user: string;
}
const model = scriptedModel([]);
const common = { description: "", input: {} } as const;
const plain = defineTool({ ...common, name: "plain", execute: () => "" });
const query = defineTool.for<Db>()({
  ...common,
  name: "query",
  effectsOf: (_input, { context }) => (context.db.query("what") === "" ? {} : { reads: ["table"] }),
  needsApproval: (_input, { context }) => context.db.query("risky") === "yes",
  execute(_input, { context, metadata }) {
    expectTypeOf(context).toEqualTypeOf<Db>();
    expectTypeOf(metadata).toEqualTypeOf<JsonObject>();
    return context.db.query("all");
  },
});
const greet = defineTool.for<User>()({ ...common, name: "greet", execute: (_input, { context }) => context.user });
const db: Db["db"] = { query: () => "" };

describe("the context that an agent needs", () => {
  it("follows from its tools, and a runner must make all of it", () => {
    const agent = createAgent({ name: "a", model, tools: [plain, query, greet] });
    createRunner({ agent, context: () => ({ db, user: "ada" }) });
    createRunner({
      agent,
      context: async ({ metadata, session }) => ({ db, user: `${String(metadata["user"])} ${session satisfies SessionId}` }),
    });
    // @ts-expect-error nothing makes it
    createRunner({ agent });
    // @ts-expect-error it lacks the user
    createRunner({ agent, context: () => ({ db }) });
    createRunner({ agent: createAgent({ name: "a", model, tools: [plain] }) });
  });

  it("follows from its children, and from agents that it hands its task to", () => {
    const child = createAgent({ name: "child", model, tools: [query] });
    const parent = createAgent({ name: "parent", model, tools: [greet], agents: { child } });
    createRunner({ agent: parent, context: () => ({ db, user: "ada" }) });
    // @ts-expect-error the child needs the database
    createRunner({ agent: parent, context: () => ({ user: "ada" }) });
    const asTool = createAgent({ name: "parent", model, tools: [child.asTool()] });
    // @ts-expect-error the child needs the database
    createRunner({ agent: asTool });
    const handing = createAgent({ name: "parent", model, tools: [handoffTool(child), handoffTool("other")] });
    // @ts-expect-error the next agent needs the database
    createRunner({ agent: handing });
    // @ts-expect-error one of the agents needs the database
    createRunner({ agents: { child, other: createAgent({ name: "other", model }) } });
    createRunner({ agents: { child, parent }, context: () => ({ db, user: "ada" }) });
  });

  it("is what the agent's own context starts from, if it has one", () => {
    const own = createAgent({ name: "a", model, tools: [query], context: () => ({ db }) });
    createRunner({ agent: own });
    const narrowed = createAgent({
      name: "a",
      model,
      tools: [query],
      context: ({ inherited }: { readonly inherited: { readonly all: Db } }) => inherited.all,
    });
    expectTypeOf(narrowed).toEqualTypeOf<Agent<undefined, { readonly all: Db }>>();
    createRunner({ agent: narrowed, context: () => ({ all: { db } }) });
    // @ts-expect-error the agent's own context starts from another
    createRunner({ agent: narrowed, context: () => ({ db }) });
    // @ts-expect-error the tool needs the database
    createAgent({ name: "a", model, tools: [query], context: () => ({ user: "ada" }) });
  });

  it("keeps the type of the output", async () => {
    const agent = createAgent({ name: "a", model, tools: [query], output: { type: "object" } });
    const { output } = await createRunner({ agent, context: () => ({ db }) }).run("go").outcome;
    expectTypeOf(output).not.toBeAny();
  });

  it("is no part of a loop without a runner, which is given the value", () => {
    // @ts-expect-error the loop is given no such tool
    void (() => reactLoop({ context: null as never, provider: model, tools: [query] }));
    void (() => reactLoop({ context: null as never, provider: model, tools: [query, greet], toolContext: { db, user: "ada" } }));
    // @ts-expect-error the value lacks the user
    void (() => reactLoop({ context: null as never, provider: model, tools: [query, greet], toolContext: { db } }));
    void (() => reactLoop({ context: null as never, provider: model, tools: [plain] }));
  });
});
