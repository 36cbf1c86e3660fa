// Keelson as its users get it: the built packages, `createRunner`, the full loop with events, log, retries and cancellation.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type AgentOptions, createAgent, createModelRegistry, createRunner, defineTool } from "keelson";
import { createHookRegistry, definePlugin } from "keelson/agent";
import { createOpenAiChatProvider } from "keelson/providers/openai-chat";
import { createSqliteBlobStore, createSqliteEventLog } from "keelson/state";
import { z } from "zod";
import { INSTRUCTIONS, readPage, scriptName, type Subject, TASK, TOOL_DESCRIPTION, TOOL_NAME, type Watcher } from "./task.ts";

type Additions = Pick<AgentOptions, "rules" | "permissions" | "hooks" | "plugins">;
type Storage = Pick<Parameters<typeof createRunner>[0], "log" | "blobs">;

function createSubject(baseUrl: string, additions: Additions = {}, storage: Storage = {}): Subject {
  const models = createModelRegistry({ providers: { bench: createOpenAiChatProvider({ apiKey: "none", baseUrl }) } });
  const watchers = new Map<string, Watcher>();
  const tool = defineTool({
    name: TOOL_NAME,
    description: TOOL_DESCRIPTION,
    effect: "read",
    input: z.object({ book: z.string(), page: z.number() }),
    execute({ book, page }, { runId }) {
      watchers.get(runId)?.onToolCall();
      return readPage(book, page);
    },
  });
  const runners = new Map<string, ReturnType<typeof createRunnerFor>>();
  const createRunnerFor = (model: string) =>
    createRunner({
      ...storage,
      models,
      agent: createAgent({
        name: "librarian",
        model: `bench/${model}`,
        instructions: INSTRUCTIONS,
        tools: [tool],
        limits: { maxTurns: 10_000 },
        ...additions,
      }),
    });
  return {
    async run(conversation, watcher) {
      const model = scriptName(conversation);
      let runner = runners.get(model);
      if (runner === undefined) runners.set(model, (runner = createRunnerFor(model)));
      const run = runner.run(TASK);
      watchers.set(run.id, watcher);
      for await (const event of run) if (event.type === "text-delta") watcher.onText(event.text);
      watchers.delete(run.id);
      const { reason, text, error } = await run.outcome;
      if (reason !== "complete") throw new Error(`the run ended ${reason}`, { cause: error });
      return text;
    },
  };
}

export function createKeelson(baseUrl: string): Subject {
  return createSubject(baseUrl);
}

/** A rule of the user's that looks at every tool call, and permissions that look at its arguments. */
function rulesAndPermissions(): Additions {
  let longCalls = 0;
  return {
    rules: [
      {
        name: "count-long-calls",
        trigger: { type: "before", operation: "execute-tool" },
        pure: true,
        run({ input }) {
          if (JSON.stringify(input).length > 1000) longCalls += 1;
          return longCalls > 1000 ? { type: "halt", reason: "too many long calls" } : undefined;
        },
      },
    ],
    permissions: {
      mode: "default",
      rules: [
        { behavior: "deny", pattern: `${TOOL_NAME}(*forbidden*)` },
        { behavior: "allow", pattern: TOOL_NAME },
      ],
    },
  };
}

export function createKeelsonWithRules(baseUrl: string): Subject {
  return createSubject(baseUrl, rulesAndPermissions());
}

/** With these, a hook that is asked before every tool call, and a plugin that counts calls in its recorded state. */
export function createKeelsonWithEverything(baseUrl: string): Subject {
  return createSubject(baseUrl, {
    ...rulesAndPermissions(),
    hooks: createHookRegistry().onPreToolUse(TOOL_NAME, ({ arguments: input }) =>
      JSON.stringify(input).length > 100_000 ? { type: "abort", reason: "too much to ask for" } : undefined,
    ),
    plugins: [
      definePlugin({
        key: "calls",
        initialState: { calls: 0 },
        events: ["tool-result"],
        onEvent(_input, state) {
          state.value.calls++;
        },
      }),
    ],
  });
}

/** With log and blobs in SQLite, at the default durability. */
export function createKeelsonOnSqlite(baseUrl: string): Subject {
  const folder = mkdtempSync(join(tmpdir(), "keelson-bench-"));
  const path = join(folder, "sessions.db");
  const log = createSqliteEventLog(path);
  const blobs = createSqliteBlobStore(path);
  return {
    ...createSubject(baseUrl, {}, { log, blobs }),
    diskBytes() {
      // What the database holds; the size of its files depends on when SQLite last emptied the write-ahead log.
      const connection = new DatabaseSync(path, { readOnly: true });
      const pages = connection.prepare("SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()").get();
      connection.close();
      return Number(pages?.["bytes"]);
    },
    async close() {
      await log[Symbol.asyncDispose]();
      await blobs[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true });
    },
  };
}
